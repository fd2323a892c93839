//===- VerifierPlaced.h - The two parts of level placed ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to lib/Verify.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Verify/VerifierDetail.h"

namespace pipec {

/// True if both ends of every transfer are in the right places, in the same
/// order at both ends of each edge. If it returns false, the slower check must
/// find the errors, if there are any.
bool areTransfersPlaced(const Schedule &schedule, const Cells &cells,
                        const DataFlow &flow, const EdgeNumbers &edges);

} // namespace pipec
