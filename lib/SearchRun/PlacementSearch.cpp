//===- PlacementSearch.cpp - The best of several placements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/PlacementSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace pipec {

/// The outcome of a search with this bound when another makespan is the best.
static PlacementTrial::Outcome lostTo(Rational makespan, Rational bound) {
  return bound >= makespan ? PlacementTrial::Outcome::Excluded
                           : PlacementTrial::Outcome::Slower;
}

namespace {

class Placements {
public:
  Placements(ScheduleSearch &search, const SearchRequest &request,
             DiagEngine &diags)
      : search(search), request(request), diags(diags) {}

  void addPlacement(unsigned chunks, bool isV);
  FailureOr<PlacementResult> run();

private:
  using Outcome = PlacementTrial::Outcome;

  SearchRequest requestOf(const PlacementTrial &trial) const {
    SearchRequest own = request;
    own.chunks = trial.chunks;
    own.isV = trial.isV;
    own.split = trial.form == BackwardForm::Split;
    return own;
  }
  /// True if two trials have the same placement and different forms.
  static bool isOtherForm(const PlacementTrial &a, const PlacementTrial &b) {
    return a.chunks == b.chunks && a.isV == b.isV && a.form != b.form;
  }
  LogicalResult prepare();
  void dropCovered();
  LogicalResult addStarts();
  LogicalResult searchTrial(PlacementTrial &trial, SearchProblem &problem,
                            uint64_t work);
  LogicalResult takeMixed(uint64_t work);
  void makeBest(unsigned trial, FoundSchedule found);
  void finish();

  ScheduleSearch &search;
  const SearchRequest &request;
  DiagEngine &diags;
  PlacementResult result;
  /// By trial; nothing where no schedule exists.
  std::vector<std::optional<SearchProblem>> problems;
  std::optional<unsigned> best;
  bool stopped = false;
};

} // namespace

void Placements::addPlacement(unsigned chunks, bool isV) {
  for (BackwardForm form : {BackwardForm::Split, BackwardForm::Whole})
    if (request.anyForm || form == request.form())
      result.trials.push_back({chunks, isV, form, {}, {}, {}, {}, {}});
}

/// Makes the problem of each trial; reports why when there is none.
LogicalResult Placements::prepare() {
  StringSet<> warnings;
  for (PlacementTrial &trial : result.trials) {
    trial.outcome = Outcome::NotSearched;
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &diagnostic) {
      if (diagnostic.severity == Severity::Error) {
        trial.reason = diagnostic.message;
        return false;
      }
      // Most warnings are the same for all.
      return warnings.insert(diagnostic.message).second;
    });
    FailureOr<SearchProblem> problem = search.prepare(requestOf(trial));
    if (failed(problem)) {
      problems.push_back(std::nullopt);
      trial.outcome = Outcome::NoSchedule;
      continue;
    }
    search::LowerBound least = search::leastBound(problem->model);
    trial.bound = least.bound;
    trial.source = least.source;
    problems.push_back(std::move(*problem));
  }
  if (any_of(problems, [](const auto &problem) { return problem; }))
    return success();
  (void)search.prepare(requestOf(result.trials.front()));
  return failure();
}

/// Marks the whole backwards of a placement whose split ones cover them.
void Placements::dropCovered() {
  for (auto [i, trial] : enumerate(result.trials)) {
    if (trial.form != BackwardForm::Whole || !request.anyForm)
      continue;
    const auto &split = problems[i - 1];
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    if (!split || !search::splitCoversAll(split->model, diags))
      continue;
    trial.outcome = Outcome::Covered;
    trial.bound = std::nullopt;
    problems[i] = std::nullopt;
  }
}

/// Adds every start to the placements that it has; reports one that no
/// placement has.
LogicalResult Placements::addStarts() {
  std::vector<char> used(request.starts.size());
  for (auto &problem : problems)
    if (problem && failed(search.addStarts(*problem, &used)))
      return failure();
  return search.checkUsed(**find_if(problems, [](auto &p) { return !!p; }),
                          used);
}

void Placements::makeBest(unsigned trial, FoundSchedule found) {
  if (best)
    result.trials[*best].outcome =
        lostTo(found.makespan, *result.trials[*best].bound);
  best = trial;
  result.trials[trial].outcome = Outcome::Best;
  result.found = std::move(found);
}

LogicalResult Placements::searchTrial(PlacementTrial &trial,
                                      SearchProblem &problem, uint64_t work) {
  std::optional<Rational> useless;
  if (best)
    useless = result.found.makespan;
  FailureOr<FoundSchedule> found = search.find(problem, {work, useless});
  if (failed(found))
    return failure();
  trial.makespan = found->makespan;
  trial.bound = found->bound;
  trial.source = found->source;
  stopped |= found->stopped;
  if (!best || found->makespan < result.found.makespan)
    makeBest(&trial - result.trials.data(), std::move(*found));
  else
    trial.outcome = lostTo(result.found.makespan, found->bound);
  return success();
}

/// Uses a start with mixed backwards if it is better than all results.
LogicalResult Placements::takeMixed(uint64_t work) {
  if (!request.anyForm || request.onlyWords)
    return success();
  for (unsigned i = 0, e = result.trials.size(); i != e; ++i) {
    if (!problems[i] || result.trials[i].form != BackwardForm::Split)
      continue;
    FoundSchedule found = result.found;
    if (failed(search.takeMixed(*problems[i], SearchLimits{work}, found)))
      return failure();
    if (found.form != BackwardForm::Mixed ||
        !(found.makespan < result.found.makespan))
      continue;
    if (best == i && result.trials[i + 1].outcome == Outcome::Covered &&
        found.bound < result.found.bound)
      found.takeBound(result.found);
    PlacementTrial trial = result.trials[i];
    trial.form = BackwardForm::Mixed;
    trial.makespan = found.makespan;
    trial.bound = found.bound;
    result.trials.push_back(trial);
    problems.push_back(problems[i]);
    makeBest(result.trials.size() - 1, std::move(found));
  }
  return success();
}

/// Finds the schedules that the bound of the best placement holds for.
void Placements::finish() {
  const PlacementTrial &own = result.trials[*best];
  result.problem = std::move(*problems[*best]);
  result.found.stopped = stopped;
  result.coverage = own.form == BackwardForm::Split   ? Coverage::Split
                    : own.form == BackwardForm::Whole ? Coverage::Whole
                                                      : Coverage::All;
  for (PlacementTrial &other : result.trials) {
    if (!isOtherForm(own, other) || own.form == BackwardForm::Mixed ||
        other.form == BackwardForm::Mixed)
      continue;
    if (other.outcome == Outcome::Covered) {
      result.coverage = Coverage::All;
    } else if (other.outcome != Outcome::NoSchedule) {
      result.coverage = Coverage::Either;
      result.other = {*other.bound, other.source};
    }
  }
  // The rest of the report is about one placement and one form.
  if (result.trials.size() == 1)
    result.trials.clear();
}

FailureOr<PlacementResult> Placements::run() {
  if (failed(prepare()))
    return failure();
  dropCovered();
  if (failed(addStarts()))
    return failure();
  std::vector<unsigned> order;
  for (unsigned i = 0; i != result.trials.size(); ++i)
    if (problems[i])
      order.push_back(i);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return *result.trials[a].bound < *result.trials[b].bound;
  });
  uint64_t work = request.work() / order.size();
  for (unsigned i : order) {
    PlacementTrial &trial = result.trials[i];
    if (best && *trial.bound >= result.found.makespan) {
      trial.outcome = Outcome::Excluded;
      continue;
    }
    if (best && request.stop && *request.stop) {
      stopped = true;
      continue;
    }
    if (failed(searchTrial(trial, *problems[i], work)))
      return failure();
  }
  if (failed(takeMixed(work)))
    return failure();
  finish();
  return std::move(result);
}

void PlacementResult::addForm(const PlacementResult &form) {
  coverage = Coverage::Either;
  other = {form.found.bound, form.found.source};
  const FoundSchedule *both[] = {&found, &form.found};
  for (const FoundSchedule *one : both)
    trials.push_back({problem.request.chunks,
                      problem.request.isV,
                      one->form,
                      one == &found ? PlacementTrial::Outcome::Best
                                    : lostTo(found.makespan, one->bound),
                      one->makespan,
                      one->bound,
                      one->source,
                      {}});
}

FailureOr<PlacementResult> searchForms(ScheduleSearch &search,
                                       const SearchRequest &request,
                                       DiagEngine &diags) {
  Placements placements(search, request, diags);
  placements.addPlacement(request.chunks, request.isV);
  return placements.run();
}

FailureOr<PlacementResult> searchPlacements(ScheduleSearch &search,
                                            const SearchRequest &request,
                                            DiagEngine &diags) {
  Placements placements(search, request, diags);
  for (unsigned chunks = 1; chunks <= request.chunks; ++chunks)
    placements.addPlacement(chunks, /*isV=*/false);
  for (unsigned chunks = 2; chunks <= request.chunks; chunks += 2)
    if (request.ranks > 1)
      placements.addPlacement(chunks, /*isV=*/true);
  return placements.run();
}

} // namespace pipec
