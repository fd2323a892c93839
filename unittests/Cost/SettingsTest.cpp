//===- SettingsTest.cpp - Costs that were not given -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/CostUse.h"

#include "gtest/gtest.h"

using namespace pipec;

static Rational fraction(int64_t numerator, int64_t denominator) {
  return *Rational::make(numerator, denominator);
}

/// The costs of F, B, I and W of a stage, and what was assumed of them.
static void expectCosts(const CostSettings &costs, unsigned stage,
                        std::optional<unsigned> rank,
                        std::array<Rational, 4> expected,
                        const std::string &assumed) {
  for (unsigned kind = 0; kind != 4; ++kind)
    EXPECT_EQ(costs.of(StepKind(kind), stage, rank), expected[kind])
        << assumed << ": " << stepKindName(StepKind(kind)).str();
  CostUse use;
  use.add({stage, rank, 15});
  EXPECT_EQ(AssumedCosts(costs, use).text(), assumed);
}

TEST(Costs, TheRuleForCostsThatAreNotGiven) {
  struct Row {
    std::vector<FigureRow::Entry> given;
    std::array<Rational, 4> costs;
    const char *assumed;
  };
  using enum Figure;
  const Row rows[] = {
      {{}, {1, 2, 1, 1}, ""},
      {{{F, 3}, {B, 5}, {I, 2}, {W, 4}}, {3, 5, 2, 4}, ""},
      {{{F, 3}}, {3, 6, 3, 3}, "B is 2 F, I and W are as long as F"},
      {{{F, 3}, {B, 5}},
       {3, 5, fraction(5, 2), fraction(5, 2)},
       "I and W are half of B"},
      {{{B, 5}},
       {fraction(5, 2), 5, fraction(5, 2), fraction(5, 2)},
       "F, I and W are half of B"},
      {{{F, 3}, {B, 5}, {I, 2}}, {3, 5, 2, 3}, "W is B - I"},
      {{{F, 3}, {B, 5}, {W, 2}}, {3, 5, 3, 2}, "I is B - W"},
      {{{F, 3}, {B, 5}, {W, 5}}, {3, 5, fraction(5, 2), 5}, "I is half of B"},
      {{{F, 3}, {I, 2}, {W, 4}}, {3, 6, 2, 4}, "B is I + W"},
      {{{F, 3}, {I, 2}}, {3, 4, 2, 2}, "B is I + W, W is as long as I"},
      {{{F, 3}, {W, 2}}, {3, 4, 2, 2}, "B is I + W, I is as long as W"},
      {{{I, 2}, {W, 4}}, {3, 6, 2, 4}, "F is half of I + W, B is I + W"},
      {{{B, 0}}, {0, 0, 0, 0}, "F, I and W are half of B"},
  };
  for (const Row &row : rows) {
    CostSettings costs;
    for (auto [figure, value] : row.given)
      costs.set(figure, value);
    expectCosts(costs, 0, std::nullopt, row.costs, row.assumed);
  }
}

TEST(Costs, ScopesAreResolvedFirst) {
  CostSettings costs;
  costs.set(Figure::F, 1);
  costs.set(Figure::B, 4);
  costs.set(Figure::B, 6, {FigureScope::Stage, 1});
  costs.set(Figure::I, 1, {FigureScope::Stage, 1});
  costs.set(Figure::B, 8, {FigureScope::Rank, 3});
  expectCosts(costs, 0, std::nullopt, {1, 4, 2, 2}, "I and W are half of B");
  expectCosts(costs, 1, std::nullopt, {1, 6, 1, 5}, "W is B - I");
  expectCosts(costs, 1, 3, {1, 8, 1, 7}, "W is B - I");
  expectCosts(costs, 0, 3, {1, 8, 4, 4}, "I and W are half of B");
}

TEST(Costs, OnlyUsedKindsAreAssumed) {
  CostSettings costs;
  costs.set(Figure::F, 1);
  costs.set(Figure::B, 2);
  CostUse whole(4, 0b0011), split(4, 0b1101);
  EXPECT_TRUE(AssumedCosts(costs, whole).empty());
  AssumedCosts assumed(costs, split);
  EXPECT_EQ(assumed.kindsText(), "I and W");
  EXPECT_TRUE(assumed.has(StepKind::I));
  EXPECT_FALSE(assumed.has(StepKind::B));
}

TEST(Costs, WhatDoesNotFit) {
  CostSettings costs;
  costs.set(Figure::F, std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(costs.of(StepKind::B, 0));
  EXPECT_TRUE(costs.of(StepKind::I, 0));
}
