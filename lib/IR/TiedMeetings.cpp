//===- TiedMeetings.cpp - The sums of tied gradients ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/TiedMeetings.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

TiedMeetings::TiedMeetings(const Schedule &schedule,
                           const PresentRanks &present)
    : byGroup(schedule.ties.size()), byRank(schedule.ranks.size()),
      heads(schedule.ranks.size()) {
  if (schedule.ties.empty())
    return;
  for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank)
    for (const auto &[index, step] : enumerate(schedule.ranks[rank])) {
      if (step.stream() != Stream::Tied ||
          !schedule.holdsTied(rank, step.stage()))
        continue;
      SmallVector<StepRef, 2> &group = byGroup[step.stage()];
      if (!group.empty() && group.back().rank == rank)
        continue;
      group.push_back({rank, uint32_t(index)});
      byRank[rank].push_back(group.back());
    }

  // By group, the number of ranks that do not have it as their next one.
  std::vector<size_t> missing(byGroup.size());
  std::vector<unsigned> ready;
  auto stepAt = [&](StepRef ref) {
    return schedule.ranks[ref.rank][ref.index];
  };
  auto advance = [&](unsigned rank) {
    if (heads[rank] == byRank[rank].size())
      return;
    unsigned group = stepAt(byRank[rank][heads[rank]]).stage();
    if (--missing[group] == 0)
      ready.push_back(group);
  };
  for (unsigned group = 0; group != byGroup.size(); ++group) {
    if (byGroup[group].empty())
      continue;
    ++numGroups;
    missing[group] = count_if(schedule.tiedRanks(group), [&](unsigned rank) {
      return present.contains(rank);
    });
  }
  for (unsigned rank = 0; rank != byRank.size(); ++rank)
    advance(rank);
  while (!ready.empty()) {
    unsigned group = ready.back();
    ready.pop_back();
    met.push_back(group);
    for (StepRef step : byGroup[group]) {
      ++heads[step.rank];
      advance(step.rank);
    }
  }
}

StepRef TiedMeetings::head(unsigned rank) const {
  return heads[rank] == byRank[rank].size() ? StepRef()
                                            : byRank[rank][heads[rank]];
}

} // namespace pipec
