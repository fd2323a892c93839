//===- GivenSettingsTest.cpp - Costs from outside a schedule --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/GivenSettings.h"

#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/RecordedKinds.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

/// Two ranks and four stages, with costs and sizes of their own.
ModelSettings fourStages() {
  ModelSettings schedule;
  schedule.numRanks = 2;
  schedule.numStages = 4;
  schedule.numUnits = 3;
  schedule.costs.set(Figure::F, 7);
  schedule.costs.set(Figure::P2P, 3);
  schedule.memory.set(Figure::Limit, 9);
  return schedule;
}

/// Applies settings and records the kinds of the reported diagnostics.
struct Applied {
  ModelSettings schedule = fourStages();
  Kinds kinds;
  bool good;

  explicit Applied(const GivenSettings &given) {
    RecordedKinds recorded;
    good = succeeded(applyCosts(schedule, given, recorded.diags)) &&
           succeeded(applyMemory(schedule, given, recorded.diags));
    kinds = recorded.kinds;
  }
};

GivenSettings given(std::optional<CostPer> per) {
  GivenSettings given;
  given.per = per;
  given.costs.emplace_back().set(Figure::F, 4);
  given.costs.emplace_back().set(Figure::I, 6);
  return given;
}

} // namespace

TEST(GivenSettings, PerStageGoesOverFigureByFigure) {
  for (std::optional<CostPer> per :
       {std::optional<CostPer>(), std::optional(CostPer::Stage)}) {
    Applied applied(given(per));
    EXPECT_TRUE(applied.good);
    EXPECT_EQ(applied.kinds, Kinds());
    EXPECT_EQ(*applied.schedule.costs.of(StepKind::F, 0), Rational(4));
    EXPECT_EQ(*applied.schedule.costs.of(StepKind::I, 0), Rational(6));
    EXPECT_EQ(applied.schedule.costs.get(Figure::P2P), Rational(3));
    EXPECT_EQ(applied.schedule.memory.get(Figure::Limit), Rational(9));
    EXPECT_EQ(applied.schedule.costParts, 0u);
  }
}

TEST(GivenSettings, PerPartReplaces) {
  // As many parts as ranks, each with two stages.
  Applied applied(given(CostPer::Part));
  EXPECT_TRUE(applied.good);
  EXPECT_EQ(applied.kinds,
            Kinds(2, diag::OwnCostsUnused.value)); // costs and memory
  EXPECT_EQ(*applied.schedule.costs.of(StepKind::F, 3), Rational(2));
  EXPECT_EQ(*applied.schedule.costs.of(StepKind::I, 3), Rational(3));
  EXPECT_EQ(applied.schedule.costs.get(Figure::P2P), std::nullopt);
  EXPECT_EQ(applied.schedule.memory.get(Figure::Limit), std::nullopt);
  EXPECT_EQ(*applied.schedule.memory.delta(StepKind::F, 0),
            *Rational::make(1, 2));
  EXPECT_EQ(applied.schedule.costParts, 2u);
}

TEST(GivenSettings, ALayoutAloneLeavesTheCosts) {
  GivenSettings alone;
  alone.layout = LayerLayout({"Et", "t", "t", "tL"});
  alone.memory.emplace_back().set(Figure::Limit, 8);
  Applied applied(alone);
  EXPECT_TRUE(applied.good);
  EXPECT_EQ(applied.kinds, Kinds());
  EXPECT_EQ(applied.schedule.layers, (StageLayers{"Et", "t", "t", "tL"}));
  EXPECT_FALSE(applied.schedule.costsPerLayer);
  EXPECT_EQ(*applied.schedule.costs.of(StepKind::F, 0), Rational(7));
  EXPECT_EQ(applied.schedule.memory.get(Figure::Limit), Rational(8));
  // The costs of the layers replace them.
  alone.costs.emplace_back().set(Figure::F, 4);
  Applied both(alone);
  EXPECT_TRUE(both.good);
  EXPECT_TRUE(both.schedule.costsPerLayer);
  EXPECT_EQ(both.kinds, Kinds(2, diag::OwnCostsUnused.value));
  EXPECT_EQ(*both.schedule.costs.of(StepKind::F, 0), Rational(4));
}

TEST(GivenSettings, OwnSizesCanStay) {
  GivenSettings settings = given(CostPer::Part);
  settings.parts = 8;
  settings.keepOwnSizes = true;
  Applied kept(settings);
  EXPECT_EQ(kept.kinds, Kinds(1, diag::OwnCostsUnused.value));
  EXPECT_EQ(*kept.schedule.costs.of(StepKind::F, 3), Rational(8));
  EXPECT_EQ(kept.schedule.memory.get(Figure::Limit), Rational(9));
  settings.memory.emplace_back().set(Figure::Parameters, 1);
  Applied spread(settings);
  EXPECT_EQ(spread.schedule.memory.parameters(0), Rational(2));
  EXPECT_EQ(spread.schedule.memory.get(Figure::Limit), std::nullopt);
}

TEST(GivenSettings, KeysAreHeldAgainstTheSchedule) {
  auto fits = [](FigureScope scope, unsigned number,
                 std::optional<CostPer> per = {},
                 std::optional<unsigned> parts = {}) {
    GivenSettings settings;
    settings.per = per;
    settings.parts = parts;
    settings.keys.push_back({scope, number, {}});
    Applied applied(settings);
    EXPECT_EQ(llvm::is_contained(applied.kinds, diag::SettingOutOfRange.value),
              !applied.good);
    return applied.good;
  };
  EXPECT_TRUE(fits(FigureScope::Stage, 3));
  EXPECT_FALSE(fits(FigureScope::Stage, 4));
  EXPECT_TRUE(fits(FigureScope::Stage, 1, CostPer::Part));
  EXPECT_FALSE(fits(FigureScope::Stage, 2, CostPer::Part));
  EXPECT_TRUE(fits(FigureScope::Stage, 7, CostPer::Part, 8));
  EXPECT_FALSE(fits(FigureScope::Stage, 8, CostPer::Part, 8));
  EXPECT_TRUE(fits(FigureScope::Rank, 1));
  EXPECT_FALSE(fits(FigureScope::Rank, 2));
  EXPECT_TRUE(fits(FigureScope::Microbatch, 2));
  EXPECT_FALSE(fits(FigureScope::Microbatch, 3));
  EXPECT_TRUE(fits(FigureScope::Edge, 1));
  EXPECT_FALSE(fits(FigureScope::Edge, 2));
}

/// Two ranks and two stages, for which `fourStages` without its own settings is
/// another schedule of the model.
struct OfModel {
  ModelSettings model;
  ModelSettings schedule = fourStages();
  Kinds kinds;

  OfModel() {
    model = fourStages();
    model.numStages = 2;
    model.costs = CostSettings();
    model.costs.set(Figure::F, 8);
    model.costs.set(Figure::F, 12, {FigureScope::Stage, 1});
    model.memory.set(Figure::LiveF, 6);
    schedule.costs = CostSettings();
    schedule.memory = MemorySettings();
  }
  void apply(GivenSettings given) {
    given.model = &model;
    RecordedKinds recorded;
    EXPECT_TRUE(succeeded(applyCosts(schedule, given, recorded.diags)) &&
                succeeded(applyMemory(schedule, given, recorded.diags)));
    kinds = recorded.kinds;
  }
};

TEST(GivenSettings, OtherStagesOfAModelAreItsParts) {
  OfModel of;
  of.apply({});
  EXPECT_EQ(of.kinds, Kinds());
  EXPECT_EQ(*of.schedule.costs.of(StepKind::F, 1), Rational(4));
  EXPECT_EQ(*of.schedule.costs.of(StepKind::F, 2), Rational(6));
  EXPECT_EQ(*of.schedule.memory.delta(StepKind::F, 2), Rational(3));
  EXPECT_EQ(of.schedule.costParts, 2u);
  // The limit is that of the other schedule.
  EXPECT_FALSE(of.schedule.memory.hasLimit());
}

TEST(GivenSettings, EqualStagesHaveTheCostsOfTheModel) {
  OfModel of;
  of.schedule.numStages = 2;
  of.apply({});
  EXPECT_TRUE(of.schedule.costs == of.model.costs);
  EXPECT_EQ(of.schedule.costParts, 0u);
}

TEST(GivenSettings, OwnCostsStayUnlessCostsAreGiven) {
  OfModel of;
  of.schedule.costs.set(Figure::F, 1);
  of.apply({});
  EXPECT_EQ(*of.schedule.costs.of(StepKind::F, 1), Rational(1));
  GivenSettings settings;
  settings.costs.emplace_back().set(Figure::F, 8);
  of.apply(settings); // as applied to the model, too
  EXPECT_EQ(of.kinds, Kinds(1, diag::OwnCostsUnused.value));
  EXPECT_EQ(*of.schedule.costs.of(StepKind::F, 1), Rational(4));
  // The costs that a list has are those that it was found for.
  of.apply(settings);
  EXPECT_EQ(of.kinds, Kinds());
}

TEST(GivenSettings, OtherSizesAndPerAreNotOfTheModel) {
  OfModel sizes;
  sizes.model.numUnits = 4;
  sizes.apply({});
  EXPECT_TRUE(sizes.schedule.costs == CostSettings());
  OfModel per;
  per.apply(given(CostPer::Stage));
  EXPECT_EQ(*per.schedule.costs.of(StepKind::F, 1), Rational(4));
  EXPECT_EQ(per.schedule.costs.get(Figure::I), Rational(6));
  EXPECT_EQ(per.schedule.costParts, 0u);
}

TEST(GivenSettings, WhatDoesNotFitIsReported) {
  GivenSettings settings;
  settings.per = CostPer::Part;
  settings.parts = 65536;
  settings.costs.emplace_back().set(Figure::F, INT64_MAX);
  Applied applied(settings);
  EXPECT_FALSE(applied.good);
  EXPECT_EQ(applied.kinds.back(), diag::TimesTooLarge.value);
}
