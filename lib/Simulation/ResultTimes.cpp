//===- ResultTimes.cpp - When results are produced and arrive -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/ResultTimes.h"

#include "Simulation/Resources.h"

using namespace llvm;

namespace pipec {

ResultTimes::ResultTimes(const Schedule &schedule, const Simulation &run)
    : schedule(schedule), run(run), flow(schedule) {
  findMakers();
  if (!run.model() && run.costs().hasOccupancy())
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
  EdgeQueues edges(run.costs());
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (!isCompute(list[begin].kind()))
        continue;
      int64_t made = run.end(rank, begin);
      for (size_t i = begin; i != end; ++i)
        for (const DataFlow::Port &output : flow.outputs(list[i]))
          if (output.transfers)
            departures[flow.datum(output, list[i].microbatch())] =
                edges.take(rank, output.rank, made);
    }
  }
}

int64_t ResultTimes::departure(const DataFlow::Port &input, Step step) const {
  if (departures.empty() || !input.transfers) {
    StepRef at = run.numbers().at(maker(input, step));
    return run.end(at.rank, at.index);
  }
  return departures[flow.datum(input, step.microbatch())];
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
    size_t number = flow.datum(*output, list[i].microbatch());
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

} // namespace pipec
