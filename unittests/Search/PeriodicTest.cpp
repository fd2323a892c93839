//===- PeriodicTest.cpp - Words whose middle repeats ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Periodic.h"
#include "Search/RandomProblems.h"

#include "gtest/gtest.h"

using namespace pipec::search;
using namespace pipec::test;

/// The blocks of every rank repeat, and the words are valid and as fast as they
/// are said to be.
static void check(const Problem &problem, const Periodic &periodic) {
  const Words &words = periodic.found.words;
  ASSERT_TRUE(problem.isValid(words));
  ASSERT_EQ(Timing(problem).run(words), periodic.found.makespan);
  ASSERT_GE(periodic.copies, 2u);
  size_t size = periodic.batch * problem.numLetters();
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    auto begin = words[rank].begin() + periodic.begins[rank];
    ASSERT_LE(begin + size * periodic.copies, words[rank].end());
    for (uint32_t copy = 1; copy != periodic.copies; ++copy)
      ASSERT_TRUE(std::equal(begin, begin + size, begin + copy * size));
  }
}

TEST(Periodic, GrownWordsAreValid) {
  Random random(31);
  ProblemLimits limits;
  limits.microbatches = 6;
  limits.steps = 200;
  unsigned grown = 0;
  for (unsigned round = 0; round != 60; ++round) {
    Problem small = randomProblem(random, limits);
    Problem problem =
        withMicrobatches(small, small.microbatches + 1 + random.below(9));
    SearchOptions options;
    options.work = workPerEffort / 300;
    SearchResult result = search(small, {}, options);
    PeriodFinder finder(problem);
    Budget budget(workPerEffort);
    finder.grow(small, result.best.words, budget);
    if (!finder.best())
      continue;
    ++grown;
    check(problem, *finder.best());
  }
  EXPECT_GE(grown, 50u);
}

TEST(Periodic, SearchFindsBlocks) {
  Random random(32);
  ProblemLimits limits;
  limits.microbatches = 8;
  limits.steps = 200;
  for (unsigned round = 0; round != 20; ++round) {
    Problem problem = withMicrobatches(randomProblem(random, limits), 20);
    SearchOptions options;
    options.work = workPerEffort / 100;
    SearchResult result = search(problem, {}, options);
    auto periodic =
        searchPeriodic(problem, result.best, {}, result.bound, options);
    ASSERT_TRUE(periodic) << round;
    check(problem, *periodic);
    ASSERT_GE(periodic->found.makespan, result.bound) << round;
  }
}

/// Words that repeat already are kept as they are.
TEST(Periodic, TakesWordsThatRepeat) {
  Problem problem;
  problem.ranks = problem.chunks = 1;
  problem.microbatches = 10;
  problem.map = {0};
  problem.stages = {{{1, 1, 1}, 0, 1}};
  problem.caps = {2};
  problem.finish();
  Words words(1);
  words[0] = {0};
  for (unsigned i = 0; i != 9; ++i)
    words[0].insert(words[0].end(), {1, 0, 2});
  words[0].insert(words[0].end(), {1, 2});
  ASSERT_TRUE(problem.isValid(words));
  PeriodFinder finder(problem);
  Budget budget(workPerEffort);
  finder.take(words, budget);
  ASSERT_TRUE(finder.best());
  EXPECT_EQ(finder.best()->found.words, words);
  EXPECT_EQ(finder.best()->copies, 9u);
  EXPECT_EQ(finder.best()->batch, 1u);
}

TEST(Periodic, OneMicrobatchHasNoBlocks) {
  Random random(33);
  Problem problem = withMicrobatches(randomProblem(random, {}), 1);
  SearchOptions options;
  options.work = workPerEffort / 300;
  SearchResult result = search(problem, {}, options);
  EXPECT_FALSE(searchPeriodic(problem, result.best, {}, result.bound, options));
}
