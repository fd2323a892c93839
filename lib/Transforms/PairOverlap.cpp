//===- PairOverlap.cpp - Overlaps of adjacent steps -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pair starts when the inputs of both members are available, so pairing may
// introduce a deadlock: if two ranks pair the same micro-batch, each pair waits
// for a result of the other. A walk over the paired lists detects this.
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

/// The part [begin, end) of a list in which forwards and backwards alternate.
struct Range {
  size_t begin;
  size_t end;
  bool operator()(size_t i) const { return begin <= i && i < end; }
};

} // namespace

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

static bool makePair(Step a, Step b) {
  return (a.kind() == StepKind::F && b.kind() == StepKind::B) ||
         (a.kind() == StepKind::B && b.kind() == StepKind::F);
}

/// Joins adjacent steps of `list` that are both steady. Returns the first step
/// of each pair.
template <typename IsSteady>
static std::vector<uint32_t> pair(StepList &list, IsSteady isSteady) {
  std::vector<uint32_t> made(list.size() / 2);
  size_t count = 0;
  for (size_t i = 0, end; i != list.size(); i = end) {
    end = Schedule::groupEnd(list, i);
    if (end != i + 1 || end == list.size() || list[end].joined() ||
        !isSteady(i) || !isSteady(end) || !makePair(list[i], list[end]))
      continue;
    list[i].setJoined(true);
    made[count++] = i;
    ++end;
  }
  made.resize(count);
  return made;
}

LogicalResult runPairOverlap(Schedule &schedule, const PairOverlapOptions &,
                             DiagEngine &diags) {
  if (failed(checkNone(schedule, Stream::Link, "pair-overlap", diags)) ||
      failed(checkEnoughSteps(schedule, "pair-overlap", diags)))
    return failure();
  std::vector<std::vector<uint32_t>> pairs(schedule.numRanks);
  unsigned steady = find(schedule.phases, "steady") - schedule.phases.begin();
  for (auto [list, made] : zip_equal(schedule.ranks, pairs)) {
    if (schedule.phases.empty())
      made = pair(list, turns(list));
    else
      made = pair(list, [&](size_t i) { return list[i].phase() == steady; });
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

} // namespace pipec
