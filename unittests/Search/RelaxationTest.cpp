//===- RelaxationTest.cpp - Bounds of overlaps and of both backwards ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Relaxation.h"
#include "Search/Random.h"
#include "Search/RandomProblems.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Support/SourceFiles.h"
#include "Verify/Verifier.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace pipec;
using search::Random;

static Rational figure(Random &random) { return int64_t(1 + random.below(9)); }

static ScheduleHeader randomHeader(Random &random) {
  ScheduleHeader header = test::randomSizes(random);
  unsigned chunks = header.numStages / header.numRanks;
  CostSettings &costs = header.costs;
  for (unsigned stage = 0; stage != header.numStages; ++stage)
    for (Figure kind : {Figure::F, Figure::B, Figure::I, Figure::W})
      costs.set(kind, figure(random), {FigureScope::Stage, stage});
  if (random.chance(50))
    costs.set(Figure::P2P, figure(random));
  if (random.chance(30))
    costs.set(Figure::Factor, Rational(2), {FigureScope::Rank, 1});
  if (random.chance(70))
    costs.set(Figure::Overlap, *Rational::make(random.below(11), 10));
  if (random.chance(50))
    costs.set(CostSettings::Overlap{
        {StepKind::F, StepKind::B}, figure(random), random.chance(20)});
  if (random.chance(50))
    costs.set(CostSettings::Overlap{
        {StepKind::W, StepKind::F}, figure(random), false});
  if (random.chance(60))
    header.memory.set(Figure::Limit, int64_t(chunks + random.below(3)));
  return header;
}

/// A schedule in a random order that runs without overlaps, with overlaps of
/// random neighbours. Every backward is whole with a chance of `whole` percent.
static Schedule randomSchedule(Random &random, const ScheduleHeader &header,
                               unsigned whole) {
  Schedule schedule(header);
  schedule.ranks.resize(header.numRanks);
  unsigned stages = header.numStages;
  // How far each micro-batch is: its next F, or its next backward from the end;
  // and the W that remain.
  std::vector<unsigned> next(header.numUnits, 0);
  std::vector<Step> left;
  auto add = [&](StepKind kind, unsigned stage, unsigned j) {
    bool joined = random.chance(40);
    schedule.ranks[header.placement.rankOf(stage, 0)].push_back(
        Step(kind, stage, j, 0, {}, joined));
  };
  for (unsigned open = header.numUnits; open || !left.empty();) {
    unsigned pick = random.below(header.numUnits + left.size());
    if (pick >= header.numUnits) {
      Step step = left[pick - header.numUnits];
      left.erase(left.begin() + (pick - header.numUnits));
      add(StepKind::W, step.stage(), step.unit());
      continue;
    }
    unsigned &at = next[pick];
    if (at == 2 * stages)
      continue;
    if (at < stages) {
      add(StepKind::F, at, pick);
    } else {
      unsigned stage = 2 * stages - 1 - at;
      bool isWhole = random.chance(whole);
      add(isWhole ? StepKind::B : StepKind::I, stage, pick);
      if (!isWhole)
        left.push_back(Step(StepKind::W, stage, pick));
    }
    open -= ++at == 2 * stages;
  }
  for (StepList &list : schedule.ranks)
    list.back().setJoined(false);
  return schedule;
}

/// The makespan of a schedule that is right, can run and fits.
static std::optional<Rational> makespanOf(const Schedule &schedule,
                                          DiagEngine &diags) {
  if (failed(verify(schedule, diags)))
    return std::nullopt;
  auto memory = MemoryModel::make(schedule, diags);
  auto run = simulate(schedule, diags);
  if (failed(memory) || failed(run))
    return std::nullopt;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    if (auto limit = schedule.memory.limit(rank);
        limit && *limit < memory->peaks(rank).total)
      return std::nullopt;
  return run->time(run->makespan());
}

/// Compares a bound with the best of many random schedules.
static void checkBound(unsigned whole, unsigned seed) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Random random(seed);
  unsigned checked = 0;
  for (unsigned round = 0; round != 500; ++round) {
    ScheduleHeader header = randomHeader(random);
    auto model = search::makeModel(header, whole != 100, diags);
    if (failed(model))
      continue;
    std::optional<Rational> best;
    for (unsigned i = 0; i != 150; ++i)
      if (auto makespan =
              makespanOf(randomSchedule(random, header, whole), diags))
        best = best ? std::min(*best, *makespan) : *makespan;
    if (!best)
      continue;
    bool mixed = whole != 0 && whole != 100;
    search::LowerBound bound = search::relaxedBound(
        *model, mixed, *best, search::Budget(search::workPerEffort / 20));
    EXPECT_LE(bound.bound, *best) << seed << ' ' << round;
    if (!mixed) {
      EXPECT_LE(search::leastBound(*model).bound, *best);
    }
    ++checked;
  }
  EXPECT_GT(checked, 200u);
}

TEST(Relaxation, BoundsOverlapsOfSplitBackwards) { checkBound(0, 1); }
TEST(Relaxation, BoundsOverlapsOfWholeBackwards) { checkBound(100, 2); }
TEST(Relaxation, BoundsBothBackwards) { checkBound(50, 3); }

TEST(Relaxation, KeepsTheProblemWithoutGain) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Random random(4);
  for (unsigned round = 0; round != 50; ++round) {
    ScheduleHeader header = randomHeader(random);
    header.costs.overlaps.clear();
    header.costs.set(Figure::Overlap, Rational(1));
    header.memory = {};
    auto model = search::makeModel(header, true, diags);
    ASSERT_TRUE(succeeded(model));
    EXPECT_FALSE(search::overlapsGain(*model));
    search::Model same = search::relaxed(*model, /*mixed=*/false);
    for (unsigned stage = 0; stage != header.numStages; ++stage)
      for (unsigned kind = 0; kind != 3; ++kind)
        EXPECT_EQ(same.time(same.problem.stages[stage].time[kind]),
                  model->time(model->problem.stages[stage].time[kind]));
  }
}

TEST(Relaxation, SplitBackwardsCoverWholeOnesOfTheirTime) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Random random(5);
  ScheduleHeader header = randomHeader(random);
  header.costs = {};
  header.memory = {};
  auto covers = [&] {
    auto model = search::makeModel(header, true, diags);
    return succeeded(model) && search::splitCoversAll(*model, diags);
  };
  EXPECT_TRUE(covers());
  header.costs.set(Figure::I, Rational(1));
  header.costs.set(Figure::W, Rational(1));
  header.costs.set(Figure::B, *Rational::make(19, 10));
  EXPECT_FALSE(covers());
  header.costs.set(Figure::B, Rational(2));
  EXPECT_TRUE(covers());
  header.costs.set(Figure::Overlap, *Rational::make(9, 10));
  EXPECT_FALSE(covers());
}
