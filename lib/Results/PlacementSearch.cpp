//===- PlacementSearch.cpp - The best of several placements ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/PlacementSearch.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class Placements {
public:
  Placements(ScheduleSearch &search, const SearchRequest &request,
             DiagEngine &diags)
      : search(search), request(request), diags(diags) {}

  FailureOr<PlacementResult> run();

private:
  using Outcome = PlacementTrial::Outcome;

  SearchRequest requestOf(const PlacementTrial &trial) const {
    SearchRequest own = request;
    own.chunks = trial.chunks;
    own.isV = trial.isV;
    return own;
  }
  void listTrials();
  LogicalResult prepare();
  LogicalResult addStarts();
  LogicalResult searchTrial(PlacementTrial &trial, SearchProblem &problem,
                            uint64_t work);

  ScheduleSearch &search;
  const SearchRequest &request;
  DiagEngine &diags;
  PlacementResult result;
  /// By trial; nothing where no schedule exists.
  std::vector<std::optional<SearchProblem>> problems;
  PlacementTrial *best = nullptr;
};

} // namespace

void Placements::listTrials() {
  for (unsigned chunks = 1; chunks <= request.chunks; ++chunks)
    result.trials.push_back({chunks, /*isV=*/false, {}, {}, {}, {}});
  for (unsigned chunks = 2; chunks <= request.chunks; chunks += 2)
    if (request.ranks > 1)
      result.trials.push_back({chunks, /*isV=*/true, {}, {}, {}, {}});
}

/// Makes the problem of each trial; reports why when there is none.
LogicalResult Placements::prepare() {
  for (PlacementTrial &trial : result.trials) {
    trial.outcome = Outcome::NotSearched;
    bool isFirst = &trial == &result.trials.front();
    // Warnings are the same for all.
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &diagnostic) {
      if (diagnostic.severity == Severity::Error)
        trial.reason = diagnostic.message;
      return isFirst && diagnostic.severity != Severity::Error;
    });
    FailureOr<SearchProblem> problem = search.prepare(requestOf(trial));
    if (failed(problem)) {
      problems.push_back(std::nullopt);
      trial.outcome = Outcome::NoSchedule;
      continue;
    }
    trial.bound = problem->model.time(simpleBound(problem->model.problem));
    problems.push_back(std::move(*problem));
  }
  if (any_of(problems, [](const auto &problem) { return problem; }))
    return success();
  (void)search.prepare(requestOf(result.trials.front()));
  return failure();
}

/// Adds every start to the placements that it has; reports one that no
/// placement has.
LogicalResult Placements::addStarts() {
  std::vector<char> used(request.starts.size());
  for (auto &problem : problems)
    if (problem && failed(search.addStarts(*problem, &used)))
      return failure();
  for (auto [isUsed, start] : zip_equal(used, request.starts)) {
    if (isUsed)
      continue;
    SearchProblem &first = **find_if(problems, [](auto &p) { return !!p; });
    first.request.starts = {start};
    return search.addStarts(first);
  }
  return success();
}

LogicalResult Placements::searchTrial(PlacementTrial &trial,
                                      SearchProblem &problem, uint64_t work) {
  SearchLimits limits;
  limits.work = work;
  if (best)
    limits.uselessBound = result.found.makespan;
  FailureOr<FoundSchedule> found = search.find(problem, limits);
  if (failed(found))
    return failure();
  trial.makespan = found->makespan;
  trial.bound = found->bound;
  bool stopped = found->stopped || (best && result.found.stopped);
  if (!best || found->makespan < result.found.makespan) {
    if (best)
      best->outcome =
          *best->bound >= found->makespan ? Outcome::Excluded : Outcome::Slower;
    best = &trial;
    trial.outcome = Outcome::Best;
    result.found = std::move(*found);
    result.problem = std::move(problem);
  } else {
    trial.outcome = found->bound >= result.found.makespan ? Outcome::Excluded
                                                          : Outcome::Slower;
  }
  result.found.stopped = stopped;
  return success();
}

FailureOr<PlacementResult> Placements::run() {
  listTrials();
  if (failed(prepare()) || failed(addStarts()))
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
      result.found.stopped = true;
      continue;
    }
    if (failed(searchTrial(trial, *problems[i], work)))
      return failure();
  }
  return std::move(result);
}

FailureOr<PlacementResult> searchPlacements(ScheduleSearch &search,
                                            const SearchRequest &request,
                                            DiagEngine &diags) {
  return Placements(search, request, diags).run();
}

} // namespace pipec
