//===- ResultTimes.cpp - When results and transfers are complete ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/ResultTimes.h"

#include "Simulation/Resources.h"
#include "Waiting/WaitState.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

ResultTimes::ResultTimes(const Schedule &schedule, const Simulation &run)
    : schedule(schedule), run(run), flow(schedule) {
  findMakers();
  if (!run.model() && (run.costs().hasOccupancy() || !run.arrivals().empty()))
    findDepartures();
}

void ResultTimes::findMakers() {
  makers.assign(flow.size(), none);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    uint32_t number = run.numbers().begin(rank);
    for (Step step : schedule.ranks[rank]) {
      if (makesData(step.kind()))
        makers[flow.number(step)] = number;
      ++number;
    }
  }
}

void ResultTimes::findDepartures() {
  departures.assign(flow.size(), 0);
  EdgeQueues edges(schedule, run.costs());
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (uint32_t i = 0; i != list.size(); ++i)
      for (const DataFlow::Port &output : flow.outputs(list[i]))
        if (output.transfers && isCompute(list[i].kind())) {
          size_t datum = flow.datum(output, list[i].unit());
          departures[datum] =
              run.arrivals().empty()
                  ? edges.take(rank, output.rank, run.end(rank, i))
                  : run.arrivals()[datum] - run.costs().hop(rank, output.rank);
        }
  }
}

int64_t ResultTimes::departure(const DataFlow::Port &input, Step step) const {
  if (departures.empty() || !input.transfers) {
    StepRef at = run.numbers().at(maker(input, step));
    return run.end(at.rank, at.index);
  }
  return departures[flow.datum(input, step.unit())];
}

uint32_t ResultTimes::firstOfBusyEdge(const DataFlow::Port &input,
                                      Step step) const {
  StepRef at = run.numbers().at(maker(input, step));
  const StepList &list = schedule.ranks[at.rank];
  unsigned to = flow.home(step);
  size_t first = at.index;
  for (size_t i = at.index + 1; i-- != 0;) {
    auto isOnEdge = [&](const DataFlow::Port &output) {
      return output.transfers && output.rank == to;
    };
    ArrayRef<DataFlow::Port> outputs = flow.outputs(list[i]);
    const DataFlow::Port *output = find_if(outputs, isOnEdge);
    if (output == outputs.end())
      continue;
    first = i;
    size_t number = flow.datum(*output, list[i].unit());
    if (departures.empty() || departures[number] == run.end(at.rank, i))
      break;
  }
  return run.numbers().of(at.rank, first);
}

std::optional<ResultTimes::Input> ResultTimes::input(unsigned rank,
                                                     Step step) const {
  std::optional<Input> last;
  for (const DataFlow::Port &port : flow.inputs(step)) {
    uint32_t producer = maker(port, step);
    if (producer == none)
      continue;
    StepRef at = run.numbers().at(producer);
    int64_t made = run.end(at.rank, at.index);
    int64_t hop = run.costs().hop(at.rank, rank);
    Input own{made, made + hop, departure(port, step) + hop};
    if (!last)
      last = own;
    last->made = std::max(last->made, own.made);
    last->there = std::max(last->there, own.there);
    last->arrived = std::max(last->arrived, own.arrived);
  }
  return last;
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

TransferTimes::TransferTimes(const Schedule &schedule, const Simulation &run)
    : schedule(schedule), run(run) {
  chainQueues();
}

void TransferTimes::chainQueues() {
  const StepNumbers &numbers = run.numbers();
  behind.assign(numbers.size(), none);
  const DataFlow &flow = run.transfers()->flow();
  std::vector<uint32_t> last(maxQueues(schedule, *run.model()), none);
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
        unsigned queue = queueOf(*run.model(), rank, list[i], *port);
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
