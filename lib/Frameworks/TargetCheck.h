//===- TargetCheck.h - Checking schedules against targets -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Frameworks/TargetRules.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reports what `target` refuses in the schedule as a whole, then in each list.
/// Linear in the steps.
llvm::LogicalResult checkTarget(const Schedule &schedule, Target target,
                                DiagEngine &diags);

/// The same for an output. The lists are not checked if the schedule as a whole
/// is refused.
llvm::LogicalResult checkOutput(const Schedule &schedule, Output output,
                                DiagEngine &diags);

/// Checks the rules of `consumer` about the schedule as a whole
/// (ScheduleRules.cpp). Returns false if it reports an error.
bool checkScheduleRules(const Schedule &schedule, const Consumer &consumer,
                        DiagEngine &diags);

} // namespace pipec
