//===- OwedWeightsTest.cpp - OwedWeights against a linear search ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/OwedWeights.h"
#include "Waiting/RandomSchedules.h"

#include "gtest/gtest.h"

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(OwedWeights, TakesTheOldestThatFits) {
  Rng rng(21);
  unsigned taken = 0, refused = 0;
  for (unsigned round = 0; round != 300; ++round) {
    std::vector<int64_t> costs;
    for (int64_t cost = 0, n = 1 + pick(rng, 9); n != 0; --n)
      costs.push_back(cost += 1 + pick(rng, 3));
    std::shuffle(costs.begin(), costs.end(), rng);
    OwedWeights owed(costs);
    // Oldest first.
    std::vector<std::pair<Step, int64_t>> all;
    for (unsigned m = 0; m != 60; ++m) {
      if (oneIn(rng, 2)) {
        int64_t cost = costs[pick(rng, costs.size())];
        all.push_back({Step(StepKind::W, 0, m), cost});
        owed.add(all.back().first, cost);
        continue;
      }
      int64_t limit = pick(rng, 30);
      auto fits = llvm::find_if(
          all, [&](const auto &one) { return one.second <= limit; });
      Step step;
      int64_t cost = 0;
      ASSERT_EQ(owed.take(limit, step, cost), fits != all.end());
      if (fits == all.end()) {
        ++refused;
        continue;
      }
      ASSERT_EQ(step.unit(), fits->first.unit());
      ASSERT_EQ(cost, fits->second);
      all.erase(fits);
      ++taken;
    }
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(OwedWeights, NothingIsOwedWithoutCosts) {
  OwedWeights owed;
  Step step;
  int64_t cost;
  EXPECT_FALSE(owed.take(100, step, cost));
}

} // namespace
