//===- TiedSums.cpp - The tied gradients that updates wait for ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/TiedSums.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

TiedSums::TiedSums(const Schedule &schedule)
    : ranks(schedule.numRanks), groups(schedule.ties.size()),
      ofStage(schedule.numStages) {
  std::vector<bool> summed(groups.size());
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.stream() == Stream::Tied)
        summed[step.stage()] = true;
  for (auto [number, group] : enumerate(groups)) {
    if (!summed[number])
      continue;
    group.ranks = schedule.tiedRanks(number);
    for (unsigned stage : schedule.ties[number])
      ofStage[stage].push_back(number);
  }
}

void TiedSums::post(unsigned rank, unsigned group, int64_t time,
                    int64_t duration) {
  Rank &self = ranks[rank];
  // The verifier reports the others.
  if (!is_contained(groups[group].ranks, rank) || isPosted(rank, group))
    return;
  self.posted.push_back({group, time, duration});
  if (self.started + 1 == self.posted.size())
    noteNext(rank);
}

void TiedSums::noteNext(unsigned rank) {
  const Rank &self = ranks[rank];
  if (self.started == self.posted.size())
    return;
  unsigned group = self.posted[self.started].group;
  if (++groups[group].ready == groups[group].ranks.size())
    start(group);
}

void TiedSums::start(unsigned number) {
  Group &group = groups[number];
  int64_t end = 0;
  for (unsigned rank : group.ranks) {
    const Rank &self = ranks[rank];
    const Posted &step = self.posted[self.started];
    end = std::max(end, std::max(step.time, self.free) + step.duration);
  }
  group.end = end;
  for (unsigned rank : group.ranks) {
    Rank &self = ranks[rank];
    self.free = end;
    ++self.started;
    if (std::exchange(self.stopped, false))
      released.push_back(rank);
  }
  for (unsigned rank : group.ranks)
    noteNext(rank);
}

std::optional<unsigned> TiedSums::missing(unsigned rank, unsigned stage) const {
  for (unsigned group : ofStage[stage])
    if (!groups[group].end && is_contained(groups[group].ranks, rank))
      return group;
  return std::nullopt;
}

bool TiedSums::isPosted(unsigned rank, unsigned group) const {
  return any_of(ranks[rank].posted,
                [&](const Posted &step) { return step.group == group; });
}

std::optional<int64_t> TiedSums::end(unsigned rank, unsigned stage) {
  if (missing(rank, stage)) {
    ranks[rank].stopped = true;
    return std::nullopt;
  }
  int64_t end = 0;
  for (unsigned group : ofStage[stage])
    if (is_contained(groups[group].ranks, rank))
      end = std::max(end, *groups[group].end);
  return end;
}

} // namespace pipec
