//===- AlignBubbles.cpp - Bubbles that make positions time slots ----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts bubbles into the lists so that equal positions mean equal time slots:
//
//   rank 0: F0 F1 B0 B1         rank 0: F0 F1 .  .  B0 B1
//   rank 1: F0 B0 F1 B1    ->   rank 1: .  F0 B0 F1 B1          (dependency)
//
// The slot of a group is the first one that lies behind the group before it in
// its list and behind the slots in which the results that it takes are made. So
// the slots follow from one another, in any order that respects the data, and
// no list needs to be stepped through slot by slot. A first walk over the lists
// finds how many bubbles each group needs in front of it; then the lists are
// made in their final size.
//
// Two modes:
//
//   dependency  nothing else (PyTorch's `_add_bubbles_to_actions`). An overlap
//               takes one slot. Bubbles that are there take their slot and
//               stay.
//   lockstep    HyperParallel's `auto_align`. Bubbles that are there go. Rank r
//               of p gets p-1-r slots before its steady phase, which starts at
//               the first F directly followed by a B or I, or at the first
//               overlap of a forward and a backward; and behind its last F a B
//               or I directly after a B or I waits for one more slot. An
//               overlap takes as many slots as it has members and its k-th
//               member has its result at the end of the k-th, as
//               `insert-p2p{order=column}` reads it.
//
// The mode `interleaved` follows from sizes alone and is in InterleavedSlots.
//
// FSDP actions take no slot in any.
//
// Needs: level compute, no P2P steps. Ensures: but for `interleaved`, every
// step is in a later slot than what it takes. Cost: linear in the steps,
// bubbles included.
//
//===----------------------------------------------------------------------===//

#include "Simulation/Blocked.h"
#include "IR/OrderWalk.h"
#include "Transforms/Checks.h"
#include "Transforms/InterleavedSlots.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

bool isBackward(ArrayRef<Step> group) {
  return any_of(group, [](Step s) { return makesInputGradient(s.kind()); });
}

bool isForward(ArrayRef<Step> group) {
  return any_of(group, [](Step s) { return s.kind() == StepKind::F; });
}

/// The lists of one run, and what their slots are so far.
class Alignment {
public:
  /// The first slot in which a result can be taken; 0 when it has not been
  /// made.
  struct Datum {
    uint32_t slotBehind = 0;
  };

  Alignment(Schedule &schedule, AlignMode mode)
      : schedule(schedule), lockstep(mode == AlignMode::Lockstep),
        states(schedule.numRanks), gaps(schedule.numRanks) {
    for (const auto &[rank, list] : enumerate(schedule.ranks)) {
      gaps[rank].resize(list.size());
      if (lockstep)
        findPhases(rank);
    }
  }

  LogicalResult run(DiagEngine &diags) {
    {
      OrderWalk<Alignment> walk(schedule, *this);
      if (!walk.run())
        return reportBlocked(schedule, walk, diags);
    }
    if (failed(checkAlignedSize(schedule, bubbles, diags)))
      return failure();
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      schedule.ranks[rank] =
          withBubbles(schedule.ranks[rank], gaps[rank], !lockstep);
    return success();
  }

  static bool isThere(const Datum &datum) { return datum.slotBehind != 0; }
  void take(unsigned rank, const Datum &datum) {
    RankState &state = states[rank];
    state.ready = std::max(state.ready, datum.slotBehind);
  }
  void visit(unsigned rank, size_t begin, size_t end) {
    RankState &state = states[rank];
    ArrayRef<Step> steps = group(rank, begin, end);
    StepKind kind = steps.front().kind();
    if (kind == StepKind::Bubble && !lockstep)
      ++state.next;
    if (!isCompute(kind))
      return;
    uint32_t slot = state.next;
    if (lockstep)
      slot += pauseBefore(rank, begin, steps);
    slot = std::max(slot, state.ready);
    uint32_t gap = slot - state.next;
    gaps[rank][begin] = gap;
    bubbles += gap;
    state.next = slot + (lockstep ? steps.size() : 1);
    state.end = end;
  }
  Datum give(unsigned rank, size_t index, const DataFlow::Port &) {
    const RankState &state = states[rank];
    // The group has taken the slots up to `next`.
    return {state.next - (lockstep ? uint32_t(state.end - 1 - index) : 0)};
  }

private:
  struct RankState {
    /// The first slot behind the groups so far.
    uint32_t next = 0;
    /// The first slot behind what the next group takes.
    uint32_t ready = 0;
    /// The index behind the last group that took slots.
    size_t end = 0;
    /// Lockstep: where the steady phase starts, the length of the list when
    /// there is none; and the index behind the last forward.
    size_t steady = 0;
    size_t cooldown = 0;
    /// Lockstep: the last group was a backward behind the last forward.
    bool rests = false;
  };

  ArrayRef<Step> group(unsigned rank, size_t begin, size_t end) const {
    return ArrayRef(schedule.ranks[rank]).slice(begin, end - begin);
  }

  void findPhases(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    RankState &state = states[rank];
    state.steady = list.size();
    // The last compute, if it was a plain F, else the end.
    size_t forward = list.size();
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      ArrayRef<Step> steps = group(rank, begin, end);
      if (!isCompute(steps.front().kind()))
        continue;
      bool fwd = isForward(steps), bwd = isBackward(steps);
      if (fwd)
        state.cooldown = end;
      if (state.steady == list.size()) {
        if (fwd && bwd)
          state.steady = begin;
        else if (bwd && steps.size() == 1)
          state.steady = forward;
      }
      forward = fwd && steps.size() == 1 ? begin : list.size();
    }
  }

  /// Lockstep: the slots that a group waits for whatever it takes.
  uint32_t pauseBefore(unsigned rank, size_t begin, ArrayRef<Step> steps) {
    RankState &state = states[rank];
    bool drains = begin >= state.cooldown && isBackward(steps);
    // A bubble of any other kind is a rest too.
    bool pauses = drains && state.rests;
    state.rests = drains;
    return (begin == state.steady ? schedule.numRanks - 1 - rank : 0) + pauses;
  }

  Schedule &schedule;
  bool lockstep;
  std::vector<RankState> states;
  /// For each first step of a group the bubbles in front of it.
  std::vector<std::vector<uint32_t>> gaps;
  uint64_t bubbles = 0;
};

class AlignBubbles : public Pass {
public:
  explicit AlignBubbles(const AlignBubblesOptions &options)
      : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (failed(checkNoP2P(schedule, "align-bubbles", diags)) ||
        failed(checkEnoughSteps(schedule, "align-bubbles", diags)))
      return failure();
    // With so few steps no slot passes 32 bits either.
    if (failed(checkAlignedSize(schedule, 0, diags)))
      return failure();
    if (failed(options.mode == AlignMode::Interleaved
                   ? takeInterleavedSlots(schedule, diags)
                   : Alignment(schedule, options.mode).run(diags)))
      return failure();
    schedule.times.clear();
    return success();
  }

private:
  AlignBubblesOptions options;
};

} // namespace

std::unique_ptr<Pass> makeAlignBubbles(const AlignBubblesOptions &options) {
  return std::make_unique<AlignBubbles>(options);
}

} // namespace pipec
