//===- ModelPartsTest.cpp - Cutting one model in different ways -----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/ModelParts.h"

#include "gtest/gtest.h"

#include <limits>

using namespace pipec;

static constexpr StepKind kinds[] = {StepKind::F,       StepKind::B,
                                     StepKind::I,       StepKind::W,
                                     StepKind::Unshard, StepKind::ReduceGrad};

static Rational fraction(int64_t numerator, int64_t denominator) {
  return *Rational::make(numerator, denominator);
}

/// Four parts with general costs; one part is more expensive, one has a B that
/// is not the sum of I and W.
static CostSettings fourParts() {
  CostSettings costs;
  costs.set(Figure::F, 2);
  costs.set(Figure::W, fraction(1, 2));
  costs.set(Figure::Unshard, 3);
  costs.set(Figure::F, 5, {FigureScope::Stage, 0});
  costs.set(Figure::I, 4, {FigureScope::Stage, 0});
  costs.set(Figure::B, 7, {FigureScope::Stage, 3});
  costs.set(Figure::P2P, fraction(1, 3));
  costs.overlaps.push_back({{StepKind::F, StepKind::B}, 3});
  return costs;
}

TEST(ModelParts, TheWholeStaysTheSame) {
  CostSettings costs = fourParts();
  for (unsigned stages : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 12u, 64u}) {
    auto spread = spreadCosts(costs, 4, stages);
    ASSERT_TRUE(spread);
    for (StepKind kind : kinds) {
      Rational before = 0, after = 0;
      for (unsigned part = 0; part != 4; ++part)
        before = *Rational::add(before, *costs.of(kind, part));
      for (unsigned stage = 0; stage != stages; ++stage)
        after = *Rational::add(after, *spread->of(kind, stage));
      EXPECT_EQ(before, after) << stages << stepKindName(kind).str();
    }
  }
}

TEST(ModelParts, StagesHaveWhatLiesInThem) {
  CostSettings costs = fourParts();
  auto halves = spreadCosts(costs, 4, 8);
  ASSERT_TRUE(halves);
  for (StepKind kind : kinds)
    for (unsigned stage = 0; stage != 8; ++stage)
      EXPECT_EQ(*halves->of(kind, stage),
                *Rational::div(*costs.of(kind, stage / 2), 2));
  // A stage of two thirds of a part, one of a third and a third, and so on.
  auto sixth = spreadCosts(costs, 4, 6);
  ASSERT_TRUE(sixth);
  EXPECT_EQ(*sixth->of(StepKind::F, 0), fraction(10, 3));
  EXPECT_EQ(*sixth->of(StepKind::F, 1), fraction(5 + 2, 3));
  EXPECT_EQ(*sixth->of(StepKind::F, 2), fraction(4, 3));
}

TEST(ModelParts, WhatIsNoPartOfTheModelStays) {
  CostSettings costs = fourParts();
  Place rank{FigureScope::Rank, 1};
  costs.set(Figure::Factor, 2, rank);
  costs.overlaps.push_back({{StepKind::F, StepKind::I}, fraction(9, 10), true});
  auto spread = spreadCosts(costs, 4, 8);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->get(Figure::P2P), fraction(1, 3));
  EXPECT_EQ(spread->get(Figure::Factor, rank), Rational(2));
  EXPECT_EQ(spread->ofOverlap({StepKind::F, StepKind::B}), fraction(3, 2));
  EXPECT_EQ(spread->overlapFactor({StepKind::F, StepKind::I}), fraction(9, 10));
}

TEST(ModelParts, DefaultsAndRanks) {
  CostSettings costs;
  costs.set(Figure::I, 6, {FigureScope::Rank, 1});
  auto spread = spreadCosts(costs, 2, 6);
  ASSERT_TRUE(spread);
  EXPECT_EQ(*spread->of(StepKind::F, 5, 0), fraction(1, 3));
  EXPECT_EQ(*spread->of(StepKind::B, 5, 0), fraction(2, 3));
  EXPECT_EQ(*spread->of(StepKind::I, 5, 1), Rational(2));
  EXPECT_EQ(*spread->of(StepKind::B, 5, 1), fraction(7, 3));
  EXPECT_EQ(*spread->of(StepKind::Unshard, 5, 1), Rational(0));
}

TEST(ModelParts, Memory) {
  MemorySettings memory;
  memory.set(Figure::LiveI, fraction(-1, 2));
  memory.set(Figure::Parameters, 8);
  memory.set(Figure::Receive, 3);
  memory.set(Figure::Sharded, 4, {FigureScope::Stage, 1});
  memory.set(Figure::Limit, 20);
  auto spread = spreadMemory(memory, 2, 4);
  ASSERT_TRUE(spread);
  EXPECT_EQ(*spread->delta(StepKind::F, 0), fraction(1, 2));
  EXPECT_EQ(*spread->delta(StepKind::B, 0), fraction(-1, 2));
  EXPECT_EQ(*spread->delta(StepKind::I, 3), fraction(-1, 4));
  EXPECT_EQ(*spread->delta(StepKind::W, 3), fraction(-1, 4));
  EXPECT_EQ(spread->parameters(2), Rational(4));
  EXPECT_EQ(spread->sharded(3), Rational(2));
  EXPECT_EQ(spread->sharded(1), Rational(0));
  EXPECT_EQ(spread->receive(2), Rational(3));
  EXPECT_EQ(spread->limit(0), Rational(20));
}

TEST(ModelParts, MemoryWhileStepsRun) {
  MemorySettings memory;
  memory.set(Figure::DuringB, 2);
  memory.set(Figure::DuringI, 3, {FigureScope::Stage, 1});
  auto spread = spreadMemory(memory, 2, 4);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->during(StepKind::B, 3), Rational(1));
  EXPECT_EQ(spread->during(StepKind::I, 0), Rational(0));
  EXPECT_EQ(spread->during(StepKind::I, 2), fraction(3, 2));
  EXPECT_FALSE(spread->has(Figure::DuringF));
}

TEST(ModelParts, WhatDoesNotFit) {
  CostSettings costs;
  costs.set(Figure::F, fraction(1, std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(spreadCosts(costs, 2, 6));
}
