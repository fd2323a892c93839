//===- TiedSums.h - The tied gradients that updates wait for ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In one run, an UPDATE waits on its rank until the REDUCE_TIED of the groups
// with its stage have ended. The REDUCE_TIED of a group start together, when
// every rank of the group has posted its own and has ended the earlier ones of
// its list. Without an UPDATE, nothing waits for them (IR/TiedMeetings.h).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pipec {

/// The sums of one run, as its ranks post them; linear in all steps. Runs
/// without times give zeros.
class TiedSums {
public:
  /// True if a step of `schedule` may wait for a sum.
  static bool isNeeded(const Schedule &schedule) {
    return !schedule.ties.empty() &&
           schedule.has(step_facts::bit(StepKind::Update)) &&
           schedule.has(step_facts::kindsOn(Stream::Tied));
  }

  explicit TiedSums(const Schedule &schedule);

  /// `rank` posts the step of `group`, which could start at `time` and takes
  /// `duration`.
  void post(unsigned rank, unsigned group, int64_t time, int64_t duration);

  /// When all sums of an UPDATE of `stage` on `rank` have ended. Empty if that
  /// is not known yet; then the rank stops, and `takeReleased` returns it when
  /// it is.
  std::optional<int64_t> end(unsigned rank, unsigned stage);

  /// The ranks that had to stop and may be able to continue.
  std::vector<unsigned> takeReleased() { return std::exchange(released, {}); }

  /// The group that keeps an UPDATE of `stage` on `rank` from its start; empty
  /// if none does.
  std::optional<unsigned> missing(unsigned rank, unsigned stage) const;
  /// True if `rank` has posted the step of `group`.
  bool isPosted(unsigned rank, unsigned group) const;

private:
  struct Posted {
    unsigned group;
    int64_t time;
    int64_t duration;
  };
  struct Rank {
    std::vector<Posted> posted;
    /// The number of those that have started, and when the last one ends.
    size_t started = 0;
    int64_t free = 0;
    bool stopped = false;
  };
  struct Group {
    std::vector<unsigned> ranks;
    /// The number of ranks that have it as their next one.
    size_t ready = 0;
    std::optional<int64_t> end;
  };

  /// The next step of a rank has changed.
  void noteNext(unsigned rank);
  void start(unsigned group);

  std::vector<Rank> ranks;
  std::vector<Group> groups;
  /// By stage, its groups that have steps.
  std::vector<std::vector<unsigned>> ofStage;
  std::vector<unsigned> released;
};

} // namespace pipec
