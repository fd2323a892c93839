//===- SearchTest.cpp - What a search promises ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Search.h"
#include "Search/Anneal.h"
#include "Search/Prover.h"
#include "Search/RandomProblems.h"

#include "gtest/gtest.h"

using namespace pipec::search;
using namespace pipec::test;

static ProblemLimits middling() {
  ProblemLimits limits;
  limits.ranks = 4;
  limits.microbatches = 8;
  limits.steps = 200;
  limits.figures = 20;
  return limits;
}

static SearchResult shortSearch(const Problem &problem, unsigned threads = 1,
                                const std::vector<Words> &starts = {}) {
  SearchOptions options;
  options.work = workPerEffort / 30;
  options.threads = threads;
  return search(problem, starts, options);
}

TEST(Search, ResultDoesNotDependOnThreads) {
  Random random(5);
  for (unsigned round = 0; round != 12; ++round) {
    Problem problem = randomProblem(random, middling());
    SearchResult one = shortSearch(problem), three = shortSearch(problem, 3);
    EXPECT_EQ(one.best.words, three.best.words) << round;
    EXPECT_EQ(one.bound, three.bound) << round;
  }
}

TEST(Search, ResultIsNotWorseThanAnyStart) {
  Random random(6);
  for (unsigned round = 0; round != 20; ++round) {
    Problem problem = randomProblem(random, middling());
    SearchResult first = shortSearch(problem);
    SearchOptions options;
    options.work = 1;
    options.seed = 77;
    EXPECT_LE(search(problem, {first.best.words}, options).best.makespan,
              first.best.makespan);
  }
}

TEST(Search, MoreMemoryHasNoLargerBound) {
  Random random(8);
  for (unsigned round = 0; round != 20; ++round) {
    Problem problem = randomProblem(random, middling());
    Problem larger = problem;
    for (Ticks &cap : larger.caps)
      ++cap;
    Refuter tight(problem), loose(larger);
    Ticks makespan = shortSearch(problem).best.makespan;
    Budget budget(workPerEffort), other(workPerEffort);
    tight.raise(makespan, budget);
    loose.raise(makespan, other);
    EXPECT_LE(loose.bound(), tight.bound()) << round;
  }
}

/// Without the orders of W nothing is refuted that some schedule has, and more
/// than without any order.
TEST(Search, OrdersWithoutWRaiseBoundsOfRanksWithManyStates) {
  Problem problem;
  problem.ranks = 8;
  problem.chunks = 2;
  problem.microbatches = 48;
  problem.map = placementMap(/*isV=*/true, 8, 2);
  problem.stages.assign(16, {{10, 11, 8}, 2, 0});
  for (unsigned stage = 0; stage != 15; ++stage)
    problem.edges.push_back({stage, stage + 1, stage != 7, stage != 7});
  problem.caps.assign(8, 22);
  problem.finish();
  ASSERT_FALSE(StateSpace(problem, 0, /*withW=*/true).isListed());
  ASSERT_TRUE(StateSpace(problem, 0, /*withW=*/false).isListed());
  SearchResult found = shortSearch(problem);
  Refuter refuter(problem);
  Budget budget(workPerEffort);
  EXPECT_NE(refuter.tryRefute(found.best.makespan, budget),
            Narrower::Answer::Refuted);
  refuter.raise(found.best.makespan, budget);
  EXPECT_GT(refuter.bound(), simpleBound(problem));
}

/// The orders without W know how much W must have run before an F: they mostly
/// find the same least makespan of one rank as those with W.
TEST(Search, OrdersWithoutWKnowWhatWMustGiveBack) {
  Random random(10);
  unsigned equal = 0, total = 0;
  while (total != 60) {
    Problem problem = randomProblem(random, ProblemLimits());
    if (!problem.split)
      continue;
    ++total;
    Paths paths(problem);
    RankFilter filter(problem);
    Budget budget(~uint64_t(0));
    Ticks least[2];
    for (bool withW : {false, true}) {
      StateSpace states(problem, 0, withW);
      ASSERT_TRUE(states.isListed());
      for (Ticks &trial = least[withW] = paths.longest();; ++trial) {
        StepWindows windows = paths.open(trial);
        if (paths.narrow(windows) &&
            filter.run(0, states, trial, windows, budget) != Filtered::Refuted)
          break;
      }
    }
    EXPECT_LE(least[false], least[true]);
    equal += least[false] == least[true];
  }
  EXPECT_GE(equal, 50u);
}

/// The times that annealing keeps up are those of its words.
TEST(Search, AnnealedWordsHaveTheirMakespan) {
  Random random(9);
  for (unsigned round = 0; round != 60; ++round) {
    Problem problem = randomProblem(random, middling());
    Timing timing(problem);
    Decoder decoder(problem);
    Targets targets;
    targets.inFlight.assign(problem.ranks, problem.microbatches);
    for (uint32_t step = 0; step != problem.numSteps(); ++step)
      targets.times.push_back(random.below(300));
    Found start = {decoder.run(targets), 0};
    start.makespan = *timing.run(start.words);
    Budget budget(1'000'000);
    Found found = Annealer(problem, round).run(start, 20000, 0, budget);
    ASSERT_TRUE(problem.isValid(found.words));
    ASSERT_EQ(timing.run(found.words), found.makespan);
    ASSERT_LE(found.makespan, start.makespan);
  }
}
