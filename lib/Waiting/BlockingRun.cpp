//===- BlockingRun.cpp - Running with blocking transfers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fast check without queues or a table of transfers: each rank runs its list
// up to a transfer and blocks; when the rank at the other end blocks at the
// other end of the same transfer, both continue. Ranks never pass a transfer,
// so the k-th send of an edge meets the k-th receive, and comparing the two is
// sufficient to detect crossed tensors.
//
// Whatever happens in this run can happen under every communication model,
// since each of them only lets ranks run further ahead. The reverse holds only
// for `stream`, so a run that blocks proves nothing; `Waiting` then decides.
//
//===----------------------------------------------------------------------===//

#include "Waiting/Waiting.h"

#include "IR/DataFlow.h"
#include "IR/TiedSums.h"

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
    // A stack with rank 0 on top.
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
    /// True if the rank is on the stack.
    bool isRunnable = true;
  };

  bool isMoved(const DataFlow::Port &port, Step step) const {
    return moved[flow.datum(port, step.unit())];
  }

  /// Runs the rank until it blocks; returns false if the run must stop.
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
      moved[flow.datum(*port, step.unit())] = true;
      ++other.at;
      if (!other.isRunnable) {
        other.isRunnable = true;
        runnable.push_back(port->rank);
      }
    }
    self.at = self.end;
    return true;
  }

  /// True if all inputs of a step have arrived from other ranks; for a wait for
  /// a send, true if the send has completed.
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
  /// By datum: true after its transfer. Bytes instead of bits, so that a store
  /// needs no load.
  std::vector<uint8_t> moved;
  std::vector<RankState> ranks;
  std::vector<unsigned> runnable;
};

} // namespace

bool endsWithBlockingTransfers(const Schedule &schedule) {
  // The sizes are untrusted input; a complete schedule has a forward for every
  // pair.
  if (uint64_t(schedule.numStages) * schedule.numUnits > schedule.numSteps())
    return false;
  return TiedMeetings(schedule).allMeet() && !TiedSums::isNeeded(schedule) &&
         BlockingRun(schedule).ends();
}

} // namespace pipec
