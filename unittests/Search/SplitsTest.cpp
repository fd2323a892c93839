//===- SplitsTest.cpp - The ways to cut layers into stages ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Splits.h"
#include "Search/Random.h"
#include "Search/Search.h"

#include "gtest/gtest.h"

#include <set>

using namespace pipec::search;

namespace {

constexpr size_t noLimit = size_t(1) << 20;

/// A space with random times, some of which are 0, that may differ by rank.
SplitSpace randomSpace(Random &random) {
  SplitSpace space;
  space.ranks = 1 + random.below(3);
  unsigned chunks = 1 + random.below(2);
  space.microbatches = 1 + random.below(4);
  space.split = random.chance(50);
  space.map = placementMap(random.chance(50), space.ranks, chunks);
  unsigned layers = space.numStages() + random.below(4);
  bool differ = random.chance(30);
  for (unsigned i = 0; i != layers * space.ranks; ++i) {
    LayerTimes times = {Ticks(random.below(5)), Ticks(random.below(5)), 0};
    times.all = times.forward + times.backward +
                (space.split ? Ticks(random.below(4)) : 0);
    space.layers.push_back(i < layers || differ ? times
                                                : space.layers[i - layers]);
  }
  for (unsigned stage = 0; stage != space.numStages(); ++stage) {
    auto hop = [&](bool exists, unsigned other) {
      return exists && space.map[stage] != space.map[other]
                 ? Ticks(random.below(3))
                 : 0;
    };
    space.hopF.push_back(hop(stage != 0, stage - 1));
    space.hopI.push_back(hop(stage + 1 != space.numStages(), stage + 1));
  }
  return space;
}

/// The problem of a split, without a limit of memory.
Problem problemOf(const SplitSpace &space, const SplitQueue::Split &split) {
  Problem problem;
  problem.ranks = space.ranks;
  problem.chunks = space.numStages() / space.ranks;
  problem.microbatches = space.microbatches;
  problem.split = space.split;
  problem.map = space.map;
  unsigned layer = 0;
  for (unsigned stage = 0; stage != split.size(); ++stage) {
    StageFigures figures;
    for (unsigned end = layer + split[stage]; layer != end; ++layer) {
      const LayerTimes &times =
          space.layers[space.map[stage] * space.numLayers() + layer];
      figures.time[LetterF] += times.forward;
      figures.time[LetterI] += times.backward;
      figures.time[LetterW] += times.all - times.forward - times.backward;
    }
    if (stage)
      problem.edges.push_back(
          {stage - 1, stage, space.hopF[stage], space.hopI[stage - 1]});
    problem.stages.push_back(figures);
  }
  problem.caps.assign(space.ranks, 0);
  problem.finish();
  return problem;
}

size_t binomial(size_t n, size_t k) {
  size_t result = 1;
  for (size_t i = 1; i <= k; ++i)
    result = result * (n - k + i) / i;
  return result;
}

} // namespace

TEST(Splits, AreAllListedOnceByTheirBounds) {
  Random random(1);
  for (unsigned run = 0; run != 200; ++run) {
    SplitSpace space = randomSpace(random);
    SplitQueue queue(space, noLimit);
    std::set<SplitQueue::Split> seen;
    Ticks last = 0;
    while (std::optional<Ticks> bound = queue.bound()) {
      EXPECT_GE(*bound, last);
      last = *bound;
      std::optional<SplitQueue::Split> split = queue.next();
      ASSERT_TRUE(split);
      EXPECT_EQ(split->size(), space.numStages());
      size_t sum = 0;
      for (uint32_t size : *split) {
        EXPECT_GE(size, 1u);
        sum += size;
      }
      EXPECT_EQ(sum, space.numLayers());
      EXPECT_TRUE(seen.insert(*split).second);
    }
    EXPECT_EQ(seen.size(),
              binomial(space.numLayers() - 1, space.numStages() - 1));
  }
}

TEST(Splits, HaveSchedulesThatTakeNoLessThanTheirBounds) {
  Random random(2);
  unsigned tight = 0;
  for (unsigned run = 0; run != 60; ++run) {
    SplitSpace space = randomSpace(random);
    SplitQueue queue(space, noLimit);
    while (std::optional<SplitQueue::Split> split = queue.next()) {
      SplitQueue own(space, noLimit);
      // The bound of a split is that of the queue when it is the next one.
      std::optional<Ticks> bound;
      for (std::optional<SplitQueue::Split> next;;) {
        bound = own.bound();
        next = own.next();
        ASSERT_TRUE(next);
        if (*next == *split)
          break;
      }
      SearchOptions options;
      options.work = workPerEffort / 200;
      SearchResult result = search(problemOf(space, *split), {}, options);
      EXPECT_LE(*bound, result.best.makespan);
      tight += *bound == result.best.makespan;
    }
  }
  EXPECT_GT(tight, 20u);
}

TEST(Splits, KeepABoundWhenThereAreTooMany) {
  Random random(3);
  unsigned ended = 0;
  for (unsigned run = 0; run != 100; ++run) {
    SplitSpace space = randomSpace(random);
    SplitQueue all(space, noLimit), some(space, 12);
    while (std::optional<SplitQueue::Split> split = some.next())
      EXPECT_EQ(split, all.next());
    EXPECT_EQ(some.bound().has_value(), all.bound().has_value());
    if (!some.bound())
      continue;
    ++ended;
    // No split that is left has a smaller bound.
    (void)all.next();
    if (std::optional<Ticks> next = all.bound()) {
      EXPECT_LE(*some.bound(), *next);
    }
  }
  EXPECT_GT(ended, 10u);
}
