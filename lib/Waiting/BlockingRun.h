//===- BlockingRun.h - Running with blocking transfers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"

namespace pipec {

/// Returns true if the schedule is known to finish with blocking sends and
/// receives, at which a rank waits for the other end. Then it finishes under
/// every communication model (`WaitModel`), every transfer has two ends that
/// name the same tensor, all groups of tied stages meet, and every compute step
/// follows the receives of its inputs.
///
/// Returns false if it does not finish or was not checked: schedules with
/// batches, and explanations, are left to `Waiting`. Linear: two bits per
/// (stage, micro-batch), and each list is read once.
bool endsWithBlockingTransfers(const Schedule &schedule);

} // namespace pipec
