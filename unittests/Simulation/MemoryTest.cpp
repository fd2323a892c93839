//===- MemoryTest.cpp - The memory of ranks against its definition --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/Memory.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/RecordedKinds.h"
#include "Waiting/RandomSchedules.h"

#include "gtest/gtest.h"

using namespace llvm;

namespace pipec::test {

namespace {

Rational sum(Rational a, Rational b) { return *Rational::add(a, b); }
Rational most(Rational a, Rational b) { return a < b ? b : a; }

/// A random order of lists with transfers and sometimes an UNSHARD and a
/// RESHARD around all computes of a stage.
Schedule drawSchedule(Rng &rng) {
  unsigned ranks = 1 + pick(rng, 3);
  Schedule schedule =
      randomSchedule(rng, {.ranks = ranks,
                           .stages = ranks + pick(rng, 3),
                           .microbatches = 2 + 2 * pick(rng, 2),
                           .split = oneIn(rng, 2),
                           .overlaps = oneIn(rng, 2),
                           .twoWays = ranks > 1 && oneIn(rng, 3),
                           .transfers = oneIn(rng, 2)});
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    StepList &list = schedule.ranks[rank];
    for (unsigned stage = 0; stage != schedule.numStages; ++stage) {
      bool held = any_of(list, [&](Step step) {
        return isCompute(step.kind()) && step.stage() == stage;
      });
      if (!held || oneIn(rng, 2))
        continue;
      list.insert(list.begin(), Step(StepKind::Unshard, stage, 0));
      list.push_back(Step(StepKind::Reshard, stage, 0));
    }
  }
  return schedule;
}

void drawMemory(Rng &rng, Schedule &schedule) {
  MemorySettings &memory = schedule.memory;
  auto size = [&] { return *Rational::make(pick(rng, 6), 1 + pick(rng, 4)); };
  auto fill = [&](Place place) {
    if (oneIn(rng, 2))
      memory.set(Figure::LiveF, size(), place);
    if (oneIn(rng, 2))
      memory.set(Figure::LiveI, *Rational::sub(0, size()), place);
    if (oneIn(rng, 4))
      memory.set(Figure::LiveW, *Rational::sub(0, size()), place);
    for (Figure figure :
         {Figure::Parameters, Figure::Sharded, Figure::Receive, Figure::DuringF,
          Figure::DuringB, Figure::DuringI, Figure::DuringW})
      if (oneIn(rng, 2) &&
          (place == Place() || infoOf(figure).isIn(place.scope)))
        memory.set(figure, size(), place);
  };
  fill({});
  if (oneIn(rng, 2))
    fill({FigureScope::Stage, pick(rng, schedule.numStages)});
  while (oneIn(rng, 2))
    fill({FigureScope::Microbatch, pick(rng, schedule.numMicrobatches())});
  if (oneIn(rng, 2)) {
    for (unsigned i = 0; i != schedule.numMicrobatches(); ++i)
      schedule.order.push_back(i);
    std::ranges::shuffle(schedule.order, rng);
  }
}

/// The memory during or after the line at `at`. Each part is computed from the
/// whole list.
struct Kept {
  Rational activations, receives, parameters;
  unsigned receiveCount = 0;
};

Kept count(const Schedule &schedule, unsigned rank, size_t begin, size_t end,
           bool atEnd) {
  const StepList &list = schedule.ranks[rank];
  const MemorySettings &memory = schedule.memory;
  Kept kept;
  auto over = [&](size_t i) { return i < begin || (i < end && atEnd); };
  for (size_t i = 0; i != end; ++i) {
    Step step = list[i];
    if (isCompute(step.kind())) {
      UnitPlace unit = schedule.placeOf(step.unit());
      Rational delta = *memory.delta(step.kind(), step.stage(), unit);
      if (!delta.isNegative() || over(i))
        kept.activations = sum(kept.activations, delta);
      if (i >= begin && !atEnd)
        kept.activations = sum(kept.activations,
                               memory.during(step.kind(), step.stage(), unit));
    }
    if (isRecv(step.kind())) {
      bool used = false;
      for (size_t k = 0; k != end; ++k) {
        StepKind kind = list[k].kind();
        bool user = step.kind() == StepKind::RecvF
                        ? kind == StepKind::F
                        : kind == StepKind::B || kind == StepKind::W;
        used |= user && over(k) && list[k].stage() == step.stage() &&
                list[k].unit() == step.unit();
      }
      if (!used) {
        kept.receives = sum(kept.receives, memory.receive(step.stage()));
        ++kept.receiveCount;
      }
    }
  }
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    for (unsigned stage = 0; stage != schedule.numStages; ++stage) {
      if (schedule.placement.rankOf(stage, d) != rank ||
          (d == 1 && schedule.placement.rankOf(stage, 0) == rank))
        continue;
      bool managed = false, whole = false;
      for (size_t i = 0; i != list.size(); ++i) {
        StepKind kind = list[i].kind();
        if (list[i].stage() != stage ||
            (kind != StepKind::Unshard && kind != StepKind::Reshard))
          continue;
        managed = true;
        if (i < end)
          whole = kind == StepKind::Unshard;
      }
      if (managed)
        kept.parameters = sum(kept.parameters, memory.sharded(stage));
      if (!managed || whole)
        kept.parameters = sum(kept.parameters, memory.parameters(stage));
    }
  return kept;
}

} // namespace

TEST(Memory, IsAsDefined) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Rng rng(11);
  unsigned buffers = 0;
  for (unsigned n = 0; n != 300; ++n) {
    Schedule schedule = drawSchedule(rng);
    drawMemory(rng, schedule);
    auto model = MemoryModel::make(schedule, diags);
    ASSERT_TRUE(succeeded(model));
    auto simulation = simulate(schedule, diags);
    ASSERT_TRUE(succeeded(simulation));
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      const StepList &list = schedule.ranks[rank];
      std::vector<std::pair<int64_t, MemoryLevel>> curve;
      model->curve(*simulation, rank, [&](int64_t time, const MemoryLevel &l) {
        curve.push_back({time, l});
      });
      Kept first = count(schedule, rank, 0, 0, false);
      MemoryPeaks wanted{0, 0, first.parameters, first.parameters, 0};
      size_t point = 1;
      for (size_t begin = 0; begin != list.size();) {
        size_t end = Schedule::groupEnd(list, begin);
        bool computes = isCompute(list[begin].kind());
        for (bool atEnd : {false, true}) {
          if (atEnd && !computes)
            continue;
          Kept kept = count(schedule, rank, begin, end, atEnd);
          Rational total =
              sum(sum(kept.activations, kept.receives), kept.parameters);
          wanted.activations = most(wanted.activations, kept.activations);
          wanted.receives = most(wanted.receives, kept.receives);
          wanted.parameters = most(wanted.parameters, kept.parameters);
          wanted.total = most(wanted.total, total);
          wanted.receiveCount =
              std::max(wanted.receiveCount, kept.receiveCount);
          ASSERT_LT(point, curve.size()) << listing(schedule);
          const auto &[time, level] = curve[point++];
          EXPECT_EQ(model->size(level.total()), total) << listing(schedule);
          EXPECT_EQ(model->size(level.activations), kept.activations);
          EXPECT_EQ(level.receiveCount, kept.receiveCount);
          EXPECT_GE(time, curve[point - 2].first);
          if (computes) {
            EXPECT_EQ(time, atEnd ? simulation->end(rank, begin)
                                  : simulation->start(rank, begin));
          }
        }
        begin = end;
      }
      EXPECT_EQ(point, curve.size());
      MemoryPeaks peaks = model->peaks(rank);
      EXPECT_EQ(peaks.activations, wanted.activations) << listing(schedule);
      EXPECT_EQ(peaks.receives, wanted.receives) << listing(schedule);
      EXPECT_EQ(peaks.parameters, wanted.parameters) << listing(schedule);
      EXPECT_EQ(peaks.total, wanted.total) << listing(schedule);
      EXPECT_EQ(model->size(model->highest(rank).total), wanted.total);
      EXPECT_EQ(peaks.receiveCount, wanted.receiveCount) << listing(schedule);
      buffers += peaks.receiveCount;
    }
  }
  EXPECT_GT(buffers, 100u);
}

TEST(Memory, ReleaseFollowsFromI) {
  MemorySettings memory;
  EXPECT_EQ(*memory.delta(StepKind::B, 0), Rational(-1));
  EXPECT_EQ(*memory.delta(StepKind::W, 0), Rational(-1));
  memory.set(Figure::LiveI, *Rational::make(-1, 2));
  EXPECT_EQ(memory.delta(StepKind::W, 0), Rational::make(-1, 2));
  memory.set(Figure::LiveF, 2, {FigureScope::Stage, 1});
  EXPECT_EQ(*memory.delta(StepKind::B, 1), Rational(-2));
  EXPECT_EQ(memory.delta(StepKind::W, 1), Rational::make(-3, 2));
  EXPECT_EQ(memory.delta(StepKind::W, 0), Rational::make(-1, 2));
}

TEST(Memory, RefusesWhatDoesNotFit) {
  RecordedKinds recorded;
  DiagEngine &diags = recorded.diags;
  Rng rng(12);
  Schedule plain = randomSchedule(rng, {2, 2, 2});
  Schedule large = plain;
  large.memory.set(Figure::Parameters, INT64_MAX);
  EXPECT_TRUE(failed(MemoryModel::make(large, diags)));
  Schedule fine = plain;
  fine.memory.set(Figure::Receive, *Rational::make(1, 4294967291));
  fine.memory.set(Figure::Sharded, *Rational::make(1, 4294967279),
                  {FigureScope::Stage, 1});
  EXPECT_TRUE(failed(MemoryModel::make(fine, diags)));
  Schedule sum = plain;
  sum.memory.set(Figure::LiveF, INT64_MAX);
  sum.memory.set(Figure::LiveI, 1);
  EXPECT_TRUE(failed(MemoryModel::make(sum, diags)));
  EXPECT_EQ(recorded.kinds, Kinds(3, diag::MemoryTooLarge.value));
}

} // namespace pipec::test
