//===- CostGridTest.cpp - Figures with many digits ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/Settings.h"

#include "gtest/gtest.h"

#include <random>

using namespace pipec;

static Rational number(const char *text) { return *Rational::parse(text); }

/// The grid of these forwards.
static std::optional<Rational> roundedTo(std::vector<Rational> times) {
  CostSettings costs;
  for (unsigned stage = 0; stage != times.size(); ++stage)
    costs.set(Figure::F, times[stage], {FigureScope::Stage, stage});
  CostRounding rounding;
  roundCosts(costs, rounding);
  return rounding.times;
}

TEST(CostGrid, WhatHasFewDigitsIsExact) {
  EXPECT_FALSE(roundedTo({}));
  EXPECT_FALSE(roundedTo({0}));
  EXPECT_FALSE(roundedTo({number("13.132"), number("0.3645")}));
  EXPECT_FALSE(roundedTo({number("1/3"), number("2/7"), number("5/11")}));
  EXPECT_FALSE(roundedTo({number("0.12345678")}));
  // Integers of any size.
  EXPECT_FALSE(roundedTo({std::numeric_limits<int64_t>::max(), 1}));
}

TEST(CostGrid, TheGridSuitsTheLargest) {
  EXPECT_EQ(roundedTo({number("1.8399999999999999")}), number("0.000001"));
  EXPECT_EQ(roundedTo({number("13.132000000000001"), number("0.1")}),
            number("0.00001"));
  EXPECT_EQ(roundedTo({number("1/99999999977"), number("3.5")}),
            number("0.000001"));
  EXPECT_EQ(roundedTo({number("123456789.5")}), Rational(1));
  // Denominators whose common one does not fit.
  EXPECT_EQ(roundedTo({number("1/4294967291"), number("1/4294967279"), 1}),
            number("0.0000001"));
}

TEST(CostGrid, DecimalsAreKept) {
  CostSettings costs;
  costs.set(Figure::F, number("1.8399999999999999"));
  costs.set(Figure::B, number("3.3000000000000003"));
  costs.set(Figure::P2P, number("0.000000000001"), {FigureScope::Edge, 0, 1});
  costs.set(Figure::Factor, number("1.1"), {FigureScope::Rank, 0});
  costs.overlaps.push_back({{StepKind::F, StepKind::B}, number("5.0")});
  CostRounding rounding;
  roundCosts(costs, rounding);
  EXPECT_EQ(costs.get(Figure::F), number("1.84"));
  EXPECT_EQ(costs.get(Figure::B), number("3.3"));
  EXPECT_EQ(costs.onEdge(Figure::P2P, 0, 1), Rational(0));
  EXPECT_EQ(costs.get(Figure::Factor, {FigureScope::Rank, 0}), number("1.1"));
  EXPECT_EQ(costs.overlaps[0].cost, Rational(5));
  ASSERT_EQ(rounding.vanished.size(), 1u);
  EXPECT_EQ(rounding.vanished[0].figure, "`p2p` of edge 0 -> 1");
}

TEST(CostGrid, FactorsHaveAGridOfTheirOwn) {
  CostSettings costs;
  costs.set(Figure::Factor, number("1.1000000000000001"),
            {FigureScope::Rank, 0});
  costs.set(Figure::Factor, number("0.9"), {FigureScope::Microbatch, 0});
  CostRounding rounding;
  roundCosts(costs, rounding);
  EXPECT_FALSE(rounding.times);
  EXPECT_EQ(rounding.factors, number("0.001"));
  EXPECT_EQ(costs.get(Figure::Factor, {FigureScope::Rank, 0}), number("1.1"));
  EXPECT_EQ(costs.get(Figure::Factor, {FigureScope::Microbatch, 0}),
            number("0.9"));
}

TEST(CostGrid, RoundingTwiceIsRoundingOnce) {
  std::mt19937_64 random(1);
  for (unsigned run = 0; run != 1000; ++run) {
    CostSettings costs;
    int64_t scale = 1;
    for (unsigned digits = random() % 18; digits; --digits)
      scale *= 10;
    for (unsigned stage = 0; stage != 6; ++stage)
      costs.set(Figure::F,
                *Rational::make(random() >> (random() % 30 + 1), scale),
                {FigureScope::Stage, stage});
    CostRounding first, second;
    roundCosts(costs, first);
    CostSettings once = costs;
    roundCosts(costs, second);
    EXPECT_FALSE(second.any());
    EXPECT_EQ(once, costs);
  }
}

TEST(CostGrid, SizesStayBalanced) {
  MemorySettings memory;
  memory.set(Figure::LiveF, number("0.33333333333333331"));
  memory.set(Figure::LiveI, number("-0.16666666666666666"));
  memory.set(Figure::LiveW, number("-0.16666666666666665"));
  CostRounding rounding;
  roundSizes(memory, rounding);
  ASSERT_TRUE(rounding.sizes);
  auto sum =
      Rational::add(*memory.get(Figure::LiveF), *memory.get(Figure::LiveI));
  EXPECT_EQ(Rational::add(*sum, *memory.get(Figure::LiveW)), Rational(0));
  // Bytes are not rounded, nor are their thirds.
  MemorySettings bytes;
  bytes.set(Figure::LiveF, number("40000000000/3"));
  CostRounding none;
  roundSizes(bytes, none);
  EXPECT_FALSE(none.any());
}
