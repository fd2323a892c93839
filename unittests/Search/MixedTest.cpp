//===- MixedTest.cpp - Words with split and whole backwards ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the results and the bounds with the optimum over all words of tiny
// problems, and the times and the memory with the simulator.
//
//===----------------------------------------------------------------------===//

#include "Search/Mixed.h"
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

/// B is shorter than I and W together.
ScheduleHeader randomHeader(search::Random &random, unsigned ranks,
                            unsigned microbatches) {
  ScheduleHeader header;
  header.name = "mixed";
  header.numRanks = header.numStages = ranks;
  header.numUnits = microbatches;
  header.placement = Placement({search::placementMap(false, ranks, 1)});
  for (unsigned stage = 0; stage != ranks; ++stage) {
    Place place{FigureScope::Stage, stage};
    for (Figure figure : {Figure::F, Figure::I, Figure::W})
      header.costs.set(figure, test::quarters(random, 2, 12), place);
    header.costs.set(Figure::B, test::quarters(random, 4, 20), place);
    header.memory.set(Figure::LiveF, 4, place);
    header.memory.set(Figure::LiveI, test::quarters(random, 4, 16), place);
  }
  header.costs.set(Figure::P2P, test::quarters(random, 0, 3));
  header.memory.set(Figure::Limit, test::quarters(random, 16, 40));
  return header;
}

/// All words of one rank that fit its memory.
class AllWords {
public:
  AllWords(const search::MixedProblem &problem, unsigned rank)
      : problem(problem), rank(rank) {
    extend(0, 0, 0, 0, 0);
  }
  std::vector<search::Word> words;

private:
  void extend(unsigned f, unsigned b, unsigned i, unsigned w,
              search::Ticks held) {
    unsigned all = problem.base().microbatches;
    if (f == all && b + i == all && w == i) {
      words.push_back(word);
      return;
    }
    auto add = [&](search::MixedKind kind, bool holds, auto next) {
      const auto &own = problem.info(rank, kind);
      if (!holds || held + own.taken > problem.cap(rank))
        return;
      word.push_back(kind);
      next(held + own.taken - own.given);
      word.pop_back();
    };
    using search::Ticks;
    add(search::MixedF, f != all, [&](Ticks h) { extend(f + 1, b, i, w, h); });
    add(search::MixedB, b + i < f, [&](Ticks h) { extend(f, b + 1, i, w, h); });
    add(search::MixedI, b + i < f, [&](Ticks h) { extend(f, b, i + 1, w, h); });
    add(search::MixedW, w < i, [&](Ticks h) { extend(f, b, i, w + 1, h); });
  }

  const search::MixedProblem &problem;
  unsigned rank;
  search::Word word;
};

TEST(Mixed, AgreesWithAllWords) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  search::Random random(7);
  unsigned checked = 0, better = 0, missed = 0;
  for (unsigned round = 0; round != 60; ++round) {
    ScheduleHeader header = randomHeader(random, 2, 2);
    auto split = search::makeModel(header, /*split=*/true, diags);
    auto whole = search::makeModel(header, /*split=*/false, diags);
    if (failed(split) || failed(whole))
      continue;
    auto problem = search::MixedProblem::make(*split, *whole);
    ASSERT_TRUE(problem);
    std::optional<Rational> optimum, ofOneForm;
    AllWords first(*problem, 0), second(*problem, 1);
    for (const search::Word &a : first.words)
      for (const search::Word &b : second.words) {
        auto run = simulate(problem->makeSchedule({a, b}), diags);
        if (failed(run))
          continue;
        Rational makespan = run->time(run->makespan());
        if (!optimum || makespan < *optimum)
          optimum = makespan;
        auto has = [&](search::MixedKind kind) {
          return is_contained(a, kind) || is_contained(b, kind);
        };
        if (!(has(search::MixedB) && has(search::MixedI)) &&
            (!ofOneForm || makespan < *ofOneForm))
          ofOneForm = makespan;
      }
    ASSERT_TRUE(optimum && ofOneForm);
    better += *optimum < *ofOneForm;
    search::LowerBound bound =
        search::relaxedBound(*split, /*mixed=*/true, *ofOneForm,
                             search::Budget(search::workPerEffort / 100));
    EXPECT_LE(bound.bound, *optimum) << round;

    search::SearchOptions options;
    options.work = search::workPerEffort / 100;
    search::Budget budget(search::workPerEffort / 50);
    search::Found found = search::searchMixed(
        *problem,
        {problem->fromSplit(
             search::search(split->problem, {}, options).best.words),
         problem->fromWhole(
             search::search(whole->problem, {}, options).best.words)},
        /*seed=*/1, /*bound=*/0, budget);
    EXPECT_GE(problem->time(found.makespan), *optimum) << round;
    missed += problem->time(found.makespan) != *optimum;

    Schedule schedule = problem->makeSchedule(found.words);
    ASSERT_TRUE(succeeded(verify(schedule, diags)));
    auto run = simulate(schedule, diags);
    auto memory = MemoryModel::make(schedule, diags);
    ASSERT_TRUE(succeeded(run) && succeeded(memory));
    EXPECT_EQ(run->time(run->makespan()), problem->time(found.makespan));
    for (unsigned rank = 0; rank != header.numRanks; ++rank)
      EXPECT_LE(memory->peaks(rank).total, *header.memory.limit(rank));
    EXPECT_EQ(problem->wordsOf(schedule), found.words);
    ++checked;
  }
  EXPECT_GT(checked, 20u);
  // A local search of a hundredth of a second.
  EXPECT_LT(missed, 3u);
  // Both forms in one schedule gain.
  EXPECT_GT(better, 3u);
}

TEST(Mixed, IsNeverWorseThanItsStarts) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  search::Random random(11);
  for (unsigned round = 0; round != 10; ++round) {
    ScheduleHeader header = randomHeader(random, 4, 9);
    header.memory.set(Figure::Limit, 12);
    auto split = search::makeModel(header, /*split=*/true, diags);
    auto whole = search::makeModel(header, /*split=*/false, diags);
    if (failed(split) || failed(whole))
      continue;
    auto problem = search::MixedProblem::make(*split, *whole);
    ASSERT_TRUE(problem);
    search::SearchOptions options;
    options.work = search::workPerEffort / 100;
    auto parts = search::search(split->problem, {}, options).best;
    auto wholes = search::search(whole->problem, {}, options).best;
    search::Budget budget(search::workPerEffort / 50);
    search::Found found = search::searchMixed(
        *problem,
        {problem->fromSplit(parts.words), problem->fromWhole(wholes.words)},
        /*seed=*/1, /*bound=*/0, budget);
    EXPECT_LE(problem->time(found.makespan), split->time(parts.makespan));
    EXPECT_LE(problem->time(found.makespan), whole->time(wholes.makespan));
    auto run = simulate(problem->makeSchedule(found.words), diags);
    ASSERT_TRUE(succeeded(run));
    EXPECT_EQ(run->time(run->makespan()), problem->time(found.makespan));
  }
}

} // namespace
