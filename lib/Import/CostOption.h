//===- CostOption.h - Costs from the command line ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_COSTOPTION_H
#define PIPEC_IMPORT_COSTOPTION_H

#include "Cost/Settings.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reads `F=1,B=2,F&B=2.5,p2p=0.1`, the value of `--cost`: the words and
/// overlaps of a cost block.
llvm::FailureOr<CostSettings> readCostOption(llvm::StringRef text,
                                             DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_IMPORT_COSTOPTION_H
