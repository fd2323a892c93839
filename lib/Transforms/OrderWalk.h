//===- OrderWalk.h - Going through lists as their data allows ----*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TRANSFORMS_ORDERWALK_H
#define PIPEC_TRANSFORMS_ORDERWALK_H

#include "Analysis/Blocked.h"
#include "Analysis/DataFlow.h"
#include "Transforms/Checks.h"

namespace pipec {

/// Goes through all lists, each in its order and each group of joined steps
/// after the groups on other ranks whose results it takes. P2P steps play no
/// part. A rank is left when its next group lacks a result and taken up again
/// by who makes it, so every step is looked at once for itself and once for
/// each result that it takes.
class OrderWalk {
public:
  explicit OrderWalk(const Schedule &schedule)
      : schedule(schedule), dataFlow(schedule), there(dataFlow.size()),
        states(schedule.numRanks) {}

  /// What steps take and give.
  const DataFlow &flow() const { return dataFlow; }

  /// Calls `visit(rank, begin, end)` for every group. When the order cannot run
  /// the visits end early; see `finish`.
  template <typename Visit> void run(Visit visit) {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (isReady(rank))
        ready.push_back(rank);
    while (!ready.empty()) {
      unsigned rank = ready.back();
      ready.pop_back();
      do
        visitGroup(rank, visit);
      while (isReady(rank));
    }
  }

  /// Reports where the ranks stand that did not come to their end; success when
  /// all did.
  llvm::LogicalResult finish(DiagEngine &diags) const {
    std::vector<size_t> heads;
    bool done = true;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      heads.push_back(states[rank].head);
      done &= states[rank].head == schedule.ranks[rank].size();
    }
    if (done)
      return llvm::success();
    return reportBlocked(
        schedule, heads,
        [&](Step step) { return !there[dataFlow.taken(step)]; }, diags);
  }

private:
  static constexpr size_t nothing = ~size_t(0);

  struct RankState {
    /// The first step of the next group.
    size_t head = 0;
    /// What that group waits for.
    size_t missing = nothing;
  };

  template <typename Visit> void visitGroup(unsigned rank, Visit &visit) {
    RankState &state = states[rank];
    const StepList &list = schedule.ranks[rank];
    size_t begin = state.head;
    size_t end = Schedule::groupEnd(list, begin);
    visit(rank, begin, end);
    state.head = end;
    // Takers are woken when all data of the group is there.
    if (end - begin != 1)
      for (size_t i = begin; i != end; ++i)
        if (const DataFlow::Rule rule = dataFlow.of(list[i]); rule.gives)
          there[dataFlow.given(list[i], rule)] = true;
    for (size_t i = begin; i != end; ++i)
      give(list[i]);
  }

  void give(Step step) {
    const DataFlow::Rule rule = dataFlow.of(step);
    if (!rule.gives)
      return;
    size_t data = dataFlow.given(step, rule);
    there[data] = true;
    if (rule.sends && states[rule.taker].missing == data && isReady(rule.taker))
      ready.push_back(rule.taker);
  }

  bool isReady(unsigned rank) {
    RankState &state = states[rank];
    const StepList &list = schedule.ranks[rank];
    state.missing = nothing;
    if (state.head == list.size())
      return false;
    for (size_t i = state.head;; ++i) {
      const DataFlow::Rule rule = dataFlow.of(list[i]);
      if (rule.takes && !there[dataFlow.taken(list[i], rule)]) {
        state.missing = dataFlow.taken(list[i], rule);
        return false;
      }
      if (!list[i].joined())
        return true;
    }
  }

  const Schedule &schedule;
  DataFlow dataFlow;
  /// Whether each datum has been made.
  std::vector<bool> there;
  std::vector<RankState> states;
  /// Ranks whose next group can be visited.
  std::vector<unsigned> ready;
};

} // namespace pipec

#endif // PIPEC_TRANSFORMS_ORDERWALK_H
