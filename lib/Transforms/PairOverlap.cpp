//===- PairOverlap.cpp - Overlaps of adjacent steps -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   F s0 m2                   overlap F s0 m2 & B s0 m0
//   B s0 m0            ->     overlap F s0 m3 & B s0 m1
//   F s0 m3
//   B s0 m1
//
// In the steady phase, every F and the B directly after it, or B and the F
// directly after it, become one overlap in that issue order. Pairs are formed
// greedily from the start. The steady phase is the phase called `steady`; if
// phases have other names, there is none. If there are no named phases, it is
// the part of a rank's list in which forwards and backwards alternate: from its
// first backward to its last forward, with the forward directly before and the
// backward directly after it. If a rank runs all forwards first (GPipe), there
// is none.
//
// A pair starts when the inputs of both members are available, so pairing may
// introduce a deadlock: if two ranks pair the same micro-batch, each pair waits
// for a result of the other. A walk over the paired lists detects this.
//
// Needs: level compute, no P2P steps. Ensures: level compute. Cost: linear in
// the steps, in place.
//
//===----------------------------------------------------------------------===//

#include "IR/OrderWalk.h"
#include "Simulation/Blocked.h"
#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// A client that only determines whether a walk finishes.
struct CanRun {
  struct Datum {
    bool made = false;
  };
  static bool isThere(const Datum &datum) { return datum.made; }
  void take(unsigned, const Datum &) {}
  void visit(unsigned, size_t, size_t) {}
  Datum give(unsigned, size_t, const DataFlow::Port &) { return {true}; }
};

class PairOverlap : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (failed(checkNoP2P(schedule, "pair-overlap", diags)) ||
        failed(checkEnoughSteps(schedule, "pair-overlap", diags)))
      return failure();
    std::vector<std::vector<uint32_t>> pairs(schedule.numRanks);
    unsigned steady = find(schedule.phases, "steady") - schedule.phases.begin();
    for (auto [list, made] : zip_equal(schedule.ranks, pairs)) {
      if (schedule.phases.empty())
        pair(list, turns(list), made);
      else
        pair(list, [&](size_t i) { return list[i].phase() == steady; }, made);
    }
    CanRun client;
    OrderWalk<CanRun> walk(schedule, client);
    if (!walk.run()) {
      (void)reportBlocked(schedule, walk, diags);
      for (auto [list, made] : zip_equal(schedule.ranks, pairs))
        for (uint32_t i : made)
          list[i].setJoined(false);
      return failure();
    }
    schedule.times.clear();
    return success();
  }

  /// The part [begin, end) of a list in which forwards and backwards alternate.
  struct Range {
    size_t begin;
    size_t end;
    bool operator()(size_t i) const { return begin <= i && i < end; }
  };

  static Range turns(const StepList &list) {
    auto isForward = [](Step step) { return step.kind() == StepKind::F; };
    auto isBackward = [](Step step) { return makesInputGradient(step.kind()); };
    size_t begin = find_if(list, isBackward) - list.begin();
    size_t end = find_if(reverse(list), isForward).base() - list.begin();
    if (begin < end) {
      begin -= begin != 0 && isForward(list[begin - 1]);
      end += end != list.size() && isBackward(list[end]);
    }
    return {begin, end};
  }

  /// Joins adjacent steps of `list` that are both steady; adds the first step
  /// of each pair to `made`.
  template <typename IsSteady>
  static void pair(StepList &list, IsSteady isSteady,
                   std::vector<uint32_t> &made) {
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      if (end != i + 1 || end == list.size() || list[end].joined() ||
          !isSteady(i) || !isSteady(end) || !fit(list[i], list[end]))
        continue;
      list[i].setJoined(true);
      made.push_back(i);
      ++end;
    }
  }

  static bool fit(Step a, Step b) {
    return (a.kind() == StepKind::F && b.kind() == StepKind::B) ||
           (a.kind() == StepKind::B && b.kind() == StepKind::F);
  }
};

} // namespace

std::unique_ptr<Pass> makePairOverlap(const PairOverlapOptions &) {
  return std::make_unique<PairOverlap>();
}

} // namespace pipec
