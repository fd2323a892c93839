//===- InterleavedSlots.h - Lists with bubbles ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"

namespace pipec {

/// Refuses to add `bubbles` steps if that makes the lists too long. If the
/// ranks wait for each other most of the time, there are far more bubbles than
/// steps.
llvm::LogicalResult checkAlignedSize(const Schedule &schedule, uint64_t bubbles,
                                     DiagEngine &diags);

/// Returns `list` with gaps[i] bubbles before its i-th step and, if `gaps` has
/// one more element than there are steps, its last element after the list.
/// Bubbles in `list` are kept if `keep` is true.
StepList withBubbles(const StepList &list, llvm::ArrayRef<uint32_t> gaps,
                     bool keep);

/// Inserts the bubbles of HyperParallel's ScheduleInterleaved1F1B. Reports a
/// placement that is not a loop, and a list in another order of forwards and
/// backwards; the schedule is then unchanged.
llvm::LogicalResult takeInterleavedSlots(Schedule &schedule, DiagEngine &diags);

} // namespace pipec
