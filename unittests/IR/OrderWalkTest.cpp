//===- OrderWalkTest.cpp - Walks respect the data flow --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/OrderWalk.h"
#include "IR/GraphSchedules.h"

#include "llvm/ADT/Twine.h"

#include "gtest/gtest.h"

#include <map>
#include <set>
#include <string>

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

/// Each datum is the text of its producer.
struct Recorder {
  struct Datum {
    std::string maker;
  };
  struct Visit {
    unsigned rank;
    size_t begin;
    size_t end;
    std::vector<std::string> taken;
  };

  explicit Recorder(const Schedule &schedule) : schedule(schedule) {}

  static bool isThere(const Datum &datum) { return !datum.maker.empty(); }
  void take(unsigned rank, const Datum &datum) {
    taken[rank].push_back(datum.maker);
  }
  void visit(unsigned rank, size_t begin, size_t end) {
    visits.push_back({rank, begin, end, std::move(taken[rank])});
    taken[rank].clear();
  }
  Datum give(unsigned rank, size_t index, const DataFlow::Port &) {
    EXPECT_EQ(visits.back().rank, rank);
    EXPECT_LE(visits.back().begin, index);
    EXPECT_LT(index, visits.back().end);
    return {text(schedule.ranks[rank][index])};
  }

  /// An I produces the same as a B.
  static std::string text(Step step) {
    StepKind kind = step.kind() == StepKind::I ? StepKind::B : step.kind();
    return stepKindName(kind).str() + std::to_string(step.stage()) + "." +
           std::to_string(step.unit());
  }

  const Schedule &schedule;
  std::map<unsigned, std::vector<std::string>> taken;
  std::vector<Visit> visits;
};

/// The producer of the input of `step` in a chain of stages.
std::optional<Step> producerOf(const Schedule &schedule, Step step) {
  if (step.kind() == StepKind::F && step.stage() != 0)
    return Step(StepKind::F, step.stage() - 1, step.unit());
  bool gradient = step.kind() == StepKind::B || step.kind() == StepKind::I;
  if (gradient && !schedule.isLastStage(step.stage()))
    return Step(StepKind::B, step.stage() + 1, step.unit());
  return std::nullopt;
}

} // namespace

TEST(OrderWalk, VisitsEachGroupBehindWhatItTakes) {
  Rng rng(21);
  for (unsigned round = 0; round != 1000; ++round) {
    Schedule schedule = randomSchedule(rng, randomOptions(rng));
    Recorder recorder(schedule);
    OrderWalk<Recorder> walk(schedule, recorder);
    ASSERT_TRUE(walk.run());
    std::vector<size_t> heads(schedule.numRanks);
    for (const Recorder::Visit &visit : recorder.visits) {
      const StepList &list = schedule.ranks[visit.rank];
      ASSERT_EQ(visit.begin, heads[visit.rank]);
      ASSERT_EQ(visit.end, Schedule::groupEnd(list, visit.begin));
      heads[visit.rank] = visit.end;
      // A datum that was taken must have been produced before.
      std::vector<std::string> expected;
      for (size_t i = visit.begin; i != visit.end; ++i)
        if (std::optional<Step> producer = producerOf(schedule, list[i]))
          expected.push_back(Recorder::text(*producer));
      ASSERT_EQ(visit.taken, expected);
    }
    for (const auto &[head, list] : zip_equal(heads, schedule.ranks))
      ASSERT_EQ(head, list.size());
  }
}

/// Walks over the lists of a stage graph, and compares where each rank stops
/// with an evaluation that repeatedly checks all ranks.
static void checkWalk(const Schedule &schedule, const Model &graph) {
  std::vector<size_t> heads(schedule.numRanks);
  std::set<std::string> done;
  auto textOf = [](Step step) {
    return (stepKindName(step.kind()) + Twine(step.stage()) + "." +
            Twine(step.unit()))
        .str();
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      if (heads[rank] == schedule.ranks[rank].size())
        continue;
      Step step = schedule.ranks[rank][heads[rank]];
      if (!all_of(producersOf(graph, step),
                  [&](Step other) { return done.count(textOf(other)) != 0; }))
        continue;
      done.insert(textOf(step));
      ++heads[rank];
      progress = true;
    }
  }
  Recorder recorder(schedule);
  OrderWalk<Recorder> walk(schedule, recorder, DataFlow(schedule));
  bool ends = walk.run();
  bool expected = true;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    ASSERT_EQ(walk.group(rank), heads[rank]);
    expected &= heads[rank] == schedule.ranks[rank].size();
  }
  ASSERT_EQ(ends, expected);
  // Each step took one datum from each of its producers.
  for (const Recorder::Visit &visit : recorder.visits)
    ASSERT_EQ(
        visit.taken.size(),
        producersOf(graph, schedule.ranks[visit.rank][visit.begin]).size());
}

TEST(OrderWalk, OfStageGraphs) {
  Rng rng(22);
  for (unsigned round = 0; round != 1000; ++round) {
    Model graph = round % 3 == 0   ? forkGraph()
                  : round % 3 == 1 ? joinGraph()
                                   : randomGraph(rng);
    Schedule schedule = randomHeaderFor(rng, graph);
    fillLists(rng, graph, /*transfers=*/false, schedule);
    for (unsigned swaps = pick(rng, 6); swaps != 0; --swaps)
      swapNeighbours(rng, schedule);
    ASSERT_NO_FATAL_FAILURE(checkWalk(schedule, graph));
  }
}

TEST(OrderWalk, AForkGoesOnWhenBothGradientsAreThere) {
  Schedule schedule = headerFor(forkGraph(), 1);
  schedule.ranks = {{Step(StepKind::F, 0, 0), Step(StepKind::B, 0, 0)},
                    {Step(StepKind::F, 1, 0), Step(StepKind::B, 1, 0)},
                    {Step(StepKind::F, 2, 0)}};
  Recorder recorder(schedule);
  OrderWalk<Recorder> walk(schedule, recorder, DataFlow(schedule));
  EXPECT_FALSE(walk.run());
  EXPECT_EQ(walk.group(0), 1u);
  const DataFlow::Port *input = walk.missingInput(schedule.ranks[0][1]);
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(input->stage, 2u);
  EXPECT_EQ(input->rank, 2u);
}
