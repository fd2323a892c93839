//===- MemorySearch.cpp - Makespan against memory -------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/MemorySearch.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>

using namespace llvm;

namespace pipec {

namespace {

/// The limits by level: level `most` is the given one, and level 0 is nothing.
class Levels {
public:
  Levels(const SearchProblem &problem, const FoundSchedule &found,
         DiagEngine &diags);

  /// The largest limit at a level.
  Rational limit(unsigned level) const { return scaled(largest, level); }
  /// Nothing when some rank has no room for a micro-batch.
  std::optional<SearchProblem> at(unsigned level) const;
  /// The least level that has room for the words.
  unsigned leastOf(const search::Words &words) const {
    return least([&](const SearchProblem &problem) {
      return problem.model.problem.isValid(words);
    });
  }
  /// The least level at which there is a schedule.
  unsigned leastOfAny() const {
    return least([](const SearchProblem &) { return true; });
  }

  unsigned most = 1;

private:
  Rational scaled(Rational limit, unsigned level) const {
    auto part = Rational::make(level, most);
    return Rational::mul(limit, *part).value_or(limit);
  }
  unsigned least(function_ref<bool(const SearchProblem &)> fits) const {
    unsigned low = 0, high = most;
    while (high - low > 1) {
      unsigned middle = (low + high) / 2;
      std::optional<SearchProblem> problem = at(middle);
      (problem && fits(*problem) ? high : low) = middle;
    }
    return high;
  }

  const SearchProblem &problem;
  DiagEngine &diags;
  /// Where no rank has a limit.
  std::optional<Rational> given;
  Rational largest;
};

} // namespace

Levels::Levels(const SearchProblem &problem, const FoundSchedule &found,
               DiagEngine &diags)
    : problem(problem), diags(diags) {
  const MemorySettings &memory = problem.model.header.memory;
  Rational unit = problem.model.size(1);
  for (unsigned rank = 0; rank != problem.request.ranks; ++rank) {
    std::optional<Rational> own = memory.limit(rank);
    if (!memory.hasLimit())
      own = found.totals[rank];
    if (own)
      largest = std::max(largest, *own);
  }
  if (!memory.hasLimit())
    given = largest;
  std::optional<Rational> units = Rational::div(largest, unit);
  constexpr unsigned finest = 256;
  if (!units || *units > Rational(finest))
    most = finest;
  else
    most = std::max<unsigned>(1, units->floor());
}

std::optional<SearchProblem> Levels::at(unsigned level) const {
  ScheduleHeader header = problem.model.header;
  MemorySettings &memory = header.memory;
  if (given)
    memory.set(Figure::Limit, scaled(*given, level));
  else if (std::optional<Rational> limit = memory.get(Figure::Limit))
    memory.set(Figure::Limit, scaled(*limit, level));
  for (unsigned rank = 0; rank != header.numRanks; ++rank)
    if (auto own = memory.get(Figure::Limit, {FigureScope::Rank, rank}))
      memory.set(Figure::Limit, scaled(*own, level), {FigureScope::Rank, rank});
  // A rank without room only ends the search for smaller limits.
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  FailureOr<search::Model> model =
      search::makeModel(header, problem.request.split, diags);
  if (failed(model))
    return std::nullopt;
  SearchProblem own = {problem.request, std::move(*model), {}, {}};
  auto fits = [&](const SearchStart &start) {
    return own.model.problem.isValid(start.words);
  };
  for (const SearchStart &start : problem.starts)
    if (fits(start))
      own.starts.push_back(start);
  own.library = bestOfLibrary(problem.starts, own.model.header.memory);
  return own;
}

static SearchStart startOf(const FoundSchedule &found) {
  return {"found", {}, found.words, found.makespan};
}

static bool isStopped(const SearchProblem &problem) {
  return problem.request.stop && *problem.request.stop;
}

FailureOr<MinimalMemory> minimizeMemory(ScheduleSearch &search, uint64_t slack,
                                        uint64_t work, SearchProblem &problem,
                                        FoundSchedule &found,
                                        DiagEngine &diags) {
  const SearchProblem whole = problem;
  Levels levels(whole, found, diags);
  auto factor = Rational::make(1'000'000 + int64_t(slack), 1'000'000);
  std::optional<Rational> goal = Rational::mul(found.makespan, *factor);
  SearchLimits limits;
  limits.goal = goal.value_or(found.makespan);
  limits.uselessBound =
      Rational::add(*limits.goal, problem.model.time(1)).value_or(*limits.goal);
  // No schedule at a level below `proven` has such a makespan.
  unsigned low = levels.leastOfAny(), high = levels.leastOf(found.words);
  unsigned proven = low;
  const FoundSchedule first = found;
  bool stopped = found.stopped;
  // Of so many searches each gets the same.
  limits.work = work / std::max<uint64_t>(1, std::bit_width(high - low));
  auto take = [&](FoundSchedule better, unsigned level) {
    problem = std::move(*levels.at(level));
    better.model = problem.model;
    better.schedule.memory = problem.model.header.memory;
    better.library = problem.library;
    found = std::move(better);
    high = level;
  };
  take(std::move(found), high);
  while (low < high && !isStopped(problem)) {
    unsigned middle = (low + high) / 2;
    std::optional<SearchProblem> own = levels.at(middle);
    assert(own && "levels from `low` on have room");
    FailureOr<FoundSchedule> better = search.find(*own, limits);
    if (failed(better))
      return failure();
    if (better->makespan <= *limits.goal) {
      // Less may do as well.
      unsigned level = levels.leastOf(better->words);
      take(std::move(*better), std::min(level, middle));
      continue;
    }
    low = middle + 1;
    if (better->bound > *limits.goal)
      proven = low;
  }
  found.stopped = stopped || isStopped(problem);
  // A bound with more memory is one with less.
  if (found.bound < first.bound)
    found.takeBound(first);
  return MinimalMemory{*limits.goal, levels.limit(high), levels.limit(proven)};
}

FailureOr<std::vector<MemoryPoint>> searchFrontier(ScheduleSearch &search,
                                                   uint64_t work,
                                                   const SearchProblem &problem,
                                                   FoundSchedule &found,
                                                   DiagEngine &diags) {
  Levels levels(problem, found, diags);
  unsigned low = levels.leastOfAny(), high = levels.leastOf(found.words);
  constexpr unsigned maxPoints = 12;
  unsigned count = std::min(maxPoints, high - low + 1);
  std::vector<MemoryPoint> points;
  std::optional<SearchStart> before;
  for (unsigned i = 0; i != count && !isStopped(problem); ++i) {
    unsigned level = count == 1 ? high : low + (high - low) * i / (count - 1);
    std::optional<SearchProblem> own = levels.at(level);
    assert(own && "levels from `low` on have room");
    if (before)
      own->starts.push_back(*before);
    // The last has what was found already.
    if (level == high)
      own->starts.push_back(startOf(found));
    SearchLimits limits;
    limits.work = work / count;
    FailureOr<FoundSchedule> here = search.find(*own, limits);
    if (failed(here))
      return failure();
    before = startOf(*here);
    points.push_back({levels.limit(level), *max_element(here->peaks),
                      here->makespan, here->bound});
    if (here->makespan < found.makespan &&
        failed(search.setWords(problem, here->words, found)))
      return failure();
  }
  found.stopped |= isStopped(problem);
  // A bound with more memory is one with less.
  Rational bound = found.bound;
  for (MemoryPoint &point : reverse(points))
    point.bound = bound = std::max(bound, point.bound);
  return points;
}

} // namespace pipec
