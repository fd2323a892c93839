//===- LayerCostsTest.cpp - Costs of stages from those of layers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayerCosts.h"

#include "gtest/gtest.h"

#include <limits>

using namespace pipec;

static Rational fraction(int64_t numerator, int64_t denominator) {
  return *Rational::make(numerator, denominator);
}

/// An output layer with costs of its own.
static LayerSettings withLoss(FigureRow costs, FigureRow memory = {}) {
  LayerSettings layers;
  layers[size_t(LayerKind::Loss)] = LayerFigures{costs, memory};
  return layers;
}

static FigureRow row(std::initializer_list<FigureRow::Entry> entries) {
  FigureRow row;
  for (auto [figure, value] : entries)
    row.set(figure, value);
  return row;
}

TEST(LayerCosts, StagesHaveTheSumOfTheirLayers) {
  CostSettings general;
  general.set(Figure::F, 2);
  general.set(Figure::W, fraction(1, 2));
  general.set(Figure::P2P, 3);
  auto costs = sumCosts(general, {}, {"Ett", "", "tm", "L"});
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->of(StepKind::F, 0), Rational(4));
  EXPECT_EQ(costs->of(StepKind::B, 0), Rational(2));
  EXPECT_EQ(costs->of(StepKind::F, 2), Rational(4));
  EXPECT_EQ(costs->of(StepKind::W, 2), Rational(1));
  for (unsigned stage : {1, 3})
    for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
      EXPECT_EQ(costs->of(kind, stage), Rational(0));
  EXPECT_EQ(costs->general(Figure::P2P), Rational(3));
}

TEST(LayerCosts, EqualStagesShareTheirFigures) {
  auto costs = sumCosts({}, {}, {"Ett", "tt", "ttL"});
  ASSERT_TRUE(costs);
  EXPECT_FALSE(costs->has(FigureScope::Stage));
  EXPECT_EQ(costs->get(Figure::F), Rational(2));
  EXPECT_FALSE(costs->get(Figure::Unshard));
}

TEST(LayerCosts, HalvesFollowFromTheBackward) {
  auto of = [](FigureRow own, StepKind kind) {
    return sumCosts({}, withLoss(own), {"L"})->of(kind, 0);
  };
  FigureRow whole = row({{Figure::B, 5}});
  EXPECT_EQ(of(whole, StepKind::I), fraction(5, 2));
  EXPECT_EQ(of(whole, StepKind::W), fraction(5, 2));
  EXPECT_EQ(of(whole, StepKind::F), fraction(5, 2));
  FigureRow withI = row({{Figure::B, 5}, {Figure::I, 2}});
  EXPECT_EQ(of(withI, StepKind::W), Rational(3));
  FigureRow withW = row({{Figure::B, 5}, {Figure::W, 7}});
  EXPECT_EQ(of(withW, StepKind::I), fraction(5, 2));
  FigureRow halves = row({{Figure::I, 2}, {Figure::W, 1}});
  EXPECT_EQ(of(halves, StepKind::B), Rational(3));
  FigureRow onlyI = row({{Figure::I, 2}});
  EXPECT_EQ(of(onlyI, StepKind::B), Rational(4));
}

TEST(LayerCosts, MemoryFollowsTheActivations) {
  MemorySettings general;
  general.set(Figure::LiveF, 4);
  general.set(Figure::LiveI, -1);
  general.set(Figure::Parameters, 10);
  general.set(Figure::Receive, 3);
  general.set(Figure::Limit, 100);
  LayerSettings layers =
      withLoss({}, row({{Figure::LiveF, 2}, {Figure::Parameters, 7}}));
  auto memory = sumMemory(general, layers, {"Et", "ttL", ""});
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->delta(StepKind::F, 0), Rational(4));
  EXPECT_EQ(memory->delta(StepKind::I, 0), Rational(-1));
  EXPECT_EQ(memory->delta(StepKind::W, 0), Rational(-3));
  EXPECT_EQ(memory->delta(StepKind::F, 1), Rational(10));
  EXPECT_EQ(memory->delta(StepKind::I, 1), fraction(-5, 2));
  EXPECT_EQ(memory->parameters(1), Rational(27));
  EXPECT_EQ(memory->delta(StepKind::F, 2), Rational(0));
  EXPECT_EQ(memory->receive(2), Rational(3));
  EXPECT_EQ(memory->limit(0), Rational(100));
}

TEST(LayerCosts, MemoryWhileStepsRunFollowsTheActivations) {
  MemorySettings general;
  general.set(Figure::LiveF, 4);
  general.set(Figure::DuringB, 6);
  FigureRow ofLoss = row({{Figure::LiveF, 2}});
  auto memory = sumMemory(general, withLoss({}, ofLoss), {"tt", "tL"});
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->during(StepKind::B, 0), Rational(12));
  EXPECT_EQ(memory->during(StepKind::B, 1), Rational(9));
  EXPECT_EQ(memory->during(StepKind::F, 1), Rational(0));
  ofLoss.set(Figure::DuringB, 1);
  memory = sumMemory(general, withLoss({}, ofLoss), {"tt", "tL"});
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->during(StepKind::B, 1), Rational(7));
}

TEST(LayerCosts, OverflowIsNoticed) {
  CostSettings costs;
  costs.set(Figure::B, 1);
  costs.set(Figure::F, std::numeric_limits<int64_t>::max() / 2);
  EXPECT_TRUE(sumCosts(costs, {}, {"tt"}));
  EXPECT_FALSE(sumCosts(costs, {}, {"ttt"}));
  MemorySettings memory;
  memory.set(Figure::LiveF, std::numeric_limits<int64_t>::max() / 2);
  EXPECT_FALSE(sumMemory(memory, {}, {"ttt"}));
}

TEST(LayerCosts, SomeScopesAreNotOfLayers) {
  CostSettings costs;
  costs.set(Figure::Factor, 2, {FigureScope::Rank, 1});
  costs.overlaps.push_back({{StepKind::F, StepKind::B}, 1, /*isFactor=*/true});
  EXPECT_EQ(notOfLayers(costs), std::nullopt);
  CostSettings times = costs;
  times.overlaps.push_back({{StepKind::B, StepKind::F}, 1});
  EXPECT_EQ(notOfLayers(times), FigureScope::Overlap);
  CostSettings ranks = costs;
  ranks.set(Figure::F, 2, {FigureScope::Rank, 1});
  EXPECT_EQ(notOfLayers(ranks), FigureScope::Rank);
  costs.set(Figure::F, 2, {FigureScope::Stage, 1});
  EXPECT_EQ(notOfLayers(costs), FigureScope::Stage);
}
