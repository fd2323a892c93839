//===- ListRun.cpp - Searches for lists from schedules --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/ListRun.h"

#include "SearchRun/ScheduleSearch.h"
#include "Support/Decimal.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

std::optional<Schedule> searchLists(const ScheduleHeader &header,
                                    ArrayRef<const Schedule *> starts,
                                    search::ListMoves moves, uint64_t seed,
                                    Rational bound, search::Budget &budget,
                                    DiagEngine &diags) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  auto problem = search::ListProblem::make(header, diags);
  if (!problem)
    return std::nullopt;
  std::vector<std::vector<search::ItemList>> lists;
  std::optional<Rational> least;
  for (const Schedule *start : starts) {
    if (std::optional<Rational> own = makespanOf(*start, diags))
      least = least ? std::min(*least, *own) : *own;
    if (auto own = problem->listsOf(*start))
      lists.push_back(std::move(*own));
  }
  search::FoundLists best = search::searchLists(
      *problem, lists, moves, seed, problem->ticksNotAbove(bound), budget);
  if (best.lists.empty() || !least || problem->time(best.makespan) >= *least)
    return std::nullopt;
  Schedule found = problem->makeSchedule(best.lists);
  found.expectations.clear();
  [[maybe_unused]] std::optional<Rational> makespan = makespanOf(found, diags);
  assert(makespan == problem->time(best.makespan) &&
         "the search and the simulator agree");
  FailureOr<std::vector<Rational>> totals = totalsOf(found, diags);
  if (failed(verify(found, diags)) || failed(totals) ||
      !areWithin(*totals, header.memory)) {
    assert(false && "lists are valid and fit");
    return std::nullopt;
  }
  return found;
}

bool ScheduleSearch::makesOverlaps(const SearchProblem &problem) {
  const search::Model &model = problem.model;
  return search::overlapsGain(model, problem.request.mixed) &&
         !model.leavesOutOccupancy && !model.leavesOutPorts &&
         model.header.numSlices == 1 && !problem.request.onlyWords &&
         problem.request.recomputed.empty();
}

/// Searches for lists with overlaps, from the words of the result, from the
/// best starts, and from `better`, whose makespan the result has then. Replaces
/// the schedule by better lists.
void ScheduleSearch::findLists(const SearchProblem &problem,
                               const SearchLimits &limits,
                               const SearchStart *better,
                               FoundSchedule &found) {
  progress.phase("searching for overlaps");
  std::vector<const SearchStart *> starts;
  for (const SearchStart &start : problem.starts)
    if (problem.request.takes(start) && start.overlaps)
      starts.push_back(&start);
  llvm::stable_sort(starts, [](const SearchStart *a, const SearchStart *b) {
    return a->makespan < b->makespan;
  });
  constexpr size_t most = 3;
  if (starts.size() > most)
    starts.resize(most);
  if (better && better->schedule)
    starts.push_back(better);
  std::vector<const Schedule *> schedules;
  for (const SearchStart *start : starts)
    schedules.push_back(start->schedule.get());
  for (const Schedule &own : problem.lists)
    schedules.push_back(&own);
  if (!found.schedule.ranks.empty())
    schedules.push_back(&found.schedule);
  search::ListMoves moves;
  moves.overlaps = true;
  moves.forms = problem.request.mixed;
  search::Budget budget(limits.work, problem.request.stop);
  std::optional<Schedule> lists =
      searchLists(problem.model.header, schedules, moves, problem.request.seed,
                  problem.leastBound().bound, budget, diags);
  found.spent += budget.spent();
  found.stopped |= budget.isStopped();
  if (!lists)
    return;
  std::optional<Rational> makespan = makespanOf(*lists, diags);
  if (!makespan || *makespan >= found.makespan)
    return;
  found.schedule = std::move(*lists);
  found.form = formOf(found.schedule);
  found.makespan = *makespan;
  found.isOfLists = true;
}

/// Searches for lists of a placement with two directions, from all starts and
/// from their orders with the backwards of the request.
FailureOr<FoundSchedule>
ScheduleSearch::findBothWays(const SearchProblem &problem,
                             const SearchLimits &limits) {
  const SearchRequest &request = problem.request;
  const search::Model &model = problem.model;
  FoundSchedule found = problem.emptyResult();
  found.overlapsGain = search::overlapsGain(model, request.mixed);
  // These fit where any lists do.
  std::vector<Schedule> starts;
  for (bool isSecondFirst : {false, true})
    starts.push_back(
        search::serialLists(model.header, request.split, isSecondFirst));
  std::vector<std::string> titles(starts.size());
  auto add = [&](Schedule schedule, std::string title = "") {
    starts.push_back(std::move(schedule));
    titles.push_back(std::move(title));
  };
  for (const SearchStart &start : problem.starts) {
    if (request.takes(start))
      add(*start.schedule, start.title());
    if (!start.words.empty())
      add(search::makeSchedule(model, start.words));
    if (!request.mixed)
      continue;
    if (auto words = search::wordsOf(
            *problem.whole, start.schedule
                                ? *start.schedule
                                : search::makeSchedule(model, start.words)))
      add(search::makeSchedule(*problem.whole, *words));
  }
  std::vector<const Schedule *> all;
  std::optional<size_t> best;
  for (const Schedule &start : starts) {
    std::optional<Rational> makespan = makespanOf(start, diags);
    if (makespan && (!best || *makespan < found.makespan)) {
      best = all.size();
      found.makespan = *makespan;
    }
    all.push_back(&start);
  }
  assert(best && "micro-batches can run one after the other");

  search::LowerBound least = problem.leastBound();
  auto showFigures = [&](Rational bound) {
    show(request,
         "makespan " + decimalText(found.makespan) + ", bound " +
             decimalText(bound),
         "lists");
  };
  showFigures(least.bound);
  auto goal = Rational::make(1'000'000 + int64_t(request.within), 1'000'000);
  goal = Rational::mul(*goal, least.bound);
  search::ListMoves moves;
  moves.overlaps = true;
  moves.forms = request.mixed;
  uint64_t workOnBound = limits.work / 4;
  search::Budget budget(limits.work - workOnBound, request.stop);
  std::optional<Schedule> lists =
      searchLists(model.header, all, moves, request.seed,
                  goal.value_or(least.bound), budget, diags);
  found.spent = budget.spent();
  found.stopped = budget.isStopped();
  found.isOfLists = true;
  if (lists) {
    found.makespan = *makespanOf(*lists, diags);
    found.schedule = std::move(*lists);
  } else {
    found.schedule = std::move(starts[*best]);
    found.start = std::move(titles[*best]);
  }
  found.form = formOf(found.schedule);
  showFigures(least.bound);
  relaxBound(problem, limits, request.mixed, found);
  showFigures(found.bound);
  if (failed(measure(request, found)))
    return failure();
  return found;
}

} // namespace pipec
