//===- OrderWalkTest.cpp - Walks respect what steps take ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulation/OrderWalk.h"
#include "Waiting/RandomSchedules.h"

#include "gtest/gtest.h"

#include <map>
#include <string>

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

/// Each datum is the text of the step that gives it.
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
  Datum give(unsigned rank, size_t index, const DataFlow::Rule &) {
    EXPECT_EQ(visits.back().rank, rank);
    EXPECT_LE(visits.back().begin, index);
    EXPECT_LT(index, visits.back().end);
    return {text(schedule.ranks[rank][index])};
  }

  /// An I gives what a B would.
  static std::string text(Step step) {
    return std::string(step.kind() == StepKind::F ? "F" : "B") +
           std::to_string(step.stage()) + "." +
           std::to_string(step.microbatch());
  }

  const Schedule &schedule;
  std::map<unsigned, std::vector<std::string>> taken;
  std::vector<Visit> visits;
};

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
      // That it was taken means that it had been given.
      std::vector<std::string> expected;
      for (size_t i = visit.begin; i != visit.end; ++i)
        if (std::optional<Step> supplier = supplierOf(schedule, list[i]))
          expected.push_back(Recorder::text(*supplier));
      ASSERT_EQ(visit.taken, expected);
    }
    for (const auto &[head, list] : zip_equal(heads, schedule.ranks))
      ASSERT_EQ(head, list.size());
  }
}
