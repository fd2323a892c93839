//===- BlockingRun.cpp - Does a schedule end if transfers block -----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The quick way to a good verdict, without a queue or a table of transfers:
// each rank goes through its list up to a transfer and stands there; when the
// rank at the other end stands at the other side of just this transfer, both go
// on. Since no rank goes past a transfer, the k-th send of an edge meets the
// k-th receive, and comparing their names is all there is to crossed tensors.
//
// What happens so can happen under every model, for each of them only lets a
// rank run further ahead. The reverse holds for `stream` alone, so a run that
// comes to a halt is only the reason to ask `Waiting`.
//
//===----------------------------------------------------------------------===//

#include "Analysis/BlockingRun.h"

#include "IR/HomeRanks.h"

using namespace llvm;

namespace pipec {

namespace {

class BlockingRun {
public:
  explicit BlockingRun(const Schedule &schedule)
      : schedule(schedule), home(schedule),
        received((size_t(schedule.numStages) * schedule.numMicrobatches + 31) /
                 32),
        ranks(schedule.numRanks) {}

  bool ends() {
    // A stack; at first rank 0 is on top.
    for (unsigned rank = schedule.numRanks; rank-- != 0;) {
      ranks[rank].at = schedule.ranks[rank].data();
      ranks[rank].end = ranks[rank].at + schedule.ranks[rank].size();
      runnable.push_back(rank);
    }
    while (!runnable.empty()) {
      unsigned rank = runnable.back();
      runnable.pop_back();
      ranks[rank].isRunnable = false;
      if (!advance(rank))
        return false;
    }
    return all_of(ranks,
                  [](const RankState &rank) { return rank.at == rank.end; });
  }

private:
  struct RankState {
    const Step *at = nullptr;
    const Step *end = nullptr;
    /// Stands on the stack.
    bool isRunnable = true;
  };

  /// Lets the rank run until it has to stay; false when it must not go on.
  bool advance(unsigned rank) {
    RankState &self = ranks[rank];
    for (; self.at != self.end; ++self.at) {
      const Step step = *self.at;
      if (isCompute(step.kind())) {
        if (!hasInput(step, rank))
          return false;
        continue;
      }
      if (!isP2P(step.kind()))
        continue;
      int peerStage = Schedule::peerStage(step);
      if (step.joined() || unsigned(peerStage) >= schedule.numStages)
        return false;
      unsigned peer = home.of(peerStage, step.microbatch());
      RankState &other = ranks[peer];
      if (other.at == other.end || !isOtherSide(step, *other.at, rank)) {
        prefetch(self.at);
        return true;
      }
      const Step &receive = isRecv(step.kind()) ? step : *other.at;
      size_t bit = bitOf(receive, receive.kind() == StepKind::RecvB);
      received[bit / 64] |= uint64_t(1) << (bit % 64);
      ++other.at;
      if (!other.isRunnable) {
        other.isRunnable = true;
        runnable.push_back(peer);
      }
    }
    return true;
  }

  /// `theirs`, at which the peer of `ours` stands, is the other side of `ours`,
  /// a transfer of `rank`.
  bool isOtherSide(Step ours, Step theirs, unsigned rank) const {
    static constexpr StepKind sides[] = {StepKind::RecvF, StepKind::SendF,
                                         StepKind::RecvB, StepKind::SendB};
    static_assert(unsigned(StepKind::RecvB) == unsigned(StepKind::SendF) + 3);
    return theirs.kind() ==
               sides[unsigned(ours.kind()) - unsigned(StepKind::SendF)] &&
           int(theirs.stage()) == Schedule::peerStage(ours) &&
           theirs.microbatch() == ours.microbatch() && !theirs.joined() &&
           home.of(ours) == rank;
  }

  /// Nothing comes from another rank, or it has been received.
  bool hasInput(Step step, unsigned rank) const {
    bool gradient = step.kind() != StepKind::F;
    unsigned from = step.stage() + (gradient ? 1 : -1);
    if (step.kind() == StepKind::W || from >= schedule.numStages ||
        home.of(from, step.microbatch()) == rank)
      return true;
    size_t bit = bitOf(step, gradient);
    return received[bit / 64] >> (bit % 64) & 1;
  }

  size_t bitOf(Step step, bool gradient) const {
    return (size_t(step.stage()) * schedule.numMicrobatches +
            step.microbatch()) *
               2 +
           gradient;
  }

  /// The rank will go on from here when its line has left the cache's reach.
  static void prefetch(const Step *at) {
    constexpr size_t line = 64 / sizeof(Step);
    __builtin_prefetch(at + line);
    __builtin_prefetch(at + 2 * line);
  }

  const Schedule &schedule;
  HomeRanks home;
  /// What has come from other ranks, by its consumer.
  std::vector<uint64_t> received;
  std::vector<RankState> ranks;
  std::vector<unsigned> runnable;
};

} // namespace

bool endsWithBlockingTransfers(const Schedule &schedule) {
  // Sizes are somebody's claim; a schedule has a forward for every pair.
  if (uint64_t(schedule.numStages) * schedule.numMicrobatches >
      schedule.numSteps())
    return false;
  return BlockingRun(schedule).ends();
}

} // namespace pipec
