//===- VerifierPlaced.h - The two parts of level placed ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to IR/VerifierPlaced*.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_VERIFY_VERIFIERPLACED_H
#define PIPEC_VERIFY_VERIFIERPLACED_H

#include "Verify/VerifierDetail.h"

namespace pipec {

/// True when every transfer has its two ends where they belong, in one order on
/// each edge. False says only that it has to be looked at.
bool areTransfersPlaced(const Schedule &schedule, const Cells &cells,
                        const DataFlow &flow, const EdgeNumbers &edges);

} // namespace pipec

#endif // PIPEC_VERIFY_VERIFIERPLACED_H
