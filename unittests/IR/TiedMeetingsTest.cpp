//===- TiedMeetingsTest.cpp - The sums of tied gradients ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/TiedMeetings.h"

#include "Waiting/RandomSchedules.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

/// The groups that meet, by repeatedly looking for one that is next on all of
/// its ranks.
std::vector<unsigned> naiveMeetings(const Schedule &schedule) {
  std::vector<std::vector<unsigned>> queues(schedule.numRanks);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (Step step : schedule.ranks[rank])
      if (step.stream() == Stream::Tied)
        queues[rank].push_back(step.stage());
  std::vector<unsigned> met;
  for (bool again = true; again;) {
    again = false;
    for (unsigned group = 0; group != schedule.ties.size(); ++group) {
      std::vector<unsigned> ranks = schedule.tiedRanks(group);
      if (!all_of(ranks, [&](unsigned rank) {
            return !queues[rank].empty() && queues[rank].front() == group;
          }))
        continue;
      for (unsigned rank : ranks)
        queues[rank].erase(queues[rank].begin());
      met.push_back(group);
      again = true;
    }
  }
  sort(met);
  return met;
}

} // namespace

TEST(TiedMeetings, AreAsDefined) {
  Rng rng(31);
  unsigned all = 0, some = 0;
  for (unsigned round = 0; round != 2000; ++round) {
    Schedule schedule;
    schedule.numRanks = 2 + pick(rng, 3);
    schedule.numStages = schedule.numRanks + pick(rng, 3);
    schedule.numUnits = 1;
    schedule.ranks.resize(schedule.numRanks);
    std::vector<uint32_t> map;
    for (unsigned stage = 0; stage != schedule.numStages; ++stage)
      map.push_back(stage % schedule.numRanks);
    schedule.placement = Placement({map});
    for (unsigned n = 1 + pick(rng, 3); n != 0; --n) {
      std::vector<unsigned> group;
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        if (oneIn(rng, 2))
          group.push_back(stage);
      if (group.size() >= 2)
        schedule.ties.push_back(group);
    }
    for (unsigned group = 0; group != schedule.ties.size(); ++group)
      for (unsigned rank : schedule.tiedRanks(group))
        if (!oneIn(rng, 12))
          schedule.ranks[rank].push_back(Step(StepKind::ReduceTied, group, 0));
    for (StepList &list : schedule.ranks)
      if (oneIn(rng, 3))
        std::shuffle(list.begin(), list.end(), rng);

    TiedMeetings meetings(schedule);
    std::vector<unsigned> met = meetings.order().vec();
    sort(met);
    EXPECT_EQ(met, naiveMeetings(schedule));
    unsigned named = 0;
    for (unsigned group = 0; group != schedule.ties.size(); ++group)
      named += !meetings.steps(group).empty();
    EXPECT_EQ(meetings.allMeet(), met.size() == named);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      StepRef head = meetings.head(rank);
      if (head.isValid()) {
        EXPECT_FALSE(
            is_contained(met, schedule.ranks[rank][head.index].stage()));
      }
    }
    ++(meetings.allMeet() ? all : some);
  }
  EXPECT_GT(all, 500u);
  EXPECT_GT(some, 300u);
}
