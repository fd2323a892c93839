//===- AlignBubbles.cpp - Bubbles that align time slots -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slot of a group is the first one after the previous group of its list and
// after the slots in which its inputs are produced. The slots can therefore be
// computed in any order that respects the data flow, without stepping through
// the lists slot by slot. A first walk over the lists computes the number of
// bubbles before each group; then the lists are built in their final size.
//
// With `mode=lockstep` the result of the k-th member of an overlap is available
// at the end of its k-th slot, as `insert-p2p{order=column}` assumes. The mode
// `interleaved` depends only on sizes and is in InterleavedSlots.cpp. The mode
// `fastest` is one of these two.
//
//===----------------------------------------------------------------------===//

#include "IR/OrderWalk.h"
#include "Simulation/Blocked.h"
#include "Simulation/Simulate.h"
#include "Transforms/Checks.h"
#include "Transforms/InterleavedSlots.h"
#include "Transforms/P2POrders.h"
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

/// The lists of one run and the slots assigned so far.
class Alignment {
public:
  /// The first slot in which a result is available; 0 if it has not been
  /// produced.
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
    // The group has taken the slots before `next`.
    return {state.next - (lockstep ? uint32_t(state.end - 1 - index) : 0)};
  }

private:
  struct RankState {
    /// The first slot after the groups so far.
    uint32_t next = 0;
    /// The first slot in which all inputs of the next group are available.
    uint32_t ready = 0;
    /// The index after the last group that took slots.
    size_t end = 0;
    /// Lockstep: the start of the steady phase, or the length of the list if
    /// there is none; and the index after the last forward.
    size_t steady = 0;
    size_t cooldown = 0;
    /// Lockstep: true if the last group was a backward after the last forward.
    bool rests = false;
  };

  ArrayRef<Step> group(unsigned rank, size_t begin, size_t end) const {
    return ArrayRef(schedule.ranks[rank]).slice(begin, end - begin);
  }

  void findPhases(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    RankState &state = states[rank];
    state.steady = list.size();
    // The last compute if it was a plain F, otherwise the end.
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

  /// Lockstep: the slots that a group waits in addition to those for its
  /// inputs.
  uint32_t pauseBefore(unsigned rank, size_t begin, ArrayRef<Step> steps) {
    RankState &state = states[rank];
    bool drains = begin >= state.cooldown && isBackward(steps);
    // Bubbles of other origin count as pauses too.
    bool pauses = drains && state.rests;
    state.rests = drains;
    return (begin == state.steady ? schedule.numRanks - 1 - rank : 0) + pauses;
  }

  Schedule &schedule;
  bool lockstep;
  std::vector<RankState> states;
  /// For the first step of each group, the number of bubbles before it.
  std::vector<std::vector<uint32_t>> gaps;
  uint64_t bubbles = 0;
};

} // namespace

/// The makespan with transfers in the slots of an aligned schedule, under
/// blocking sends; empty if a step is in the slot of a producer.
static std::optional<int64_t> slotsMakespan(Schedule schedule,
                                            DiagEngine &silent) {
  auto lists = placeP2PInColumns(schedule, silent);
  if (failed(lists))
    return std::nullopt;
  schedule.ranks = std::move(*lists);
  auto run = simulate(schedule, WaitModel::BlockingSends, silent);
  return succeeded(run) ? std::optional(run->makespan()) : std::nullopt;
}

/// Aligns by `mode=interleaved` if that is faster than `mode=lockstep`.
static LogicalResult alignFastest(Schedule &schedule, DiagEngine &diags) {
  DiagEngine silent(diags.sourceFiles(), [](const Diagnostic &) {});
  Schedule other = schedule;
  if (failed(Alignment(schedule, AlignMode::Lockstep).run(diags)))
    return failure();
  if (failed(takeInterleavedSlots(other, silent)))
    return success();
  std::optional<int64_t> time = slotsMakespan(schedule, silent),
                         otherTime = slotsMakespan(other, silent);
  if (otherTime && (!time || *otherTime < *time))
    schedule.ranks = std::move(other.ranks);
  return success();
}

LogicalResult runAlignBubbles(Schedule &schedule,
                              const AlignBubblesOptions &options,
                              DiagEngine &diags) {
  if (failed(checkNone(schedule, Stream::Link, "align-bubbles", diags)) ||
      failed(checkEnoughSteps(schedule, "align-bubbles", diags)))
    return failure();
  // With this number of steps, no slot exceeds 32 bits.
  if (failed(checkAlignedSize(schedule, 0, diags)))
    return failure();
  if (failed(options.mode == AlignMode::Interleaved
                 ? takeInterleavedSlots(schedule, diags)
             : options.mode == AlignMode::Fastest
                 ? alignFastest(schedule, diags)
                 : Alignment(schedule, options.mode).run(diags)))
    return failure();
  schedule.times.clear();
  return success();
}

} // namespace pipec
