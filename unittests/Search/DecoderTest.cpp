//===- DecoderTest.cpp - Words of any targets can run ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Decoder.h"
#include "Search/RandomProblems.h"

#include "gtest/gtest.h"

using namespace pipec::search;
using namespace pipec::test;

/// Lemma 2: a rank that starts an F only in a safe state never waits in vain,
/// whatever the order that is asked for, also with the least room.
TEST(Search, DecoderNeverWaitsInVain) {
  Random random(3);
  ProblemLimits limits;
  limits.ranks = 4;
  limits.chunks = 4;
  limits.microbatches = 9;
  limits.steps = 400;
  limits.spare = 2;
  for (unsigned round = 0; round != 1000; ++round) {
    limits.moreTakers = round < 500 ? 0 : 100;
    Problem problem = randomProblem(random, limits);
    Decoder decoder(problem);
    Timing timing(problem);
    Targets targets;
    targets.times.resize(problem.numSteps());
    for (unsigned run = 0; run != 20; ++run) {
      for (Ticks &time : targets.times)
        time = random.below(200);
      targets.patience = random.below(20);
      targets.hold = Targets::Hold(random.below(3));
      targets.inFlight.clear();
      for (unsigned rank = 0; rank != problem.ranks; ++rank)
        targets.inFlight.push_back(1 + random.below(problem.microbatches));
      const Words &words = decoder.run(targets);
      ASSERT_TRUE(problem.isValid(words)) << round;
      ASSERT_TRUE(timing.run(words)) << round;
    }
  }
}
