//===- MemorySearchTest.cpp - The least memory limit ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Random.h"
#include "SearchRun/PlacementSearch.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace pipec;
using search::Random;

namespace {

/// Sizes that are not multiples of each other, parameters, limits of single
/// ranks, and limits that no schedule needs in full.
MemorySettings randomMemory(Random &random, unsigned ranks, unsigned stages) {
  MemorySettings memory;
  int64_t unit = random.chance(50) ? 1 : 1000;
  auto size = [&](unsigned from, unsigned to) {
    return Rational(unit * int64_t(from + random.below(to - from + 1)));
  };
  memory.set(Figure::LiveF, size(2, 4));
  if (random.chance(60))
    memory.set(Figure::LiveI, *Rational::make(unit * random.below(5) - 2 * unit,
                                              random.chance(50) ? 1 : 2));
  if (random.chance(40))
    memory.set(Figure::DuringI, size(0, 3));
  if (random.chance(40))
    memory.set(Figure::Parameters, *Rational::make(random.below(9), 2));
  if (random.chance(40))
    memory.set(Figure::LiveF, size(2, 5),
               {FigureScope::Stage, unsigned(random.below(stages))});
  if (random.chance(75))
    memory.set(Figure::Limit, *Rational::make(unit * (20 + random.below(40)),
                                              random.chance(50) ? 1 : 3));
  if (random.chance(30))
    memory.set(Figure::Limit, size(15, 40),
               {FigureScope::Rank, unsigned(random.below(ranks))});
  return memory;
}

/// All limits as a part of those of `memory`, or that of all ranks.
MemorySettings shrunk(MemorySettings memory, Rational largest, Rational limit) {
  bool isOwn = !memory.hasLimit();
  Rational part = *Rational::div(limit, largest);
  if (isOwn)
    memory.set(Figure::Limit, limit);
  else if (auto general = memory.get(Figure::Limit))
    memory.set(Figure::Limit, *Rational::mul(*general, part));
  for (unsigned rank = 0; rank != 3; ++rank)
    if (auto own = memory.get(Figure::Limit, {FigureScope::Rank, rank}))
      memory.set(Figure::Limit, *Rational::mul(*own, part),
                 {FigureScope::Rank, rank});
  return memory;
}

} // namespace

/// Searches under many limits below the one that is said to be the least, and
/// just below it: none has the makespan.
TEST(MemorySearch, NothingIsFoundBelowTheLeast) {
  SourceFiles files;
  SearchPath path("pipec", {});
  Arguments args({}, CommandSyntax());
  Progress progress("pipec", nulls());
  Random random(31);
  unsigned least = 0, total = 0;
  for (unsigned round = 0; round != 150; ++round) {
    DiagEngine diags(files, [](const Diagnostic &) {});
    SearchRequest request;
    request.ranks = 1 + random.below(3);
    request.microbatches = 2 + random.below(3);
    request.chunks = 1 + random.below(2);
    request.isV = random.chance(50);
    request.split = random.chance(75);
    request.library = false;
    request.effort = 1;
    CostSettings costs;
    for (Figure figure : {Figure::F, Figure::I, Figure::W, Figure::P2P})
      costs.set(figure, Rational(1 + random.below(6)));
    request.given.costs.push_back(costs);
    MemorySettings memory =
        randomMemory(random, request.ranks, request.ranks * request.chunks);
    request.given.memory.push_back(memory);
    ScheduleSearch searcher(path, args, progress, diags);
    auto problem = searcher.prepare(request);
    if (failed(problem))
      continue;
    SearchLimits limits{request.work() / 30};
    auto found = searcher.find(*problem, limits);
    ASSERT_TRUE(succeeded(found));
    Rational largest;
    for (unsigned rank = 0; rank != request.ranks; ++rank)
      largest =
          std::max(largest, memory.hasLimit() ? memory.limit(rank).value_or(0)
                                              : found->totals[rank]);
    auto minimal = minimizeMemory(searcher, random.chance(30) ? 50'000 : 0,
                                  request.work() / 10, *problem, *found, diags);
    ASSERT_TRUE(succeeded(minimal));
    ASSERT_LE(minimal->bound, minimal->limit);
    ASSERT_LE(found->makespan, minimal->goal);
    ++total;
    least += minimal->bound == minimal->limit;

    auto makespanAt = [&](Rational limit) -> std::optional<Rational> {
      DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
      SearchRequest own = request;
      own.given.memory = {shrunk(memory, largest, limit)};
      auto model = searcher.prepare(own);
      if (failed(model))
        return std::nullopt;
      auto other = searcher.find(*model, limits);
      return succeeded(other) ? std::optional(other->makespan) : std::nullopt;
    };
    // The limit itself has a schedule.
    std::optional<Rational> there = makespanAt(minimal->limit);
    ASSERT_TRUE(there && *there <= minimal->goal) << round;
    // Just below the bound, and at parts of it.
    Rational below =
        *Rational::mul(minimal->bound, *Rational::make(9999, 10000));
    for (unsigned i = 0; i != 12; ++i) {
      std::optional<Rational> found = makespanAt(below);
      ASSERT_TRUE(!found || minimal->goal < *found)
          << round << ": " << below.numerator() << "/" << below.denominator();
      below = *Rational::mul(minimal->bound, *Rational::make(99 - i * 6, 100));
    }
  }
  EXPECT_GE(total, 100u);
  EXPECT_GE(least * 100, total * 80);
}
