//===- StepPlacesTest.cpp - Positions in messages -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/StepPlaces.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;

namespace {

TEST(StepPlaces, CountsLines) {
  Schedule schedule;
  schedule.numRanks = 2;
  schedule.numStages = 2;
  schedule.numUnits = 5000;
  schedule.placement = Placement({{0, 1}});
  schedule.ranks.resize(2);
  // Lines of one, two and three steps alternate.
  for (unsigned m = 0; m != 5000; ++m)
    schedule.ranks[1].push_back(
        Step(StepKind::F, 1, m, 0, {}, m % 6 == 1 || m % 6 == 3 || m % 6 == 4));
  StepPlaces places(schedule);
  auto expected = [](unsigned m) {
    static constexpr unsigned inSix[] = {0, 1, 1, 2, 2, 2};
    return m / 6 * 3 + inSix[m % 6];
  };
  // Lookups in any order.
  for (unsigned i = 0; i != 5000; ++i) {
    unsigned m = i * 1237 % 5000;
    ASSERT_EQ(places.position(1, m), expected(m)) << m;
  }
  std::string text;
  raw_string_ostream(text) << places.name(1, 4);
  EXPECT_EQ(text, "rank 1 step 2, `F s1 m4`");
  EXPECT_EQ(places.text(Step(StepKind::SendF, 0, 3)), "SEND_F s0 m3 -> r1");
  EXPECT_EQ(places.text(Step()), "bubble");
}

} // namespace
