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

#include "Waiting/BlockingRun.h"

#include "IR/DataFlow.h"
#include "IR/StepPrefetch.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class BlockingRun {
public:
  explicit BlockingRun(const Schedule &schedule)
      : schedule(schedule), flow(schedule), moved(flow.size()),
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

  bool isMoved(const DataFlow::Port &port, Step step) const {
    return moved[flow.datum(port, step.microbatch())];
  }

  /// Lets the rank run until it has to stay; false when it must not go on.
  bool advance(unsigned rank) {
    RankState &self = ranks[rank];
    for (const Step *at = self.at; at != self.end; ++at) {
      const Step step = *at;
      if (!isP2P(step.kind())) {
        if (!mayRun(step))
          return false;
        continue;
      }
      const DataFlow::Port *port = flow.transfer(step);
      if (step.joined() || !port || flow.home(step) != rank)
        return false;
      RankState &other = ranks[port->rank];
      if (other.at == other.end ||
          !other.at->sameAction(DataFlow::otherEnd(step, *port))) {
        prefetchSteps(at);
        self.at = at;
        return true;
      }
      moved[flow.datum(*port, step.microbatch())] = true;
      ++other.at;
      if (!other.isRunnable) {
        other.isRunnable = true;
        runnable.push_back(port->rank);
      }
    }
    self.at = self.end;
    return true;
  }

  /// True when all that a step takes has come from other ranks, and what it
  /// waits for has gone: no rank goes past a send before it is complete.
  bool mayRun(Step step) const {
    if (flow.takesOrMakes(step.kind()))
      return all_of(flow.inputs(step), [&](const DataFlow::Port &input) {
        return !input.transfers || isMoved(input, step);
      });
    if (!isSendWait(step.kind()))
      return true;
    const DataFlow::Port *port = flow.transfer(step);
    return port && isMoved(*port, step);
  }

  const Schedule &schedule;
  DataFlow flow;
  /// By datum: it has gone from its rank to another. Bytes, so that nothing is
  /// read to write one.
  std::vector<uint8_t> moved;
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
