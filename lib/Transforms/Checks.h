//===- Checks.h - Shared parts of passes ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reports the first step on one of `streams`, for which `pass` does not work,
/// if there is one: a transfer, an FSDP step or a REDUCE_TIED.
llvm::LogicalResult checkNone(const Schedule &schedule,
                              llvm::ArrayRef<Stream> streams,
                              llvm::StringRef pass, DiagEngine &diags);

/// Reports the first step of one of `kinds`, a mask as in Support/StepKind.h,
/// which `pass` adds itself.
llvm::LogicalResult checkNoKinds(const Schedule &schedule, uint32_t kinds,
                                 llvm::StringRef pass, DiagEngine &diags);

/// Reports a schedule without backwards, which keeps nothing.
llvm::LogicalResult checkKept(const Schedule &schedule, llvm::StringRef pass,
                              DiagEngine &diags);

/// Reports a stage that the schedule does not have, and sorts the others.
llvm::LogicalResult checkStages(const Schedule &schedule,
                                std::optional<std::vector<unsigned>> &stages,
                                DiagEngine &diags);

/// A step to insert before the one at `before`.
struct AddedStep {
  size_t before;
  Step step;
};

/// Inserts steps, which are in the order of their places, into the list of a
/// rank. They have no start times. Linear.
void insertSteps(Schedule &schedule, unsigned rank,
                 llvm::ArrayRef<AddedStep> added);

/// Removes the steps of some kinds, a mask as in Support/StepKind.h, with their
/// start times. Steps of these kinds must not be members of a group. Linear, in
/// place.
void removeSteps(Schedule &schedule, uint32_t kinds);

/// Reports a schedule with fewer steps than required forwards. After this
/// check, a table with an entry per (stage, micro-batch) is not larger than the
/// lists.
llvm::LogicalResult checkEnoughSteps(const Schedule &schedule,
                                     llvm::StringRef pass, DiagEngine &diags);

} // namespace pipec
