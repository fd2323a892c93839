//===- SendBudget.h - Waits for sends that a number says --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where every wait for a send follows one rule, an executor states the rule and
// has no line for each wait: before a send, a rank waits for its oldest sends
// until fewer than K of them are outstanding, and at its end for the others.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"

#include <optional>

namespace pipec {

/// The K of that rule; nothing if there are no waits for sends, or they break
/// it. Linear in the steps.
std::optional<unsigned> sendBudget(const Schedule &schedule);

/// The list without its waits for sends.
StepList withoutSendWaits(const StepList &list);

} // namespace pipec
