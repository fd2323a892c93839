//===- InterleavedSlots.h - Lists with bubbles ------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TRANSFORMS_INTERLEAVEDSLOTS_H
#define PIPEC_TRANSFORMS_INTERLEAVEDSLOTS_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"

namespace pipec {

/// Refuses lists that `bubbles` more steps make longer than any real ones.
/// Where the ranks wait for one another most of the time, the bubbles outnumber
/// the steps by far.
llvm::LogicalResult checkAlignedSize(const Schedule &schedule, uint64_t bubbles,
                                     DiagEngine &diags);

/// `list` with gaps[i] bubbles before its i-th step, and after the list the
/// last of `gaps` where there is one more than there are steps. The bubbles of
/// `list` itself stay when `keep` says so.
StepList withBubbles(const StepList &list, llvm::ArrayRef<uint32_t> gaps,
                     bool keep);

/// Gives the lists the bubbles of HyperParallel's ScheduleInterleaved1F1B.
/// Reports a placement that is not a loop, and a list in another order of
/// forwards and backwards; the schedule is unchanged then.
llvm::LogicalResult takeInterleavedSlots(Schedule &schedule, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_TRANSFORMS_INTERLEAVEDSLOTS_H
