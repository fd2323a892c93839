//===- TieBuilder.h - Groups of tied stages from their members --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// Collects the groups of stages that share parameters and reports those that
/// no schedule can have.
class TieBuilder {
public:
  TieBuilder(unsigned numStages, DiagEngine &diags)
      : numStages(numStages), diags(diags) {}

  /// Adds a group. Reports a stage that is out of range or given twice, a group
  /// of one stage or of the stages of an earlier group, and a group that
  /// exceeds the number of stages.
  llvm::LogicalResult add(llvm::ArrayRef<int64_t> stages, llvm::SMRange where);

  /// The groups in the order in which they were added, each in ascending order.
  std::vector<std::vector<unsigned>> take() { return std::move(groups); }

private:
  unsigned numStages;
  DiagEngine &diags;
  std::vector<std::vector<unsigned>> groups;
  std::vector<llvm::SMRange> ranges;
};

/// The groups of tied stages that the lists name by themselves, whatever
/// `schedule.ties` has: all stages of the ranks with a REDUCE_TIED of the group
/// whose weight gradients come before it, ascending. Empty without REDUCE_TIED;
/// not for bidirectional schedules.
std::vector<std::vector<unsigned>> tiesOfLists(const Schedule &schedule);

} // namespace pipec
