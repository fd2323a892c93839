//===- ListRun.cpp - Searches for lists from schedules --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/ListRun.h"

#include "SearchRun/ScheduleSearch.h"
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
  found.madeOverlaps = true;
}

} // namespace pipec
