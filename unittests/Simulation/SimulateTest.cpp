//===- SimulateTest.cpp - Simulated times against their definition --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/Simulate.h"
#include "Simulation/Memory.h"
#include "Simulation/Replay.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/RecordedKinds.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/RandomSchedules.h"
#include "Waiting/Waiting.h"

#include "gtest/gtest.h"

#include <set>

using namespace pipec;
using namespace pipec::test;

/// True if a rank has a P2P step twice. Of two receives of one tensor, which
/// one a step takes is not part of the model.
static bool hasTwice(const Schedule &schedule) {
  for (const StepList &list : schedule.ranks) {
    std::set<std::tuple<StepKind, unsigned, unsigned, unsigned>> seen;
    for (Step step : list)
      if (isP2P(step.kind()) &&
          !seen.insert({step.kind(), step.stage(), step.unit(), step.port()})
               .second)
        return true;
  }
  return false;
}

static void expectTimes(const Schedule &schedule, const Simulation &simulation,
                        Replay &replay) {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (size_t i = 0; i != schedule.ranks[rank].size(); ++i) {
      StepKind kind = schedule.ranks[rank][i].kind();
      if (!isCompute(kind) &&
          !(simulation.model() && (isP2P(kind) || isSendWait(kind))))
        continue;
      ASSERT_EQ(
          simulation.time(simulation.start(simulation.numbers().of(rank, i))),
          isCompute(kind)    ? replay.computeStart(rank, i)
          : isSendWait(kind) ? replay.waitEnd(rank, i)
                             : replay.transferStart(rank, i))
          << rank << " " << i << "\n"
          << listing(schedule);
    }
  ASSERT_EQ(simulation.time(simulation.makespan()), replay.makespan());
}

TEST(Simulate, FreeArrivalEqualsDefinition) {
  Rng rng(11);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  for (unsigned round = 0; round != 1500; ++round) {
    Schedule schedule = randomSchedule(rng, randomOptions(rng));
    randomCosts(rng, schedule);
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::P2P,
                         *Rational::make(pick(rng, 5), 1 + pick(rng, 4)));
    auto simulation = simulate(schedule, diags);
    ASSERT_TRUE(succeeded(simulation));
    Replay replay(schedule, std::nullopt);
    expectTimes(schedule, *simulation, replay);
    // A finer clock gives the same times.
    int64_t parts = 1 + pick(rng, 60);
    auto finer = simulate(schedule, std::nullopt, diags, parts);
    ASSERT_TRUE(succeeded(finer));
    ASSERT_EQ(finer->costs().perUnit() % parts, 0);
    expectTimes(schedule, *finer, replay);
    // A clock that does not fit is not used; times of 0 fit every clock.
    if (simulation->time(simulation->makespan()) < Rational(2))
      continue;
    auto same = simulate(schedule, std::nullopt, diags, (int64_t(1) << 61) - 1);
    ASSERT_TRUE(succeeded(same));
    ASSERT_EQ(same->costs().perUnit(), simulation->costs().perUnit());
  }
  EXPECT_EQ(diags.numErrors(), 0u);
}

TEST(Simulate, DrawsTogetherAndOneByOneAreEqual) {
  Rng rng(13);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  for (unsigned round = 0; round != 300; ++round) {
    Schedule schedule = randomSchedule(rng, randomOptions(rng));
    randomCosts(rng, schedule);
    schedule.costs.set(Figure::P2P, Rational(pick(rng, 5)));
    auto exact = simulate(schedule, diags);
    ASSERT_TRUE(succeeded(exact));
    Jitter jitter;
    jitter.draws = 1 + pick(rng, 20);
    jitter.seed = round;
    // No spread: all makespans are the exact one.
    jitter.spreads.fill(Rational(0));
    auto same = drawMakespans(schedule, std::nullopt, jitter, diags);
    ASSERT_TRUE(succeeded(same));
    ASSERT_EQ(same->ticks.size(), jitter.draws);
    for (int64_t ticks : same->ticks)
      ASSERT_EQ(*Rational::make(ticks, same->perUnit),
                exact->time(exact->makespan()));
    for (auto &spread : jitter.spreads)
      spread = *Rational::make(pick(rng, 10), 10);
    auto together = drawMakespans(schedule, std::nullopt, jitter, diags);
    // A cost that no step has: such schedules are drawn one by one.
    schedule.costs.set(Figure::ReduceTied, Rational(1));
    auto single = drawMakespans(schedule, std::nullopt, jitter, diags);
    ASSERT_TRUE(succeeded(together) && succeeded(single));
    ASSERT_EQ(together->perUnit, single->perUnit);
    ASSERT_EQ(together->ticks, single->ticks) << listing(schedule);
  }
}

TEST(Simulate, ModelsEqualDefinition) {
  Rng rng(12);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  unsigned compared = 0, batches = 0, waits = 0, occupied = 0;
  for (unsigned round = 0; round != 2000; ++round) {
    RandomOptions options = randomOptions(rng);
    options.transfers = true;
    Schedule schedule = randomSchedule(rng, options);
    randomCosts(rng, schedule);
    if (!oneIn(rng, 3))
      schedule.costs.set(Figure::P2P,
                         *Rational::make(pick(rng, 5), 1 + pick(rng, 4)));
    for (unsigned n = pick(rng, 4); n != 0; --n)
      mutate(rng, schedule);
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::Occupancy,
                         *Rational::make(pick(rng, 9), 1 + pick(rng, 3)));
    // Waits are for lists whose transfers are right.
    if (oneIn(rng, 2)) {
      DiagEngine silent(files, [](const Diagnostic &) {});
      InsertWaitsOptions options;
      options.sends = oneIn(rng, 2) ? WaitPlace::End : WaitPlace::Backward;
      if (oneIn(rng, 2))
        options.budget = AtLeastOne{1 + pick(rng, 3)};
      if (succeeded(verify(schedule, VerifyLevel::Placed, silent))) {
        ASSERT_TRUE(succeeded(makeInsertWaits(options)->run(schedule, silent)));
      }
    }
    Transfers transfers(schedule);
    if (!transfers.unmatched().empty() || hasTwice(schedule))
      continue;
    for (WaitModel model : allWaitModels) {
      if (!Waiting(schedule, transfers, model).ends()) {
        unsigned before = diags.numErrors();
        ASSERT_TRUE(failed(simulate(schedule, model, diags)));
        ASSERT_EQ(diags.numErrors(), before + 1);
        continue;
      }
      auto simulation = simulate(schedule, model, diags);
      ASSERT_TRUE(succeeded(simulation));
      Replay replay(schedule, model);
      expectTimes(schedule, *simulation, replay);
      ++compared;
      bool isOccupied = schedule.costs.general(Figure::Occupancy) != 0;
      occupied += isOccupied && model == WaitModel::Buffered;
      waits += isOccupied && schedule.hasSendWaits();
      for (const StepList &list : schedule.ranks)
        for (Step step : list)
          if (step.joined() && isP2P(step.kind())) {
            ++batches;
            break;
          }
    }
  }
  EXPECT_GT(compared, 2000u);
  EXPECT_GT(batches, 300u);
  EXPECT_GT(waits, 300u);
  EXPECT_GT(occupied, 100u);
}

TEST(Simulate, Figures) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  // 1F1B of two ranks and two micro-batches; B = 2.
  Schedule schedule;
  schedule.numRanks = schedule.numStages = schedule.numUnits = 2;
  schedule.placement = Placement({{0, 1}});
  auto step = [](StepKind kind, unsigned stage, unsigned microbatch) {
    return Step(kind, stage, microbatch);
  };
  schedule.ranks = {{step(StepKind::F, 0, 0), step(StepKind::F, 0, 1),
                     step(StepKind::B, 0, 0), step(StepKind::B, 0, 1)},
                    {step(StepKind::F, 1, 0), step(StepKind::B, 1, 0),
                     step(StepKind::F, 1, 1), step(StepKind::B, 1, 1)}};
  auto simulation = simulate(schedule, diags);
  ASSERT_TRUE(succeeded(simulation));
  EXPECT_EQ(simulation->makespan(), 9);
  EXPECT_EQ(simulation->span(), 9);
  EXPECT_EQ(simulation->work(), 12);
  EXPECT_EQ(simulation->ranks()[1].start, 1);
  EXPECT_EQ(simulation->ranks()[1].end, 7);
  EXPECT_EQ(simulation->ranks()[1].gaps(), 0);
  EXPECT_EQ(simulation->ranks()[0].gaps(), 3);
  EXPECT_EQ(simulation->bubbleRate(simulation->makespan()),
            Rational::make(1, 3));
  auto peaks = peakMemory(schedule, diags);
  ASSERT_TRUE(succeeded(peaks));
  EXPECT_EQ((*peaks)[0], Rational(2));
  EXPECT_EQ((*peaks)[1], Rational(1));

  fillTimes(schedule, *simulation);
  EXPECT_EQ(schedule.times[0][2], Rational(4));

  // The overlap allocates for both members before it frees.
  schedule.ranks[1][1].setJoined(true);
  peaks = peakMemory(schedule, diags);
  EXPECT_EQ((*peaks)[1], Rational(2));
  schedule.memory.set(Figure::LiveF, *Rational::make(1, 2));
  schedule.memory.set(Figure::LiveB, *Rational::make(-1, 3));
  peaks = peakMemory(schedule, diags);
  EXPECT_EQ((*peaks)[1], Rational(1));
}

TEST(Simulate, RefusesWhatDoesNotFit) {
  RecordedKinds recorded;
  DiagEngine &diags = recorded.diags;
  Rng rng(3);
  Schedule plain = randomSchedule(rng, {2, 2, 2});

  Schedule fine = plain;
  fine.costs.set(Figure::F, *Rational::make(1, 4294967291));
  fine.costs.set(Figure::P2P, *Rational::make(1, 4294967279));
  EXPECT_TRUE(failed(simulate(fine, diags)));
  Schedule large = plain;
  large.costs.set(Figure::F, INT64_MAX / 4);
  EXPECT_TRUE(failed(simulate(large, diags)));
  Schedule sum = plain;
  sum.costs.set(Figure::I, INT64_MAX);
  EXPECT_TRUE(failed(simulate(sum, diags)));
  Schedule heavy = plain;
  heavy.memory.set(Figure::LiveF, INT64_MAX);
  heavy.memory.set(Figure::LiveB, *Rational::make(1, 3));
  EXPECT_TRUE(failed(peakMemory(heavy, diags)));
  Schedule few = plain;
  few.numUnits = 10;
  EXPECT_TRUE(failed(simulate(few, diags)));
  EXPECT_EQ(recorded.kinds,
            (Kinds{diag::CostsTooFine, diag::TimesTooLarge, diag::TimesTooLarge,
                   diag::MemoryTooLarge, diag::TooFewSteps}));
}
