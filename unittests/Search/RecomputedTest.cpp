//===- RecomputedTest.cpp - Problems with recomputed stages ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Model.h"
#include "Search/RandomProblems.h"
#include "Search/Relaxation.h"
#include "Search/Search.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Support/SourceFiles.h"
#include "Verify/Verifier.h"

#include "gtest/gtest.h"

using namespace pipec;
using namespace llvm;

namespace {

/// A header with costs and sizes of its own for each stage.
ScheduleHeader randomHeader(search::Random &random) {
  ScheduleHeader header = test::randomSizes(random);
  for (unsigned stage = 0; stage != header.numStages; ++stage) {
    Place place{FigureScope::Stage, stage};
    for (Figure figure : {Figure::F, Figure::I, Figure::W, Figure::R})
      header.costs.set(figure, test::quarters(random, 1, 12), place);
    header.costs.set(Figure::B, test::quarters(random, 4, 24), place);
    header.memory.set(Figure::LiveF, test::quarters(random, 4, 12), place);
    header.memory.set(Figure::LiveI,
                      *Rational::sub(1, test::quarters(random, 0, 8)), place);
    header.memory.set(Figure::Stash, test::quarters(random, 0, 4), place);
    for (Figure figure : {Figure::DuringF, Figure::DuringB, Figure::DuringI})
      header.memory.set(figure, test::quarters(random, 0, 6), place);
  }
  header.costs.set(Figure::P2P, test::quarters(random, 0, 3));
  return header;
}

/// Searches with some stages recomputed, and compares the schedule with the
/// problem: its memory is the same, and it is not longer.
void check(bool split, uint64_t seed) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  search::Random random(seed);
  unsigned checked = 0;
  for (unsigned round = 0; round != 100; ++round) {
    ScheduleHeader header = randomHeader(random);
    std::vector<bool> recomputed;
    for (unsigned stage = 0; stage != header.numStages; ++stage)
      recomputed.push_back(random.below(2));
    auto free = search::makeModel(header, split, diags);
    header.memory.set(Figure::Limit, test::quarters(random, 20, 60));
    auto model = search::makeModel(header, split, diags, recomputed);
    if (failed(free) || failed(model))
      continue;
    search::SearchOptions options;
    options.work = search::workPerEffort / 50;
    search::SearchResult found = search::search(model->problem, {}, options);
    Schedule schedule = search::makeSchedule(*model, found.best.words);
    ASSERT_TRUE(succeeded(verify(schedule, diags)));
    auto run = simulate(schedule, diags);
    auto memory = MemoryModel::make(schedule, diags);
    ASSERT_TRUE(succeeded(run) && succeeded(memory));
    Rational makespan = run->time(run->makespan());
    EXPECT_LE(makespan, model->time(found.best.makespan));
    EXPECT_GE(makespan, search::leastBound(*free).bound);
    for (unsigned rank = 0; rank != header.numRanks; ++rank) {
      EXPECT_EQ(memory->peaks(rank).total,
                model->size(model->problem.peak(rank, found.best.words[rank])));
      EXPECT_LE(memory->peaks(rank).total, *header.memory.limit(rank));
    }
    ++checked;
  }
  EXPECT_GT(checked, 30u);
}

} // namespace

TEST(Recomputed, SchedulesFitWithSplitBackwards) { check(true, 1); }
TEST(Recomputed, SchedulesFitWithWholeBackwards) { check(false, 2); }
