//===- WaitingTest.cpp - Waiting against all interleavings ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/Waiting.h"
#include "Verify/Verifier.h"
#include "Waiting/RandomSchedules.h"
#include "Waiting/WaitingSearch.h"

#include "gtest/gtest.h"

#include <map>

using namespace pipec;
using namespace pipec::test;

/// A schedule that is small enough to try all interleavings.
static Schedule smallTransfers(Rng &rng) {
  while (true) {
    Schedule schedule = randomTransfers(rng, /*size=*/3, /*maxErrors=*/5);
    if (countP2P(schedule) <= 24)
      return schedule;
  }
}

/// Inserts waits for some of the sends of `schedule` anywhere in their lists,
/// most of them after the send.
static void addWaits(Rng &rng, Schedule &schedule) {
  for (StepList &list : schedule.ranks) {
    StepList old = list;
    for (size_t i = 0; i != old.size(); ++i) {
      if (!isSend(old[i].kind()) || oneIn(rng, 3))
        continue;
      Step wait(waitOfSend(old[i].kind()), old[i].stage(), old[i].unit());
      size_t send = 0;
      while (!list[send].sameAction(old[i]))
        ++send;
      size_t from = oneIn(rng, 8) ? 0 : send + 1;
      size_t at = from + pick(rng, unsigned(list.size() - from + 1));
      // Not into a group.
      while (at != 0 && list[at - 1].joined())
        ++at;
      list.insert(list.begin() + at, wait);
    }
  }
}

/// Checks that the edges form a cycle, and that the analysis reports each of
/// them.
static void expectRealCycle(const Waiting &waiting,
                            const std::vector<WaitEdge> &cycle) {
  for (size_t i = 0; i != cycle.size(); ++i) {
    EXPECT_EQ(cycle[i].target, cycle[(i + 1) % cycle.size()].step);
    bool found = false;
    waiting.forEachWait(cycle[i].step, [&](const WaitEdge &edge) {
      found |= edge.target == cycle[i].target && edge.what == cycle[i].what &&
               edge.reason == cycle[i].reason;
    });
    EXPECT_TRUE(found);
  }
}

/// The length of a shortest cycle by a search from every step; 0 if there is
/// none.
static size_t shortestByTrying(const Waiting &waiting) {
  size_t best = 0;
  uint32_t n = waiting.numbers().size();
  for (uint32_t start = 0; start != n; ++start) {
    std::vector<size_t> distance(n, 0);
    std::vector<uint32_t> queue = {start};
    for (size_t i = 0; i != queue.size(); ++i)
      waiting.forEachWait(queue[i], [&](const WaitEdge &edge) {
        if (distance[edge.target])
          return;
        distance[edge.target] = (i == 0 ? 0 : distance[queue[i]]) + 1;
        queue.push_back(edge.target);
      });
    if (distance[start] && (best == 0 || distance[start] < best))
      best = distance[start];
  }
  return best;
}

/// True if all transfers exist, are in the right places, and are not in
/// batches.
static bool isPlain(const Schedule &schedule) {
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.joined() && isP2P(step.kind()))
        return false;
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  return succeeded(verify(schedule, VerifyLevel::Placed, diags));
}

// For thousands of schedules: every order of events leads to the same outcome,
// which is that of the analysis.
TEST(Waiting, EqualsAllInterleavings) {
  Rng rng(20240601);
  unsigned compared = 0, blocked = 0, withCycle = 0, quickly = 0;
  unsigned heldByWaits = 0;
  std::map<std::pair<WaitModel, WaitModel>, unsigned> separated;
  for (unsigned round = 0; round != 4000; ++round) {
    Schedule schedule = smallTransfers(rng);
    bool waits = oneIn(rng, 2);
    if (waits)
      addWaits(rng, schedule);
    Transfers transfers(schedule);
    WaitOutcomes ends;
    bool quick = endsWithBlockingTransfers(schedule);
    quickly += quick;
    ASSERT_TRUE(!quick || transfers.sound()) << listing(schedule);
    for (WaitModel model : allWaitModels) {
      Waiting waiting(schedule, transfers, model);
      std::string where = waitModelName(model).str() + "\n" + listing(schedule);
      ends[model] = waiting.ends();
      ASSERT_TRUE(waiting.ends() || !quick) << where;
      // Without batches, the fast check accepts every correct schedule.
      ASSERT_TRUE(quick || model != WaitModel::Stream || !waiting.ends() ||
                  !isPlain(schedule))
          << where;

      std::vector<WaitEdge> cycle = findShortestCycle(waiting);
      expectRealCycle(waiting, cycle);
      ASSERT_EQ(cycle.size(), shortestByTrying(waiting)) << where;
      ASSERT_TRUE(!waiting.ends() || cycle.empty()) << where;
      ASSERT_TRUE(waiting.ends() || !cycle.empty() ||
                  !findDeadEnd(waiting).empty())
          << where;
      // If every transfer has both ends, only a cycle can block the schedule.
      ASSERT_TRUE(waiting.ends() || !cycle.empty() ||
                  !transfers.unmatched().empty())
          << where;
      withCycle += !cycle.empty();

      auto outcomes = allOutcomes(schedule, model, 3000);
      if (!outcomes)
        continue;
      ++compared;
      ASSERT_EQ(outcomes->size(), 1u) << where;
      ASSERT_EQ(waiting.blockedRanks(), outcomes->begin()->blocked) << where;
      for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
        ASSERT_EQ(waiting.standsAt(rank), outcomes->begin()->at[rank]) << where;
      ASSERT_EQ(waiting.ends(), outcomes->begin()->blocked.empty()) << where;
      blocked += !waiting.ends();
      heldByWaits += waits && !waiting.ends();
    }
    WaitOutcomes found = endsUnder(schedule, transfers);
    for (WaitModel a : allWaitModels) {
      ASSERT_EQ(found[a], ends[a]) << listing(schedule);
      for (WaitModel b : allWaitModels) {
        ASSERT_TRUE(!implies(a, b) || !ends[a] || ends[b])
            << waitModelName(a).str() << " " << waitModelName(b).str() << "\n"
            << listing(schedule);
        separated[{a, b}] += ends[a] && !ends[b];
      }
    }
  }
  // No other model implies another one.
  for (WaitModel a : allWaitModels)
    for (WaitModel b : allWaitModels)
      EXPECT_TRUE(implies(a, b) || separated.at(std::pair(a, b)) != 0)
          << waitModelName(a).str() << " " << waitModelName(b).str();
  // Both verdicts must be frequent enough for the test to be meaningful.
  EXPECT_GT(compared, 9000u);
  EXPECT_GT(blocked, 2000u);
  EXPECT_GT(withCycle, 1500u);
  EXPECT_GT(quickly, 500u);
  EXPECT_GT(heldByWaits, 500u);
}
