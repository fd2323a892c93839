//===- OrderWalk.h - Going through lists as their data allows ----*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TRANSFORMS_ORDERWALK_H
#define PIPEC_TRANSFORMS_ORDERWALK_H

#include "Transforms/Checks.h"
#include "Transforms/P2POrders.h"

namespace pipec {

/// Goes through all lists, each in its order and each group of joined steps
/// after the groups on other ranks whose results it takes. P2P steps play no
/// part. A rank is left when its next group lacks a result and taken up again
/// by who makes it, so every step is looked at once for itself and once for
/// each result that it takes.
class OrderWalk {
public:
  explicit OrderWalk(const Schedule &schedule)
      : schedule(schedule), map(schedule), results(schedule),
        states(schedule.numRanks) {}

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
    return reportBlocked(schedule, heads, results, diags);
  }

private:
  struct RankState {
    /// The first step of the next group.
    size_t head = 0;
    /// What that group waits for.
    Result missing = {};
    bool waits = false;
  };

  template <typename Visit> void visitGroup(unsigned rank, Visit &visit) {
    RankState &state = states[rank];
    const StepList &list = schedule.ranks[rank];
    size_t begin = state.head;
    size_t end = Schedule::groupEnd(list, begin);
    visit(rank, begin, end);
    state.head = end;
    for (size_t i = begin; i != end; ++i)
      results.insert(list[i]);
    // Wake the takers when all results of the group are there.
    for (size_t i = begin; i != end; ++i) {
      uint32_t to = map.receiverOf(list[i]);
      if (to != TransferMap::none)
        wake(to, list[i]);
    }
  }

  void wake(unsigned rank, Step made) {
    RankState &state = states[rank];
    if (state.waits &&
        state.missing == Result{made.kind() != StepKind::F, made.stage(),
                                made.microbatch()} &&
        isReady(rank))
      ready.push_back(rank);
  }

  bool isReady(unsigned rank) {
    RankState &state = states[rank];
    const StepList &list = schedule.ranks[rank];
    state.waits = false;
    if (state.head == list.size())
      return false;
    for (size_t i = state.head;; ++i) {
      std::optional<Result> taken = takenResult(schedule, list[i]);
      if (taken && !results.contains(*taken)) {
        state.missing = *taken;
        state.waits = true;
        return false;
      }
      if (!list[i].joined())
        return true;
    }
  }

  const Schedule &schedule;
  TransferMap map;
  ResultSet results;
  std::vector<RankState> states;
  /// Ranks whose next group can be visited.
  std::vector<unsigned> ready;
};

} // namespace pipec

#endif // PIPEC_TRANSFORMS_ORDERWALK_H
