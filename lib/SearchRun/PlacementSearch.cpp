//===- PlacementSearch.cpp - The best of several placements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/PlacementSearch.h"

#include "Search/Mixed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace pipec {

/// The short searches get one of so many parts of the effort.
static constexpr unsigned probeParts = 4;

std::vector<PlacementTrial> trialsOf(const SearchRequest &request) {
  std::vector<PlacementTrial> trials;
  auto add = [&](unsigned chunks, bool isV) {
    for (BackwardForm form :
         {BackwardForm::Split, BackwardForm::Whole, BackwardForm::Mixed}) {
      bool isPossible = form != BackwardForm::Mixed ||
                        (!request.oneForm && request.recomputed.empty());
      if (request.anyForm ? isPossible : form == request.form())
        trials.push_back({chunks, isV, form});
    }
  };
  if (!request.anyPlacement) {
    add(request.chunks, request.isV);
    return trials;
  }
  for (unsigned chunks = 1; chunks <= request.chunks; ++chunks)
    add(chunks, /*isV=*/false);
  for (unsigned chunks = 2; chunks <= request.chunks; chunks += 2)
    if (request.ranks > 1)
      add(chunks, /*isV=*/true);
  return trials;
}

SearchRequest requestOf(const SearchRequest &request,
                        const PlacementTrial &trial) {
  SearchRequest own = request;
  own.anyPlacement = false;
  own.chunks = trial.chunks;
  own.isV = trial.isV;
  own.split = trial.form != BackwardForm::Whole;
  own.mixed = trial.form == BackwardForm::Mixed;
  return own;
}

namespace {

class Placements {
public:
  Placements(ScheduleSearch &search, const SearchRequest &request,
             DiagEngine &diags)
      : search(search), request(request), diags(diags) {
    result.trials = trialsOf(request);
  }

  FailureOr<PlacementResult> run();

private:
  using Outcome = PlacementTrial::Outcome;

  /// True if two trials have the same placement and different forms.
  static bool isOtherForm(const PlacementTrial &a, const PlacementTrial &b) {
    return a.chunks == b.chunks && a.isV == b.isV && a.form != b.form;
  }
  LogicalResult prepare();
  void dropCovered();
  LogicalResult addStarts();
  bool isOpen(const PlacementTrial &trial) const;
  LogicalResult searchAll();
  void addSeeds(unsigned number);
  LogicalResult searchTrial(unsigned number, uint64_t work);
  void makeBest(unsigned trial, FoundSchedule found);
  void finish();

  ScheduleSearch &search;
  const SearchRequest &request;
  DiagEngine &diags;
  PlacementResult result;
  /// By trial; nothing where no schedule exists.
  std::vector<std::optional<SearchProblem>> problems;
  std::optional<unsigned> best;
  /// The work that is left.
  uint64_t left = 0;
  bool stopped = false;
};

} // namespace

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
    FailureOr<SearchProblem> problem =
        search.prepare(requestOf(request, trial));
    if (failed(problem)) {
      problems.push_back(std::nullopt);
      trial.outcome = Outcome::NoSchedule;
      continue;
    }
    search::LowerBound least = problem->leastBound();
    trial.bound = least.bound;
    trial.source = least.source;
    problems.push_back(std::move(*problem));
  }
  if (request.isBidirectional() && problems.back()) {
    // With two directions, the search of mixed backwards is one of all forms.
    result.trials.erase(result.trials.begin(), result.trials.end() - 1);
    problems.erase(problems.begin(), problems.end() - 1);
  }
  if (any_of(problems, [](const auto &problem) { return problem; }))
    return success();
  (void)search.prepare(requestOf(request, result.trials.front()));
  return failure();
}

/// Marks the other backwards of a placement whose split ones cover them.
void Placements::dropCovered() {
  bool covers = false;
  for (auto [i, trial] : enumerate(result.trials)) {
    auto &problem = problems[i];
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    if (trial.form == BackwardForm::Split) {
      covers = problem && request.anyForm &&
               search::splitCoversAll(problem->model, diags);
      if (covers)
        problem->request.takesAnyForm = true;
    } else if (covers) {
      trial.outcome = Outcome::Covered;
      trial.bound = std::nullopt;
      problem = std::nullopt;
    }
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
  if (best && *best != trial)
    result.trials[*best].outcome =
        lostTo(found.makespan, *result.trials[*best].bound);
  best = trial;
  result.trials[trial].outcome = Outcome::Best;
  result.found = std::move(found);
}

/// Lets mixed backwards start from the words of the other forms.
void Placements::addSeeds(unsigned number) {
  SearchProblem &problem = *problems[number];
  auto mixed = search::MixedProblem::make(problem.model, *problem.whole);
  for (auto [i, other] : enumerate(problems)) {
    if (!mixed || !other ||
        !isOtherForm(result.trials[i], result.trials[number]))
      continue;
    llvm::append_range(problem.lists, other->lists);
    if (!other->resumed)
      continue;
    const search::Words &words = other->starts.back().words;
    problem.seeds.push_back(other->request.split ? mixed->fromSplit(words)
                                                 : mixed->fromWhole(words));
  }
}

/// Searches with so much work, from the best words of an earlier search on.
LogicalResult Placements::searchTrial(unsigned number, uint64_t work) {
  PlacementTrial &trial = result.trials[number];
  SearchProblem &problem = *problems[number];
  if (problem.request.mixed)
    addSeeds(number);
  std::optional<Rational> useless;
  if (best && *best != number)
    useless = result.found.makespan;
  FailureOr<FoundSchedule> found = search.find(problem, {work, useless});
  if (failed(found))
    return failure();
  left -= std::min(left, found->spent);
  if (trial.bound && *trial.bound > found->bound && best == number)
    found->takeBound(result.found);
  trial.makespan = found->makespan;
  if (!trial.bound || *trial.bound <= found->bound) {
    trial.bound = found->bound;
    trial.source = found->source;
    trial.proof = found->proof;
  }
  stopped |= found->stopped;
  if (found->isOfLists)
    problem.lists.push_back(found->schedule);
  else if (found->start.empty())
    problem.resume(found->words, found->makespan);
  if (!best || found->makespan < result.found.makespan || best == number)
    makeBest(number, std::move(*found));
  else
    trial.outcome = lostTo(result.found.makespan, *trial.bound);
  return success();
}

/// Finds the schedules that the bound of the best placement holds for.
void Placements::finish() {
  const PlacementTrial &own = result.trials[*best];
  result.problem = std::move(*problems[*best]);
  result.problem.endResume();
  result.found.stopped = stopped;
  result.coverage = own.form == BackwardForm::Split   ? Coverage::Split
                    : own.form == BackwardForm::Whole ? Coverage::Whole
                                                      : Coverage::All;
  for (PlacementTrial &other : result.trials) {
    if (!isOtherForm(own, other) || own.form == BackwardForm::Mixed)
      continue;
    bool isMixed = other.form == BackwardForm::Mixed;
    if (other.outcome == Outcome::Covered) {
      result.coverage = Coverage::All;
    } else if (other.outcome != Outcome::NoSchedule) {
      result.coverage = isMixed ? Coverage::All : Coverage::Either;
      result.other = {*other.bound, other.source};
    }
  }
}

/// True if a longer search of a trial may find the best schedule.
bool Placements::isOpen(const PlacementTrial &trial) const {
  return trial.hasSchedules() &&
         (!best || *trial.bound < result.found.makespan) &&
         (!trial.makespan || *trial.bound < *trial.makespan);
}

/// Searches all trials with a part of the effort, then those that are still
/// open with equal parts of the rest, the best ones first.
LogicalResult Placements::searchAll() {
  std::vector<unsigned> order;
  for (unsigned i = 0; i != result.trials.size(); ++i)
    if (problems[i])
      order.push_back(i);
  left = request.work();
  bool isOne = order.size() == 1;
  for (bool isLast : {false, true}) {
    if (isOne && !isLast)
      continue;
    auto value = [&](unsigned i) {
      const PlacementTrial &trial = result.trials[i];
      return isLast && trial.makespan ? *trial.makespan : *trial.bound;
    };
    // Mixed backwards start from the words of the other forms.
    auto isMixed = [&](unsigned i) { return problems[i]->request.mixed; };
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      return std::pair(isMixed(a), value(a)) < std::pair(isMixed(b), value(b));
    });
    for (auto [place, i] : enumerate(order)) {
      PlacementTrial &trial = result.trials[i];
      if (!isOpen(trial)) {
        if (best != i && *trial.bound >= result.found.makespan)
          trial.outcome = Outcome::Excluded;
        continue;
      }
      if (best && request.stop && *request.stop) {
        stopped = true;
        continue;
      }
      unsigned others =
          count_if(ArrayRef(order).drop_front(place), [&](unsigned other) {
            return isOpen(result.trials[other]);
          });
      uint64_t work =
          isLast ? left / others : request.work() / (probeParts * order.size());
      if (failed(searchTrial(i, work)))
        return failure();
    }
  }
  return success();
}

FailureOr<PlacementResult> Placements::run() {
  if (failed(prepare()))
    return failure();
  dropCovered();
  if (failed(addStarts()) || failed(searchAll()))
    return failure();
  finish();
  return std::move(result);
}

Rational PlacementResult::boundOfAll() const {
  Rational least = bound().bound;
  for (const PlacementTrial &trial : trials)
    if (trial.hasSchedules() && trial.bound)
      least = std::min(least, *trial.bound);
  return least;
}

FailureOr<PlacementResult> searchPlacements(ScheduleSearch &search,
                                            const SearchRequest &request,
                                            DiagEngine &diags) {
  return Placements(search, request, diags).run();
}

} // namespace pipec
