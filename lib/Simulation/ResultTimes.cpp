//===- ResultTimes.cpp - When results are made and arrive ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  makers.assign(2 * size_t(schedule.numStages) * schedule.numMicrobatches,
                none);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    uint32_t number = run.numbers().begin(rank);
    for (Step step : schedule.ranks[rank]) {
      if (step.kind() == StepKind::F || makesInputGradient(step.kind()))
        makers[flow.taken(step)] = number;
      ++number;
    }
  }
}

void ResultTimes::findDepartures() {
  departures.assign(makers.size(), 0);
  EdgeQueues edges(run.costs());
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (!isCompute(list[begin].kind()))
        continue;
      int64_t made = run.end(rank, begin);
      for (size_t i = begin; i != end; ++i)
        if (const DataFlow::Rule rule = flow.of(list[i]); rule.sends)
          departures[flow.taken(list[i], rule)] =
              edges.take(rank, rule.taker, made);
    }
  }
}

uint32_t ResultTimes::inputMaker(Step step) const {
  const DataFlow::Rule rule = flow.of(step);
  return rule.takes ? makers[flow.giver(step, rule)] : none;
}

int64_t ResultTimes::departure(uint32_t maker) const {
  StepRef at = run.numbers().at(maker);
  Step step = schedule.ranks[at.rank][at.index];
  const DataFlow::Rule rule = flow.of(step);
  if (departures.empty() || !rule.sends)
    return run.end(at.rank, at.index);
  return departures[flow.taken(step, rule)];
}

uint32_t ResultTimes::firstOfBusyEdge(uint32_t maker) const {
  StepRef at = run.numbers().at(maker);
  const StepList &list = schedule.ranks[at.rank];
  uint32_t taker = flow.of(list[at.index]).taker;
  size_t first = at.index;
  for (size_t i = at.index + 1; i-- != 0;) {
    const DataFlow::Rule rule = flow.of(list[i]);
    if (!rule.sends || rule.taker != taker)
      continue;
    first = i;
    if (departure(run.numbers().of(at.rank, i)) == run.end(at.rank, i))
      break;
  }
  return run.numbers().of(at.rank, first);
}

std::optional<ResultTimes::Input> ResultTimes::input(unsigned rank,
                                                     Step step) const {
  uint32_t maker = inputMaker(step);
  if (maker == none)
    return std::nullopt;
  StepRef at = run.numbers().at(maker);
  int64_t made = run.end(at.rank, at.index);
  int64_t hop = run.costs().hop(at.rank, rank);
  return Input{made, made + hop, departure(maker) + hop};
}

} // namespace pipec
