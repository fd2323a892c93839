//===- MemorySearch.cpp - Makespan against memory -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches under smaller memory limits than the given ones. All limits shrink
// by a common factor; the largest limit of a rank stands for all. Without a
// limit, all ranks start from the memory of the current schedule.
//
// A smaller limit excludes more schedules only if it is below one of the sizes
// that the activations of some rank can have. There are few of these sizes,
// unless stages differ much: then limits between them are left out, and the
// least one is between two limits.
//
//===----------------------------------------------------------------------===//

#include "SearchRun/PlacementSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <set>

using namespace llvm;

namespace pipec {

namespace {

/// The limits that differ, in ascending order, from the least limit for one
/// micro-batch.
class Levels {
public:
  Levels(const SearchProblem &problem, const FoundSchedule &found,
         DiagEngine &diags);

  unsigned size() const { return limits.size(); }
  Rational limit(unsigned level) const { return limits[level]; }
  /// The first level with at least this limit.
  unsigned at(Rational limit) const {
    return llvm::lower_bound(limits, limit) - limits.begin();
  }
  /// The last level with at most this limit, which is not below the first one.
  unsigned notAbove(Rational limit) const {
    return llvm::upper_bound(limits, limit) - limits.begin() - 1;
  }
  /// A lower bound of the least limit if there is no schedule at a level.
  Rational above(unsigned level) const {
    return limits[level + isExact < size() ? level + isExact : level];
  }
  /// The least limit for the words.
  Rational needOf(const search::Words &words) const;
  /// The problem with less memory; empty if the limits do not fit 64 bits.
  std::optional<SearchProblem> problemOf(Rational limit) const;

private:
  void addSizes(unsigned rank, std::set<Rational> &all);
  /// The limit with which a rank can hold a size.
  std::optional<Rational> limitFor(unsigned rank, search::Ticks size) const;

  static constexpr size_t maxSizes = 1 << 14, maxLevels = 1 << 17;

  const SearchProblem &problem;
  DiagEngine &diags;
  /// Where no rank has a limit.
  bool isOwn;
  /// The limit of each rank, as a part of the largest; 0 without one.
  std::vector<Rational> shares;
  Rational largest;
  std::vector<Rational> limits;
  /// No limits between two levels differ from the smaller one.
  bool isExact = true;
};

} // namespace

std::optional<Rational> Levels::limitFor(unsigned rank,
                                         search::Ticks size) const {
  const search::Model &model = problem.model;
  auto own = Rational::add(model.residents[rank], model.size(size));
  return own ? Rational::div(*own, shares[rank]) : std::nullopt;
}

Rational Levels::needOf(const search::Words &words) const {
  Rational need;
  for (unsigned rank = 0; rank != problem.request.ranks; ++rank)
    if (!shares[rank].isZero())
      need = std::max(
          need, limitFor(rank, problem.model.problem.peak(rank, words[rank]))
                    .value_or(largest));
  return need;
}

/// Adds the limits for all sizes that a rank can reach, up to its own limit:
/// sums of the sizes that its chunks hold between steps, plus the size of one
/// step.
void Levels::addSizes(unsigned rank, std::set<Rational> &all) {
  const search::Problem &of = problem.model.problem;
  search::Ticks cap = of.caps[rank];
  std::set<search::Ticks> parts, taken;
  for (unsigned chunk = 0; chunk != of.chunks; ++chunk) {
    const search::StageFigures &own = of.stages[of.stageOf(rank, chunk)];
    parts.insert({own.taken(), own.givenByW});
  }
  for (unsigned letter = 0; letter != of.numLetters(); ++letter)
    taken.insert(of.info(rank, letter).taken);
  parts.erase(0);
  std::vector<search::Ticks> sums = {0};
  for (search::Ticks part : parts) {
    for (size_t i = 0; i != sums.size() && sums.size() <= maxSizes; ++i)
      if (sums[i] + part <= cap)
        sums.push_back(sums[i] + part);
    llvm::sort(sums);
    sums.erase(llvm::unique(sums), sums.end());
  }
  isExact &= sums.size() <= maxSizes;
  for (search::Ticks more : taken)
    for (search::Ticks sum : sums)
      if (std::optional<Rational> limit = limitFor(rank, sum + more);
          limit && sum + more <= cap)
        all.insert(*limit);
      else
        isExact &= limit.has_value();
}

Levels::Levels(const SearchProblem &problem, const FoundSchedule &found,
               DiagEngine &diags)
    : problem(problem), diags(diags),
      isOwn(!problem.model.header.memory.hasLimit()) {
  const MemorySettings &memory = problem.model.header.memory;
  const search::Problem &of = problem.model.problem;
  unsigned ranks = problem.request.ranks;
  for (unsigned rank = 0; rank != ranks; ++rank) {
    std::optional<Rational> own =
        isOwn ? found.totals[rank] : memory.limit(rank);
    shares.push_back(own.value_or(0));
    largest = std::max(largest, shares.back());
  }
  if (isOwn)
    shares.assign(ranks, largest);
  for (Rational &share : shares) {
    std::optional<Rational> part =
        share.isZero() ? share : Rational::div(share, largest);
    isExact &= part.has_value();
    share = part.value_or(1);
  }
  // Many ranks are alike.
  std::set<std::tuple<Rational, Rational, std::vector<search::Ticks>>> seen;
  std::set<Rational> all;
  Rational least;
  for (unsigned rank = 0; rank != ranks; ++rank) {
    if (shares[rank].isZero())
      continue;
    std::vector<search::Ticks> figures = {of.caps[rank]};
    for (unsigned chunk = 0; chunk != of.chunks; ++chunk) {
      const search::StageFigures &own = of.stages[of.stageOf(rank, chunk)];
      figures.insert(figures.end(), {own.givenByI, own.givenByW, own.during[0],
                                     own.during[1], own.during[2]});
    }
    if (!seen.insert({shares[rank], problem.model.residents[rank], figures})
             .second)
      continue;
    least = std::max(least,
                     limitFor(rank, of.roomForOne(rank)).value_or(Rational(0)));
    if (all.size() <= maxLevels)
      addSizes(rank, all);
  }
  isExact &= all.size() <= maxLevels;
  all.insert({least, needOf(found.words), largest});
  limits.assign(all.lower_bound(least), all.end());
}

std::optional<SearchProblem> Levels::problemOf(Rational limit) const {
  ScheduleHeader header = problem.model.header;
  MemorySettings &memory = header.memory;
  auto part = Rational::div(limit, largest);
  bool fits = true;
  auto shrink = [&](Rational of, Place place) {
    // The largest has no quotient, which may not fit.
    auto own = of == largest ? limit : part ? Rational::mul(of, *part) : part;
    fits &= own.has_value();
    memory.set(Figure::Limit, own.value_or(of), place);
  };
  if (isOwn)
    memory.set(Figure::Limit, limit);
  else if (std::optional<Rational> general = memory.get(Figure::Limit))
    shrink(*general, {});
  for (unsigned rank = 0; rank != header.numRanks; ++rank) {
    Place place{FigureScope::Rank, rank};
    if (auto own = memory.get(Figure::Limit, place))
      shrink(*own, place);
  }
  // A rank that cannot hold one micro-batch only ends the search for smaller
  // limits.
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  FailureOr<search::Model> model =
      search::makeModel(header, problem.request.split, diags);
  if (!fits || failed(model))
    return std::nullopt;
  SearchProblem own = {problem.request,       std::move(*model), {}, {}, {},
                       problem.libraryLeftOut};
  llvm::copy_if(problem.starts, std::back_inserter(own.starts),
                [&](const SearchStart &start) {
                  return own.model.problem.isValid(start.words);
                });
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
  Rational need = levels.needOf(found.words);
  Rational proven =
      problem.model.problem.roomForOneIsLeast() ? levels.limit(0) : 0;
  unsigned low = 0, high = levels.at(need);
  const FoundSchedule first = found;
  bool stopped = found.stopped;
  // Of so many searches each gets the same.
  limits.work = work / std::max<uint64_t>(1, std::bit_width(high - low));
  // False if the limits do not fit 64 bits, in units of the sizes.
  auto take = [&](FoundSchedule better) {
    Rational less = levels.needOf(better.words);
    std::optional<SearchProblem> own = levels.problemOf(less);
    if (!own)
      return false;
    problem = std::move(*own);
    better.model = problem.model;
    better.schedule.memory = problem.model.header.memory;
    better.library = problem.library;
    found = std::move(better);
    need = less;
    high = levels.at(less);
    return true;
  };
  bool fits = take(first);
  while (fits && low < high && !isStopped(problem)) {
    unsigned middle = (low + high) / 2;
    std::optional<SearchProblem> own = levels.problemOf(levels.limit(middle));
    if (!own)
      break;
    FailureOr<FoundSchedule> better = search.find(*own, limits);
    if (failed(better))
      return failure();
    if (better->makespan <= *limits.goal) {
      // Less may do as well.
      fits = take(std::move(*better));
      continue;
    }
    low = middle + 1;
    if (better->bound > *limits.goal)
      proven = levels.above(middle);
  }
  found.stopped = stopped || isStopped(problem);
  // A bound with more memory also holds with less.
  if (found.bound < first.bound)
    found.takeBound(first);
  return MinimalMemory{*limits.goal, need, std::min(proven, need)};
}

FailureOr<std::vector<MemoryPoint>> searchFrontier(ScheduleSearch &search,
                                                   uint64_t work,
                                                   const SearchProblem &problem,
                                                   FoundSchedule &found,
                                                   DiagEngine &diags) {
  Levels levels(problem, found, diags);
  Rational least = levels.limit(0), most = levels.needOf(found.words);
  unsigned high = levels.at(most);
  constexpr unsigned maxPoints = 12;
  unsigned count = std::min(maxPoints, high + 1);
  // Equal distances, rounded down to limits that differ.
  std::set<unsigned> chosen;
  for (unsigned i = 0; i != count; ++i) {
    auto step = Rational::mul(*Rational::make(i, std::max(1u, count - 1)),
                              Rational::sub(most, least).value_or(0));
    std::optional<Rational> limit =
        step ? Rational::add(least, *step) : std::nullopt;
    chosen.insert(i + 1 == count ? high
                  : limit        ? levels.notAbove(*limit)
                                 : high * i / (count - 1));
  }
  std::vector<MemoryPoint> points;
  std::optional<SearchStart> before;
  for (unsigned level : chosen) {
    if (isStopped(problem))
      break;
    std::optional<SearchProblem> own = levels.problemOf(levels.limit(level));
    if (!own)
      continue;
    if (before)
      own->starts.push_back(*before);
    // The last level starts from the known result.
    if (level == high)
      own->starts.push_back(startOf(found));
    FailureOr<FoundSchedule> here = search.find(*own, {work / chosen.size()});
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
