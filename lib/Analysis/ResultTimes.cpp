//===- ResultTimes.cpp - When results are made and arrive ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/ResultTimes.h"

#include "Analysis/Resources.h"

using namespace llvm;

namespace pipec {

ResultTimes::ResultTimes(const Schedule &schedule, const Simulation &run)
    : schedule(schedule), run(run) {
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
        makers[resultOf(step)] = number;
      ++number;
    }
  }
}

/// The rank that another rank's result goes to; nothing when it stays.
std::optional<unsigned> ResultTimes::receiverOf(unsigned rank,
                                                Step step) const {
  int user;
  if (step.kind() == StepKind::F)
    user = int(step.stage()) + 1;
  else if (makesInputGradient(step.kind()))
    user = int(step.stage()) - 1;
  else
    return std::nullopt;
  if (user < 0 || unsigned(user) == schedule.numStages)
    return std::nullopt;
  unsigned to = schedule.rankOf(user, step.microbatch());
  return to == rank ? std::nullopt : std::optional(to);
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
        if (std::optional<unsigned> to = receiverOf(rank, list[i]))
          departures[resultOf(list[i])] = edges.take(rank, *to, made);
    }
  }
}

uint32_t ResultTimes::inputMaker(Step step) const {
  if (step.kind() == StepKind::F && step.stage() != 0)
    return maker(step.stage() - 1, step.microbatch(), /*gradient=*/false);
  if (makesInputGradient(step.kind()) && !schedule.isLastStage(step.stage()))
    return maker(step.stage() + 1, step.microbatch(), /*gradient=*/true);
  return none;
}

int64_t ResultTimes::departure(uint32_t maker) const {
  StepRef at = run.numbers().at(maker);
  Step step = schedule.ranks[at.rank][at.index];
  if (departures.empty() || !receiverOf(at.rank, step))
    return run.end(at.rank, at.index);
  return departures[resultOf(step)];
}

uint32_t ResultTimes::firstOfBusyEdge(uint32_t maker) const {
  StepRef at = run.numbers().at(maker);
  const StepList &list = schedule.ranks[at.rank];
  std::optional<unsigned> to = receiverOf(at.rank, list[at.index]);
  size_t first = at.index;
  for (size_t i = at.index + 1; i-- != 0;) {
    if (!isCompute(list[i].kind()) || receiverOf(at.rank, list[i]) != to)
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
