//===- Megatron.h - The schedules of Megatron-LM ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Megatron-LM generates its schedules from a few settings. With one stage per
// rank that is 1F1B; with more it is interleaved 1F1B, in groups of
// micro-batches, and with one more forward in the warm-up if it overlaps
// forwards with backwards. This is the only definition of its orders.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"

#include <variant>

namespace pipec {

/// Settings of Megatron-LM that choose a schedule.
struct MegatronSettings {
  unsigned ranks = 1;
  unsigned microbatches = 1;
  /// Stages per rank.
  unsigned chunks = 1;
  /// The micro-batches that run through a chunk before the next one runs.
  /// Meaningless with one chunk.
  unsigned group = 1;
  /// Forwards overlap with backwards.
  bool overlaps = false;

  /// False if Megatron-LM refuses the group.
  bool isAccepted() const;
  /// `1F1B`, `groups of 4 micro-batches`, `overlapped groups of ...`.
  std::string text() const;
  /// The words of the command line. `layout` are the layers of the stages, or
  /// empty; if all are decoder layers, the embedding and the loss are added to
  /// the ends.
  std::vector<std::string> flags(llvm::ArrayRef<std::string> layout) const;
  /// The same for a shell.
  std::string commandLine(llvm::ArrayRef<std::string> layout) const;
};

/// Why no settings give a schedule: the first difference.
struct MegatronMismatch {
  enum Reason {
    /// `stage` is on another rank than in a loop, or the ranks have
    /// different numbers of stages.
    Placement,
    /// `place` is half of a backward.
    Half,
    /// `place` is another step with all settings, with `nearest` it is
    /// `expected`. Settings are nearest if their lists differ last.
    Order,
    /// `nearest` gives the schedule, but is refused. `place` is the first step
    /// after the first group.
    Group,
  } reason;
  unsigned stage = 0;
  /// An index at the end of the list if there are too few steps.
  StepRef place = {};
  std::optional<Step> expected = {};
  MegatronSettings nearest = {};
};

/// The settings that give the compute steps of a schedule with one direction,
/// or why there are none. Other steps are ignored. Linear in the steps.
std::variant<MegatronSettings, MegatronMismatch>
recogniseMegatron(const Schedule &schedule);

} // namespace pipec
