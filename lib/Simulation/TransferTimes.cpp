//===- TransferTimes.cpp - When transfers are complete --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/TransferTimes.h"

#include "Waiting/WaitState.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

TransferTimes::TransferTimes(const Schedule &schedule, const Simulation &run)
    : schedule(schedule), run(run) {
  chainQueues();
}

void TransferTimes::chainQueues() {
  const StepNumbers &numbers = run.numbers();
  behind.assign(numbers.size(), none);
  const DataFlow &flow = run.transfers()->flow();
  std::vector<uint32_t> last(maxQueues(schedule), none);
  std::vector<unsigned> used;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (unsigned queue : used)
      last[queue] = none;
    used.clear();
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      for (size_t i = begin; i != end && isP2P(list[i].kind()); ++i) {
        const DataFlow::Port *port = flow.transfer(list[i]);
        if (!port)
          continue;
        unsigned queue = queueOf(*run.model(), list[i], *port);
        uint32_t &before = last[queue];
        if (before == none)
          used.push_back(queue);
        else if (before < numbers.of(rank, begin))
          behind[numbers.of(rank, i)] = before;
        before = numbers.of(rank, i);
      }
    }
  }
}

/// The rank at the other end of a P2P step; `none` if it has no peer.
uint32_t TransferTimes::peerOf(Step step) const {
  const DataFlow::Port *port = run.transfers()->flow().transfer(step);
  return port ? port->rank : none;
}

int64_t TransferTimes::end(uint32_t step) const {
  StepRef at = run.numbers().at(step);
  if (run.model() == WaitModel::Buffered &&
      isSend(schedule.ranks[at.rank][at.index].kind()))
    return run.start(step);
  return run.end(at.rank, at.index);
}

int64_t TransferTimes::batchEnd(uint32_t step) const {
  StepRef at = run.numbers().at(step);
  const StepList &list = schedule.ranks[at.rank];
  size_t begin = groupBegin(list, at.index);
  int64_t last = end(step);
  for (size_t i = begin, stop = Schedule::groupEnd(list, begin); i != stop; ++i)
    last = std::max(last, end(run.numbers().of(at.rank, i)));
  return last;
}

int64_t TransferTimes::edgeStart(uint32_t send) const {
  uint32_t receive = other(send);
  if (run.model() == WaitModel::Buffered || receive == none)
    return run.start(send);
  return std::max(run.start(send), run.start(receive));
}

int64_t TransferTimes::edgeEnd(uint32_t send) const {
  StepRef at = run.numbers().at(send);
  unsigned peer = peerOf(schedule.ranks[at.rank][at.index]);
  return edgeStart(send) + run.costs().edge(at.rank, peer).occupancy;
}

uint32_t TransferTimes::sendBefore(uint32_t send) const {
  StepRef at = run.numbers().at(send);
  const StepList &list = schedule.ranks[at.rank];
  unsigned peer = peerOf(list[at.index]);
  for (size_t i = at.index; i-- != 0;)
    if (isSend(list[i].kind()) && peerOf(list[i]) == peer)
      return run.numbers().of(at.rank, i);
  return none;
}

} // namespace pipec
