//===- SearchTest.cpp - What a search promises ----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Search.h"
#include "Search/Anneal.h"
#include "Search/RandomProblems.h"
#include "Search/Refuter.h"

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
