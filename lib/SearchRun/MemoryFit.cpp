//===- MemoryFit.cpp - Recomputation and copies in searches ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that need more than the limit of memory may fit with recomputation
// or copies to the host. Candidates are the results of searches without a limit
// and with larger ones, the schedules that these start from, and the orders of
// searches in which some stages are recomputed whole. The passes add what each
// needs, and the simulator compares them. A search of lists then begins with
// the best ones that recompute: it chooses the units that are recomputed, when
// that is, and the order of all steps together.
//
// A list without its recomputations and copies is a schedule of the same
// placement that is not longer. So the bound of the search without a limit
// holds for all of them.
//
//===----------------------------------------------------------------------===//

#include "SearchRun/ListRun.h"
#include "SearchRun/PlacementSearch.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/SaveMemory.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class MemoryFit {
public:
  MemoryFit(ScheduleSearch &search, const SearchRequest &request,
            DiagEngine &diags)
      : search(search), request(request), diags(diags) {}

  FailureOr<PlacementResult> run();

private:
  bool canGain();
  LogicalResult findWithoutLimit();
  void searchStages();
  void searchStages(std::vector<bool> recomputed, unsigned parts);
  void tryStarts();
  void searchWithMore(unsigned divisor);
  void trySchedule(Schedule schedule, const std::string &start);
  void offer(SavedSchedule saved, const std::string &start);
  bool gainsByUnits() const;
  void searchUnits();
  /// True if the bound without a limit holds for schedules of a form.
  bool covers(BackwardForm form) const {
    return free.coverage == Coverage::All || form == free.found.form ||
           (free.coverage == Coverage::Either && form != BackwardForm::Mixed);
  }
  bool isStopped() const { return request.stop && *request.stop; }
  FailureOr<PlacementResult> result();
  FailureOr<PlacementResult> find(const SearchRequest &own) {
    return searchPlacements(search, own, diags);
  }

  struct Best {
    SavedSchedule saved;
    std::string start;
    Rational makespan;
  };

  ScheduleSearch &search;
  const SearchRequest &request;
  DiagEngine &diags;
  /// The result as it is, unless none fits.
  std::optional<PlacementResult> plain;
  /// That of the search without a limit.
  PlacementResult free;
  /// The memory settings of `free`, with the limits.
  MemorySettings limited;
  std::optional<Best> best;
  /// The best ones with recomputation, in order.
  std::vector<Best> recomputing;
  bool stopped = false;
};

} // namespace

/// False if the bound without a limit shows that nothing is better than the
/// result as it is.
bool MemoryFit::canGain() {
  return any_of(plain->trials, [&](const PlacementTrial &trial) {
    if (trial.outcome == PlacementTrial::Outcome::Covered)
      return false;
    SearchRequest own = requestOf(request, trial);
    own.anyMemory = true;
    FailureOr<SearchProblem> problem = search.prepare(own);
    return succeeded(problem) &&
           problem->leastBound().bound < plain->found.makespan;
  });
}

LogicalResult MemoryFit::findWithoutLimit() {
  SearchRequest own = request;
  own.anyMemory = true;
  own.parts = 4;
  own.prove = false;
  own.log = nullptr;
  FailureOr<PlacementResult> found = find(own);
  if (failed(found))
    return failure();
  free = std::move(*found);
  stopped |= free.found.stopped;
  // Costs per part give the settings of the placement.
  ScheduleHeader header = free.problem.model.header;
  header.memory = {};
  if (request.model)
    header.memory = request.model->memory;
  else if (failed(applyMemory(header, request.given, diags)))
    return failure();
  limited = std::move(header.memory);
  return success();
}

/// Keeps a schedule that is better than the others and exceeds no limit.
void MemoryFit::offer(SavedSchedule saved, const std::string &start) {
  if (failed(verify(saved.schedule, diags)))
    return;
  std::optional<Rational> makespan = makespanOf(saved.schedule, diags);
  FailureOr<std::vector<Rational>> totals = totalsOf(saved.schedule, diags);
  if (!makespan || failed(totals) || !areWithin(*totals, limited))
    return;
  if (saved.memoryBy == "recompute") {
    constexpr size_t most = 3;
    auto at = llvm::upper_bound(
        recomputing, *makespan,
        [](Rational time, const Best &other) { return time < other.makespan; });
    recomputing.insert(at, Best{saved, start, *makespan});
    if (recomputing.size() > most)
      recomputing.pop_back();
  }
  if (!best || *makespan < best->makespan)
    best = Best{std::move(saved), start, *makespan};
}

void MemoryFit::trySchedule(Schedule schedule, const std::string &start) {
  schedule.memory = limited;
  for (SavedSchedule &saved : saveMemory(schedule, diags))
    if (saved.schedule.has(step_facts::extras))
      offer(std::move(saved), start);
}

/// Searches with limits between the given ones and the memory of the result
/// without a limit, which add one of `divisor` parts of the difference.
void MemoryFit::searchWithMore(unsigned divisor) {
  SearchRequest own = free.problem.request;
  own.anyMemory = false;
  own.parts = 16;
  for (unsigned rank = 0; rank != request.ranks; ++rank) {
    std::optional<Rational> limit = limited.limit(rank);
    Rational need = free.found.totals[rank];
    if (limit && *limit < need) {
      std::optional<Rational> more = Rational::sub(need, *limit);
      more = more ? Rational::div(*more, divisor) : more;
      more = more ? Rational::add(*limit, *more) : more;
      if (!more)
        return;
      need = *more;
    }
    own.limits.push_back(need);
  }
  FailureOr<PlacementResult> found = find(own);
  if (failed(found))
    return;
  stopped |= found->found.stopped;
  if (covers(found->found.form))
    trySchedule(found->found.schedule, found->found.start);
}

/// Tries the schedules that the search without a limit starts from.
void MemoryFit::tryStarts() {
  const SearchProblem &problem = free.problem;
  search::Budget budget(request.work() / 4, request.stop);
  for (const SearchStart &start : problem.starts) {
    if (budget.done())
      break;
    budget.spend(1000 * uint64_t(problem.model.problem.numSteps()));
    if (problem.request.takes(start))
      trySchedule(*start.schedule, start.title());
    if (!start.words.empty())
      trySchedule(search::makeSchedule(problem.model, start.words),
                  start.title());
  }
}

/// Searches with these stages recomputed, with a part of the effort, and tries
/// the result also with the recomputations alone that its order needs.
void MemoryFit::searchStages(std::vector<bool> recomputed, unsigned parts) {
  SearchRequest own = free.problem.request;
  own.anyMemory = false;
  own.recomputed = std::move(recomputed);
  own.parts = parts;
  FailureOr<PlacementResult> found = find(own);
  if (failed(found))
    return;
  stopped |= found->found.stopped;
  if (!covers(found->found.form))
    return;
  Schedule order = found->found.schedule;
  order.expectations.clear();
  removeSteps(order, step_facts::bit(StepKind::R));
  trySchedule(std::move(order), "");
  offer({"recompute", std::move(found->found.schedule)}, "");
}

/// Searches with all stages recomputed, with each single chunk of all ranks,
/// and with the first stages, which hold their activations longest.
void MemoryFit::searchStages() {
  unsigned stages = free.problem.model.header.numStages;
  std::vector<std::vector<bool>> sets;
  auto add = [&](unsigned begin, unsigned end) {
    std::vector<bool> own(stages);
    std::fill(own.begin() + begin, own.begin() + end, true);
    if (!is_contained(sets, own))
      sets.push_back(std::move(own));
  };
  add(0, stages);
  for (unsigned begin = 0; begin < stages; begin += request.ranks)
    add(begin, std::min(begin + request.ranks, stages));
  constexpr unsigned most = 8;
  for (unsigned i = 1; i != most; ++i)
    if (unsigned first = stages * i / most)
      add(0, first);
  for (std::vector<bool> &own : sets)
    if (!isStopped())
      searchStages(std::move(own), 4 * sets.size());
}

/// True if figures of recomputation are given, or the result recomputes without
/// them: a plain result is not replaced because of assumed figures alone.
bool MemoryFit::gainsByUnits() const {
  const CostSettings &costs = free.problem.model.header.costs;
  return costs.has(Figure::R) || limited.has(Figure::Stash) || !plain ||
         (!recomputing.empty() &&
          recomputing.front().makespan < plain->found.makespan);
}

/// Searches for lists in which single units are recomputed, from the best ones
/// on.
void MemoryFit::searchUnits() {
  ScheduleHeader header = free.problem.model.header;
  header.memory = limited;
  std::vector<const Schedule *> starts;
  for (const Best &own : recomputing)
    starts.push_back(&own.saved.schedule);
  if (plain && covers(plain->found.form) &&
      plain->found.schedule.placement == header.placement)
    starts.push_back(&plain->found.schedule);
  search::ListMoves moves;
  moves.recomputes = true;
  moves.overlaps = free.found.overlapsGain && !request.onlyWords;
  // Without its own trial, this form gains nothing.
  moves.forms =
      covers(BackwardForm::Mixed) &&
      any_of(free.trials, [](const PlacementTrial &trial) {
        return trial.form == BackwardForm::Mixed && trial.hasSchedules();
      });
  search::Budget budget(request.work() * 3 / 8, request.stop);
  if (std::optional<Schedule> found =
          searchLists(header, starts, moves, request.seed, free.bound().bound,
                      budget, diags);
      found && found->has(step_facts::extras))
    offer({"recompute", std::move(*found)}, "");
}

/// The best of all.
FailureOr<PlacementResult> MemoryFit::result() {
  if (plain && (!best || plain->found.makespan <= best->makespan)) {
    plain->found.stopped |= stopped;
    plain->coversSaved = free.bound().bound >= plain->found.makespan;
    return std::move(*plain);
  }
  if (!best)
    return failure();
  PlacementResult made = std::move(free);
  FoundSchedule &found = made.found;
  found.stopped = stopped;
  found.library.reset();
  if (plain) {
    found.stopped |= plain->found.stopped;
    found.library = plain->found.library;
    made.plain = {plain->found.makespan, plain->bound()};
  }
  // What follows is about the schedule with its limits.
  for (PlacementTrial &trial : made.trials)
    if (trial.hasSchedules() && trial.outcome != PlacementTrial::Outcome::Best)
      trial.makespan = std::nullopt;
  made.problem.starts.clear();
  made.problem.request.anyMemory = false;
  made.problem.request.parts = 1;
  made.problem.model.header.memory = limited;
  found.model.header.memory = limited;
  if (failed(search.setSchedule(made.problem, std::move(best->saved.schedule),
                                best->saved.memoryBy, std::move(best->start),
                                found)))
    return failure();
  for (PlacementTrial &trial : made.trials)
    if (trial.outcome == PlacementTrial::Outcome::Best)
      trial.makespan = found.makespan;
  return made;
}

FailureOr<PlacementResult> MemoryFit::run() {
  bool noRoom = false;
  {
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &found) {
      noRoom |= found.id == diag::SearchNoRoom;
      return found.id != diag::SearchNoRoom;
    });
    FailureOr<PlacementResult> found = find(request);
    if (succeeded(found))
      plain = std::move(*found);
    else if (!noRoom)
      return failure();
  }
  {
    // Warnings were given, and what does not fit is not an error.
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    if (plain && !canGain()) {
      plain->coversSaved = true;
      return std::move(*plain);
    }
    if (plain && isStopped())
      return std::move(*plain);
    if (succeeded(findWithoutLimit())) {
      trySchedule(free.found.schedule, free.found.start);
      tryStarts();
      Rational bound = free.bound().bound;
      auto enough = [&] {
        return isStopped() || (plain && plain->found.makespan <= bound) ||
               (best && best->makespan <= bound);
      };
      for (unsigned divisor : {2, 4})
        if (!enough())
          searchWithMore(divisor);
      if (!enough())
        searchStages();
      if (!enough() && gainsByUnits())
        searchUnits();
      stopped |= isStopped();
      FailureOr<PlacementResult> made = result();
      if (succeeded(made))
        return made;
    } else if (plain) {
      return std::move(*plain);
    }
  }
  // Reports why.
  DiagEngine::ScopedFilter errors(diags, [](Diagnostic &found) {
    return found.severity == Severity::Error;
  });
  return find(request);
}

FailureOr<PlacementResult> searchWithinMemory(ScheduleSearch &search,
                                              const SearchRequest &request,
                                              DiagEngine &diags) {
  return MemoryFit(search, request, diags).run();
}

} // namespace pipec
