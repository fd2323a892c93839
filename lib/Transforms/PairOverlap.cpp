//===- PairOverlap.cpp - Overlaps from neighbours -------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   F s0 m2                   overlap F s0 m2 & B s0 m0
//   B s0 m0            ->     overlap F s0 m3 & B s0 m1
//   F s0 m3
//   B s0 m1
//
// In the steady phase every F and the B right behind it, or B and the F right
// behind it, become one overlap in that issue order, taken greedily from the
// front. The steady phase is what stands in a phase called `steady`; without
// such a phase it is the whole list, since the others are of one kind.
//
// A pair starts when the data of both members is there, so an order that ran
// can wait for itself once it is paired: where the last forward of two ranks
// stands in front of their first backward (GPipe), each pair waits for what the
// other gives at its end. That is found by walking the paired lists.
//
// Needs: level compute, no P2P steps. Ensures: level compute. Cost: linear in
// the steps, in place.
//
//===----------------------------------------------------------------------===//

#include "Transforms/OrderWalk.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class PairOverlap : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (failed(checkNoP2P(schedule, "pair-overlap", diags)) ||
        failed(checkEnoughSteps(schedule, "pair-overlap", diags)))
      return failure();
    auto steady = find(schedule.phases, "steady");
    std::optional<unsigned> phase;
    if (steady != schedule.phases.end())
      phase = steady - schedule.phases.begin();

    std::vector<std::vector<uint32_t>> pairs(schedule.numRanks);
    for (auto [list, made] : zip_equal(schedule.ranks, pairs))
      pair(list, phase, made);
    OrderWalk walk(schedule);
    walk.run([](unsigned, size_t, size_t) {});
    if (failed(walk.finish(diags))) {
      for (auto [list, made] : zip_equal(schedule.ranks, pairs))
        for (uint32_t i : made)
          list[i].setJoined(false);
      return failure();
    }
    schedule.times.clear();
    return success();
  }

  /// Joins the neighbours in `list`; `made` gets the first of each pair.
  static void pair(StepList &list, std::optional<unsigned> phase,
                   std::vector<uint32_t> &made) {
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      if (end != i + 1 || end == list.size() || list[end].joined() ||
          !fit(list[i], list[end], phase))
        continue;
      list[i].setJoined(true);
      made.push_back(i);
      ++end;
    }
  }

  static bool fit(Step a, Step b, std::optional<unsigned> phase) {
    if (phase && (a.phase() != *phase || b.phase() != *phase))
      return false;
    return (a.kind() == StepKind::F && b.kind() == StepKind::B) ||
           (a.kind() == StepKind::B && b.kind() == StepKind::F);
  }
};

} // namespace

std::unique_ptr<Pass> makePairOverlap(const PairOverlapOptions &) {
  return std::make_unique<PairOverlap>();
}

} // namespace pipec
