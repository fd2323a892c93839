//===- Checks.h - What several passes ask and do ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TRANSFORMS_CHECKS_H
#define PIPEC_TRANSFORMS_CHECKS_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reports the first P2P step of the schedule, if there is one, as what stands
/// in the way of `pass`.
llvm::LogicalResult checkNoP2P(const Schedule &schedule, llvm::StringRef pass,
                               DiagEngine &diags);

/// The same for FSDP steps.
llvm::LogicalResult checkNoFsdp(const Schedule &schedule, llvm::StringRef pass,
                                DiagEngine &diags);

/// The same for waits for sends.
llvm::LogicalResult checkNoSendWaits(const Schedule &schedule,
                                     llvm::StringRef pass, DiagEngine &diags);

/// Removes the steps of the kinds for which `is` holds, with their start times;
/// no such kind may be a member of a group. Linear, in place.
void removeSteps(Schedule &schedule, bool (*is)(StepKind));

/// Reports a schedule that has fewer steps than forwards are due. A table with
/// an entry for each (stage, micro-batch) is then no larger than the lists.
llvm::LogicalResult checkEnoughSteps(const Schedule &schedule,
                                     llvm::StringRef pass, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_TRANSFORMS_CHECKS_H
