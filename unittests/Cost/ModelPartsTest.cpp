//===- ModelPartsTest.cpp - Cutting one model in different ways -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/ModelParts.h"
#include "Cost/CostUse.h"

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
  EXPECT_EQ(*spread->of(StepKind::B, 5, 1), Rational(4));
  EXPECT_EQ(*spread->of(StepKind::F, 5, 1), Rational(2));
  EXPECT_EQ(*spread->of(StepKind::Unshard, 5, 1), Rational(0));
}

/// The kinds of a stage with assumed costs.
static std::string assumedOf(const CostSettings &costs, unsigned stage) {
  CostUse use;
  use.add({stage, std::nullopt, 15});
  return AssumedCosts(costs, use).text();
}

TEST(ModelParts, WhatWasAssumedStaysAssumed) {
  CostSettings costs;
  for (unsigned part = 0; part != 4; ++part) {
    costs.set(Figure::F, 3, {FigureScope::Stage, part});
    costs.set(Figure::B, 5 + part, {FigureScope::Stage, part});
  }
  auto spread = spreadCosts(costs, 4, 8);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->of(StepKind::W, 7), Rational(2));
  EXPECT_FALSE(spread->get(Figure::W, {FigureScope::Stage, 7}));
  EXPECT_EQ(assumedOf(*spread, 7), "I and W are half of B");
  // A stage of two parts, one of them with halves of its own.
  costs.set(Figure::I, 1, {FigureScope::Stage, 1});
  costs.set(Figure::W, 7, {FigureScope::Stage, 1});
  auto two = spreadCosts(costs, 4, 2);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->of(StepKind::B, 0), Rational(11));
  EXPECT_EQ(two->of(StepKind::I, 0), fraction(7, 2));
  EXPECT_EQ(two->of(StepKind::W, 0), fraction(19, 2));
  EXPECT_EQ(assumedOf(*two, 0), "I and W are half of B");
  EXPECT_EQ(assumedOf(*two, 1), "I and W are half of B");
}

/// Four parts of the trace of a split schedule: the first needs no gradient of
/// its input, and its W runs the whole backward.
static CostSettings splitTrace() {
  CostSettings costs;
  for (unsigned part = 0; part != 4; ++part) {
    Place place{FigureScope::Stage, part};
    costs.set(Figure::F, 40, place);
    costs.set(Figure::I, part ? Rational(45) : fraction(8, 100), place);
    costs.set(Figure::W, part ? Rational(30) : fraction(607, 10), place);
  }
  return costs;
}

TEST(ModelParts, OnlyStage0NeedsNoInputGradient) {
  auto halves = spreadCosts(splitTrace(), 4, 8);
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->of(StepKind::I, 0), fraction(4, 100));
  EXPECT_EQ(halves->of(StepKind::W, 0), fraction(3035, 100));
  // (0.08 + 60.7) / 2 is split as the other parts are, 45 to 30.
  EXPECT_EQ(halves->of(StepKind::I, 1), fraction(1823, 100));
  EXPECT_EQ(halves->of(StepKind::W, 1), fraction(1216, 100));
  EXPECT_EQ(halves->of(StepKind::I, 2), fraction(45, 2));
  EXPECT_EQ(assumedOf(*halves, 1), "B is I + W");
  // Stage 0 of two parts needs no gradient of its input either.
  auto pairs = spreadCosts(splitTrace(), 4, 2);
  ASSERT_TRUE(pairs);
  EXPECT_LT(*pairs->of(StepKind::I, 0), fraction(2, 10));
  EXPECT_EQ(
      Rational::add(*pairs->of(StepKind::I, 0), *pairs->of(StepKind::W, 0)),
      fraction(13578, 100));
  EXPECT_EQ(pairs->of(StepKind::I, 1), Rational(90));
}

TEST(ModelParts, OtherFirstPartsAreCutEvenly) {
  for (unsigned part : {0u, 2u}) {
    CostSettings costs = splitTrace();
    // An I as long as those of others, or another part without one.
    costs.set(Figure::I, part ? Rational(1) : Rational(7),
              {FigureScope::Stage, part});
    auto halves = spreadCosts(costs, 4, 8);
    ASSERT_TRUE(halves);
    EXPECT_EQ(halves->of(StepKind::I, 0), halves->of(StepKind::I, 1));
    EXPECT_EQ(halves->of(StepKind::W, 0), halves->of(StepKind::W, 1));
  }
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
  EXPECT_EQ(spread->during(StepKind::I, 0), Rational(1));
  EXPECT_EQ(spread->during(StepKind::I, 2), fraction(3, 2));
  EXPECT_FALSE(spread->has(Figure::DuringF));
}

TEST(ModelParts, WhatDoesNotFit) {
  CostSettings costs;
  costs.set(Figure::F, fraction(1, std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(spreadCosts(costs, 2, 6));
}
