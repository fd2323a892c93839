//===- SteadyTest.cpp - Blocks against the words that repeat them ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Steady.h"

#include "Search/Blocks.h"
#include "Search/Periodic.h"
#include "Search/RandomProblems.h"

#include "gtest/gtest.h"

using namespace pipec::search;
using namespace pipec::test;

/// The words of a block are valid for any number of micro-batches, and each
/// further block takes its period.
TEST(Steady, BlocksRepeatWithTheirPeriod) {
  Random random(41);
  ProblemLimits limits;
  limits.moreTakers = 20;
  unsigned better = 0;
  for (unsigned round = 0; round != 120; ++round) {
    Problem problem = withMicrobatches(randomProblem(random, limits), 40);
    Ticks all = 0;
    for (unsigned rank = 0; rank != problem.ranks; ++rank)
      all += problem.work(rank) / problem.microbatches;
    BlockSearch blocks(problem, round);
    Budget few(workPerEffort / 2000);
    blocks.run(few, 0);
    for (uint32_t batch = 1; batch <= 3; ++batch) {
      SteadySearch search(problem, batch, round);
      Budget budget(workPerEffort / 1000);
      search.offerFrom(blocks.best().words, budget);
      if (search.best().ranks.empty())
        continue;
      Ticks first = search.best().period;
      search.run(budget);
      const SteadyBlock &block = search.best();
      ASSERT_LE(block.period, first) << round;
      better += block.period < first;
      Ticks makespans[2];
      for (unsigned i : {0, 1}) {
        Problem run = withMicrobatches(problem, 40 + i * 60 * batch);
        Words words = wordsOfBlock(run, block);
        ASSERT_TRUE(run.isValid(words)) << round;
        Timing timing(run);
        std::optional<Ticks> makespan = timing.run(words);
        ASSERT_TRUE(makespan.has_value()) << round;
        makespans[i] = *makespan;
      }
      // 60 blocks more, but for what the first ones settle.
      Ticks grown = (makespans[1] - makespans[0]) * 16;
      ASSERT_LE(grown, block.period * 60 + 16 * all) << round;
      ASSERT_GE(grown, block.period * 60 - 16 * (all * 3 + 60)) << round;
      // The same steady state in larger blocks.
      SteadyBlock twice = repeated(block, 2);
      ASSERT_EQ(wordsOfBlock(problem, twice), wordsOfBlock(problem, block));
    }
  }
  EXPECT_GE(better, 2u);
}
