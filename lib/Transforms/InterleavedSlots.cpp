//===- InterleavedSlots.cpp - The slots of Interleaved1F1B ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HyperParallel's ScheduleInterleaved1F1B writes its lists with bubbles. With p
// ranks and m micro-batches, rank r
//
//   waits r slots, runs the w forwards of its warm-up,
//   waits max(0, 2(p-1-r) - m) + p-1-r slots,
//   runs its steady phase, which alternates a forward and a backward, or
//   consists of one forward, pairs of a backward and a forward, and one
//   backward, and runs the remaining backwards with one slot before each.
//
// With fewer micro-batches than ranks, p-m slots follow steps of micro-batch
// m-1: each forward of the warm-up, except the last one of a rank other than
// the last rank; the plain backwards in the steady phase of the last rank; each
// backward after the steady phase.
//
// The slots therefore depend only on the sizes and the order of the kinds of
// steps, not on the arrival of data.
//
//===----------------------------------------------------------------------===//

#include "Transforms/InterleavedSlots.h"

#include "IR/RegularPlacements.h"
#include "IR/Schedule.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/PassesDiags.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

constexpr uint64_t maxAlignedSteps = uint64_t(1) << 28;

LogicalResult checkAlignedSize(const Schedule &schedule, uint64_t bubbles,
                               DiagEngine &diags) {
  uint64_t size = bubbles + schedule.numSteps();
  if (size <= maxAlignedSteps)
    return success();
  return diags.report(schedule.source, diag::AlignedTooLarge, size,
                      maxAlignedSteps);
}

StepList withBubbles(const StepList &list, ArrayRef<uint32_t> gaps, bool keep) {
  size_t bubbles = 0;
  for (uint32_t gap : gaps)
    bubbles += gap;
  StepList out(list.size() + bubbles);
  Step *at = out.data();
  auto wait = [&](uint32_t slots, Step beside) {
    at = std::fill_n(
        at, slots,
        Step(StepKind::Bubble, 0, 0, beside.phase(), beside.source()));
  };
  for (size_t i = 0; i != list.size(); ++i) {
    wait(gaps[i], list[i]);
    if (keep || list[i].kind() != StepKind::Bubble)
      *at++ = list[i];
  }
  if (gaps.size() > list.size() && !list.empty())
    wait(gaps.back(), list.back());
  out.resize(at - out.data());
  return out;
}

namespace {

class InterleavedSlots {
public:
  InterleavedSlots(Schedule &schedule, DiagEngine &diags)
      : schedule(schedule), diags(diags), numRanks(schedule.numRanks),
        microbatches(schedule.numUnits),
        chunks(schedule.numStages / schedule.numRanks),
        forwards(microbatches * chunks) {}

  LogicalResult run() {
    if (!isLoop())
      return diags.report(schedule.source, diag::LayoutPlacement,
                          schedule.name);
    uint64_t bubbles = 0;
    for (unsigned rank = 0; rank != numRanks; ++rank)
      if (failed(findGaps(rank, bubbles)))
        return failure();
    if (failed(checkAlignedSize(schedule, bubbles, diags)))
      return failure();
    for (auto [list, gap] : zip_equal(schedule.ranks, gaps))
      list = withBubbles(list, gap, /*keep=*/false);
    return success();
  }

private:
  /// The role of a group of steps in the layout.
  enum class Part { Forward, Backward, Pair, Other };

  static Part partOf(ArrayRef<Step> group) {
    if (group.size() == 1 && group[0].kind() == StepKind::F)
      return Part::Forward;
    if (group.size() == 1 && group[0].kind() == StepKind::B)
      return Part::Backward;
    if (group.size() == 2 && group[0].kind() == StepKind::B &&
        group[1].kind() == StepKind::F)
      return Part::Pair;
    return Part::Other;
  }
  static StringRef nameOf(Part part) {
    switch (part) {
    case Part::Forward:
      return "a forward";
    case Part::Backward:
      return "a backward";
    default:
      return "a pair `B & F`";
    }
  }

  bool isLoop() const {
    return !schedule.placement.bidirectional() &&
           pipec::isLoop(schedule.placement.map(0), numRanks);
  }

  /// The number of forwards of a rank before its steady phase.
  uint64_t warmup(unsigned rank) const {
    uint64_t rounds = std::max<uint64_t>(1, microbatches / numRanks);
    uint64_t firstRound = (microbatches + rounds - 1) / rounds;
    return std::min((chunks - 1) * firstRound + 2 * (numRanks - 1 - rank),
                    forwards);
  }

  LogicalResult findGaps(unsigned rank, uint64_t &bubbles);

  Schedule &schedule;
  DiagEngine &diags;
  uint64_t numRanks, microbatches, chunks;
  /// For one rank.
  uint64_t forwards;
  /// By rank: the number of bubbles before each step, and after the list.
  std::vector<std::vector<uint32_t>> gaps;
};

} // namespace

LogicalResult InterleavedSlots::findGaps(unsigned rank, uint64_t &bubbles) {
  const StepList &list = schedule.ranks[rank];
  std::vector<uint32_t> &gap = gaps.emplace_back(list.size() + 1);
  uint64_t warm = warmup(rank);
  bool isLast = rank + 1 == numRanks;
  // The slots after a step of the last micro-batch.
  uint64_t spare = microbatches < numRanks ? numRanks - microbatches : 0;
  uint64_t lead = 2 * (numRanks - 1 - rank);
  uint64_t beforeSteady =
      (lead > microbatches ? lead - microbatches : 0) + numRanks - 1 - rank;

  uint64_t pending = rank, fwd = 0, bwd = 0;
  if (warm == 0)
    pending += beforeSteady;
  bool pairs = false;
  for (size_t begin = 0, end; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    if (!isCompute(list[begin].kind()))
      continue;
    Part part = partOf(ArrayRef(list).slice(begin, end - begin));
    // The first place at which the two forms differ.
    if (fwd == warm + 1 && bwd == 0)
      pairs = part == Part::Pair;
    bool steady = fwd >= warm && bwd < forwards - warm;
    Part wanted = fwd < warm                          ? Part::Forward
                  : steady && fwd == warm + bwd       ? Part::Forward
                  : steady && pairs && fwd < forwards ? Part::Pair
                                                      : Part::Backward;
    if (part != wanted || bwd == forwards)
      return diags
          .report(list[begin].source(), diag::LayoutOtherOrder,
                  stepText(schedule, list[begin]), rank,
                  bwd == forwards ? "no step" : nameOf(wanted))
          .note(schedule.source, diag::NoteLayoutOrders);
    bool drains = fwd >= warm && !steady;
    pending += drains;
    gap[begin] = pending;
    bubbles += pending;
    pending = 0;
    fwd += part != Part::Backward;
    bwd += part != Part::Forward;

    bool isLastMicrobatch = list[begin].unit() + 1 == microbatches;
    bool warms = bwd == 0 && fwd <= warm;
    if (isLastMicrobatch && (warms    ? fwd != warm || isLast
                             : drains ? true
                                      : part == Part::Backward && isLast))
      pending += spare;
    if (warms && fwd == warm)
      pending += beforeSteady;
  }
  gap[list.size()] = pending;
  bubbles += pending;
  return success();
}

LogicalResult takeInterleavedSlots(Schedule &schedule, DiagEngine &diags) {
  return InterleavedSlots(schedule, diags).run();
}

} // namespace pipec
