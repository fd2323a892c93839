//===- ScheduleRules.h - Rules about a whole schedule ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FRAMEWORKS_SCHEDULERULES_H
#define PIPEC_FRAMEWORKS_SCHEDULERULES_H

#include "Frameworks/TargetRules.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Checks the PIPEC_SCHEDULE_RULE and PIPEC_PLACEMENT_RULE rows of Rules.def
/// that the consumer has. Reports what it refuses and returns false if there is
/// anything.
bool checkScheduleRules(const Schedule &schedule, const Consumer &consumer,
                        DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_FRAMEWORKS_SCHEDULERULES_H
