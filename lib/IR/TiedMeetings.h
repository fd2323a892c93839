//===- TiedMeetings.h - The sums of tied gradients --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The REDUCE_TIED of one group on all ranks that hold a stage of it are one
// collective. A rank posts its step and continues. The ranks meet when all have
// posted the step of the group and have met for all groups that they posted
// before. Nothing waits for a meeting except later meetings, so which groups
// meet depends only on the orders of the REDUCE_TIED in the lists: all of them
// do if no group lacks a rank and these orders agree.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/PresentRanks.h"
#include "IR/Schedule.h"

#include "llvm/ADT/SmallVector.h"

namespace pipec {

/// The REDUCE_TIED steps of a schedule and the order in which their groups
/// meet. A step on a rank without a stage of its group, and the second one of a
/// group on its rank, are ignored. Linear in the steps.
class TiedMeetings {
public:
  /// Of a schedule with the lists of some ranks only, the others are taken to
  /// have posted their steps.
  explicit TiedMeetings(const Schedule &schedule,
                        const PresentRanks &present = {});

  /// The steps of a group in ascending order of their ranks.
  llvm::ArrayRef<StepRef> steps(unsigned group) const { return byGroup[group]; }
  /// The steps of a rank in the order of its list.
  llvm::ArrayRef<StepRef> stepsOf(unsigned rank) const { return byRank[rank]; }
  /// The groups that meet, in an order in which they can.
  llvm::ArrayRef<unsigned> order() const { return met; }
  /// True if every group that has a step meets.
  bool allMeet() const { return met.size() == numGroups; }
  /// The first step of a rank whose group does not meet; invalid if there is
  /// none.
  StepRef head(unsigned rank) const;

private:
  std::vector<llvm::SmallVector<StepRef, 2>> byGroup;
  std::vector<llvm::SmallVector<StepRef, 2>> byRank;
  std::vector<unsigned> met;
  /// The number of steps of each rank whose groups meet.
  std::vector<uint32_t> heads;
  /// The number of groups with a step.
  size_t numGroups = 0;
};

} // namespace pipec
