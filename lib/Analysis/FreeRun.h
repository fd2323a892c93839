//===- FreeRun.h - Lets a schedule run under free arrival -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table says when each result (the activations of a stage, the gradient of
// its input, for a micro-batch) is there for the step that takes it. A rank
// goes through its list until it comes to a step whose data has not been made,
// and remembers what it waits for; whoever makes that puts the rank back to
// work. So each step is looked at once, and at most once more for each rank
// that it blocked. Since a start is the latest of two ends, the order in which
// the ranks take their turns does not matter.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_ANALYSIS_FREERUN_H
#define PIPEC_ANALYSIS_FREERUN_H

#include "Analysis/Blocked.h"
#include "Analysis/DataFlow.h"
#include "Analysis/Resources.h"
#include "Analysis/StepNumbers.h"
#include "IR/StepPrefetch.h"

#include <limits>
#include <optional>
#include <vector>

namespace pipec {

/// One run under free arrival. Collectives and edges are looked at only with
/// `resources`: most runs have costs for neither.
template <bool resources> class FreeRun {
public:
  FreeRun(const Schedule &schedule, const TickCosts &costs,
          const StepNumbers &numbers, std::vector<int64_t> &starts,
          std::vector<uint32_t> *turns)
      : schedule(schedule), costs(costs), numbers(numbers), starts(starts),
        turns(turns), flow(schedule), arrived(flow.size(), never),
        ranks(schedule.numRanks) {
    if constexpr (resources) {
      collectives.emplace(schedule, costs);
      edges.emplace(costs);
    }
  }

  /// True when every rank came to its end.
  bool run() {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      runnable.push_back(schedule.numRanks - 1 - rank);
    while (!runnable.empty()) {
      unsigned rank = runnable.back();
      runnable.pop_back();
      advance(rank);
    }
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (ranks[rank].at != schedule.ranks[rank].size())
        return false;
    return true;
  }

  /// Reports where every rank stands after a run that did not end.
  void reportHeads(DiagEngine &diags) const {
    std::vector<size_t> heads;
    for (const RankState &rank : ranks)
      heads.push_back(rank.groupBegin);
    (void)reportBlocked(
        schedule, heads,
        [&](Step step) { return arrived[flow.taken(step)] == never; }, diags);
  }

private:
  static constexpr int64_t never = -1;
  static constexpr size_t nothing = std::numeric_limits<size_t>::max();

  struct RankState {
    /// The member that is waited for, or the group that comes next.
    size_t at = 0;
    size_t groupBegin = 0;
    int64_t time = 0;
    /// The result that it waits for.
    size_t waitsFor = nothing;
  };

  void advance(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    RankState &self = ranks[rank];
    while (self.at != list.size()) {
      Step step = list[self.at];
      if (isCompute(step.kind())) {
        if constexpr (resources)
          self.time =
              std::max(self.time, collectives->gatheredAt(rank, step.stage()));
        if (const DataFlow::Rule rule = flow.of(step); rule.takes) {
          size_t data = flow.taken(step, rule);
          if (arrived[data] == never) {
            self.waitsFor = data;
            prefetchSteps(&list[self.at]);
            return;
          }
          self.time = std::max(self.time, arrived[data]);
        }
      }
      ++self.at;
      if (step.joined())
        continue;
      finishGroup(rank, list, self);
    }
  }

  void finishGroup(unsigned rank, const StepList &list, RankState &self) {
    uint32_t base = numbers.begin(rank);
    for (size_t i = self.groupBegin; i != self.at; ++i)
      starts[base + i] = self.time;
    if constexpr (resources)
      if (Step step = list[self.groupBegin]; isFsdp(step.kind()))
        starts[base + self.groupBegin] =
            collectives->issue(rank, step, self.time);
    self.time += costs.duration(list, self.groupBegin, self.at);
    for (size_t i = self.groupBegin; i != self.at; ++i) {
      Step step = list[i];
      if (!isCompute(step.kind()))
        continue;
      if (turns)
        (*turns)[base + i] = turn++;
      give(rank, step, self.time);
    }
    self.groupBegin = self.at;
  }

  /// Puts a result into the table and wakes the rank that waits for it.
  void give(unsigned rank, Step step, int64_t end) {
    const DataFlow::Rule rule = flow.of(step);
    if (!rule.gives)
      return;
    if constexpr (resources)
      if (rule.sends)
        end = edges->take(rank, rule.taker, end);
    size_t data = flow.given(step, rule);
    arrived[data] = end + costs.hop(rank, rule.taker);
    RankState &taker = ranks[rule.taker];
    if (taker.waitsFor != data)
      return;
    taker.waitsFor = nothing;
    runnable.push_back(rule.taker);
  }

  const Schedule &schedule;
  const TickCosts &costs;
  const StepNumbers &numbers;
  std::vector<int64_t> &starts;
  std::vector<uint32_t> *turns;
  /// Compute steps so far.
  uint32_t turn = 0;
  DataFlow flow;
  /// When each datum is there.
  std::vector<int64_t> arrived;
  std::vector<RankState> ranks;
  std::vector<unsigned> runnable;
  std::optional<Collectives> collectives;
  std::optional<EdgeQueues> edges;
};

} // namespace pipec

#endif // PIPEC_ANALYSIS_FREERUN_H
