//===- LayoutSearch.cpp - The best of all layouts -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/LayoutSearch.h"

#include "Driver/Figures.h"
#include "IR/RegularPlacements.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

Layouts::Layouts(ScheduleSearch &search, const SearchRequest &request,
                 StringSet<> &warnings, std::vector<char> &used,
                 DiagEngine &diags)
    : search(search), request(request), warnings(warnings), used(used),
      diags(diags), layers(request.given.layout->cut(1)->front()),
      map(search::placementMap(request.isV, request.ranks, request.chunks)) {
  if (request.model)
    map = request.model->placement.map(0).vec();
  numStages = map.size();
  isMegatron = isLoop(map, request.ranks) && !firstOther({layers}) &&
               !megatronProblem({layers}, 1);
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// A model in which each stage is one layer, so that the times of layers are
/// those that the search gives them: a layer of each kind on each rank.
FailureOr<search::Model> Layouts::probe() const {
  ScheduleHeader header;
  header.name = "layers";
  header.numRanks = request.ranks;
  std::string kinds = request.given.layout->letters();
  header.numStages = unsigned(request.ranks * kinds.size());
  header.numUnits = request.microbatches;
  header.placement = Placement({search::placementMap(
      /*isV=*/false, request.ranks, unsigned(kinds.size()))});
  StageLayers stages;
  for (char kind : kinds)
    stages.insert(stages.end(), request.ranks, std::string(1, kind));
  GivenSettings given = request.given;
  given.layout = LayerLayout(std::move(stages));
  if (failed(applyCosts(header, given, diags)) ||
      failed(applyMemory(header, given, diags)))
    return failure();
  // A rank has no layout with all of these.
  header.memory = withoutLimits(header.memory);
  return search::makeModel(header, request.split, diags);
}

search::SplitSpace Layouts::spaceOf(const search::Model &model) const {
  const search::Problem &problem = model.problem;
  search::SplitSpace space;
  space.ranks = request.ranks;
  space.microbatches = request.microbatches;
  space.split = request.split;
  space.map = map;
  std::string kinds = request.given.layout->letters();
  for (unsigned rank = 0; rank != request.ranks; ++rank)
    for (char letter : layers) {
      size_t first = kinds.find(letter) * request.ranks;
      size_t stage = first;
      while (problem.map[stage] != rank)
        ++stage;
      const search::Ticks *time = problem.stages[stage].time;
      space.layers.push_back({time[search::LetterF], time[search::LetterI],
                              time[0] + time[1] + time[2]});
    }
  // Only neighbours have transfers in the model; without one, 0 is a bound.
  auto hop = [&](uint32_t from, uint32_t to) {
    for (const search::Edge &edge : problem.edges) {
      if (problem.map[edge.from] == from && problem.map[edge.to] == to)
        return edge.hopF;
      if (problem.map[edge.from] == to && problem.map[edge.to] == from)
        return edge.hopI;
    }
    return search::Ticks(0);
  };
  for (unsigned stage = 0; stage != numStages; ++stage) {
    space.hopF.push_back(stage ? hop(map[stage - 1], map[stage]) : 0);
    space.hopI.push_back(
        stage + 1 != numStages ? hop(map[stage + 1], map[stage]) : 0);
  }
  return space;
}

StageLayers Layouts::stagesOf(const search::SplitQueue::Split &split) const {
  StageLayers stages;
  StringRef rest = layers;
  for (uint32_t size : split) {
    stages.push_back(rest.take_front(size).str());
    rest = rest.drop_front(size);
  }
  return stages;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The problem of a layout; keeps the reason if there is none.
FailureOr<SearchProblem> Layouts::prepare(const StageLayers &stages) {
  SearchRequest own = request;
  own.given.layout = LayerLayout(stages);
  DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &diagnostic) {
    if (diagnostic.severity == Severity::Error && reason.empty())
      reason = diagnostic.message;
    // Warnings are the same for all.
    return summary.bounded == 0 && diagnostic.severity != Severity::Error &&
           warnings.insert(diagnostic.message).second;
  });
  return search.prepare(own);
}

/// The schedule whose order is kept, with a layout.
FailureOr<Schedule> Layouts::scheduleOf(const StageLayers &stages) {
  Schedule schedule = *request.model;
  schedule.costs = {};
  schedule.memory = {};
  schedule.layers.clear();
  schedule.expectations.clear();
  GivenSettings given = request.given;
  given.layout = LayerLayout(stages);
  DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &diagnostic) {
    return diagnostic.severity == Severity::Error ||
           warnings.insert(diagnostic.message).second;
  });
  if (failed(applyCosts(schedule, given, diags)) ||
      failed(applyMemory(schedule, given, diags)))
    return failure();
  return schedule;
}

/// Its makespan; empty if it exceeds the memory.
std::optional<Rational> Layouts::makespanFixed(const StageLayers &stages) {
  FailureOr<Schedule> schedule = scheduleOf(stages);
  if (failed(schedule))
    return std::nullopt;
  if (schedule->memory.hasLimit()) {
    FailureOr<std::vector<Rational>> totals = totalsOf(*schedule, diags);
    if (failed(totals) || !areWithin(*totals, schedule->memory)) {
      reason = "the schedule exceeds the limit of memory";
      return std::nullopt;
    }
  }
  return makespanOf(*schedule, diags);
}

/// The result for a layout of the schedule whose order is kept.
FailureOr<PlacementResult> Layouts::keepOrder(const StageLayers &stages) {
  FailureOr<Schedule> schedule = scheduleOf(stages);
  std::optional<Rational> makespan =
      succeeded(schedule) ? makespanOf(*schedule, diags) : std::nullopt;
  if (!makespan)
    return failure();
  PlacementResult result{{request, {}}, {}, {}};
  result.problem.model.header = *schedule;
  FoundSchedule &found = result.found;
  found.model.header = *schedule;
  found.schedule = std::move(*schedule);
  found.form = formOf(found.schedule);
  found.makespan = found.bound = *makespan;
  if (failed(search.measure(request, found)))
    return failure();
  return result;
}

/// A layout with its bound; empty if it has no schedule, or Megatron-LM refuses
/// it.
std::optional<Layouts::Candidate> Layouts::candidateOf(StageLayers stages) {
  if (any_of(stages, [](StringRef stage) { return stage.empty(); }) ||
      (isMegatron && megatronProblem(stages, request.ranks)))
    return std::nullopt;
  if (request.isFixed) {
    // Measured: a step of a simulation, with its share of the compilation.
    constexpr uint64_t workPerStep = 15;
    workOnBounds += workPerStep * request.model->numSteps();
    std::optional<Rational> makespan = makespanFixed(stages);
    unsigned number = summary.bounded++;
    if (!makespan)
      return std::nullopt;
    return Candidate{*makespan, number, std::move(stages)};
  }
  FailureOr<SearchProblem> problem = prepare(stages);
  unsigned number = summary.bounded++;
  workOnBounds += 8 * layers.size();
  if (failed(problem))
    return std::nullopt;
  workOnBounds += 30 * uint64_t(problem->model.problem.numSteps());
  Rational bound = problem->leastBound().bound;
  return Candidate{bound, number, std::move(stages)};
}

/// The layout with the smallest bound of all, if that can be told, and if it
/// can be better than the best one.
std::optional<Layouts::Candidate> Layouts::nextOfAll() {
  while (std::optional<search::Ticks> next = queue->bound()) {
    Rational bound = model.time(*next);
    dropSearched();
    if (isUseless(bound) || isBounded() ||
        (!candidates.empty() && candidates.top().bound <= bound))
      break;
    std::optional<search::SplitQueue::Split> split = queue->next();
    if (!split)
      break;
    if (auto candidate = candidateOf(stagesOf(*split)))
      candidates.push(std::move(*candidate));
  }
  dropSearched();
  if (candidates.empty() || isUseless(candidates.top().bound))
    return std::nullopt;
  Candidate next = candidates.top();
  candidates.pop();
  return next;
}

void Layouts::dropSearched() {
  while (!candidates.empty() && searched.contains(candidates.top().stages))
    candidates.pop();
}

/// The layout with the smallest bound among those that differ from the best
/// one by one layer between two stages, if it can be better.
std::optional<Layouts::Candidate> Layouts::nextNear() {
  if (!best)
    return std::nullopt;
  if (nearStages != bestStages) {
    near.clear();
    nearStages = bestStages;
    // The layers between the two stages move too.
    for (unsigned from = 0; from != numStages; ++from)
      for (unsigned to = 0; to != numStages; ++to) {
        search::SplitQueue::Split split;
        for (const std::string &stage : bestStages)
          split.push_back(stage.size());
        if (from == to || split[from] == 1 || isBounded())
          continue;
        --split[from];
        ++split[to];
        if (auto candidate = candidateOf(stagesOf(split)))
          near.push_back(std::move(*candidate));
      }
    // The smallest bound is the last.
    llvm::sort(near);
  }
  while (!near.empty()) {
    Candidate next = std::move(near.back());
    near.pop_back();
    if (isUseless(next.bound))
      break;
    if (!searched.contains(next.stages))
      return next;
  }
  near.clear();
  return std::nullopt;
}

std::optional<Rational> Layouts::openBound() {
  dropSearched();
  std::optional<Rational> bound;
  if (auto next = queue->bound())
    bound = model.time(*next);
  if (!candidates.empty() && (!bound || candidates.top().bound < *bound))
    bound = candidates.top().bound;
  return bound;
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

LogicalResult Layouts::searchOne(const Candidate &candidate, uint64_t work) {
  auto result = runOne(candidate.stages, work);
  if (failed(result))
    return failure();
  const FoundSchedule &found = result->found;
  ++summary.searched;
  searched.insert(candidate.stages);
  results.push_back({candidate.stages, found.makespan,
                     std::max(found.bound, candidate.bound), found.source});
  if (!best || found.makespan < best->found.makespan) {
    bestNumber = results.size() - 1;
    best = std::move(*result);
    bestStages = candidate.stages;
  }
  return success();
}

LogicalResult Layouts::finish(uint64_t work) {
  SearchProblem &problem = best->problem;
  if (best->found.isOfLists)
    problem.lists.push_back(best->found.schedule);
  else if (best->found.start.empty())
    problem.resume(best->found.words, best->found.makespan);
  FailureOr<FoundSchedule> found = search.find(problem, SearchLimits{work});
  problem.endResume();
  if (failed(found))
    return failure();
  spent += found->spent;
  if (best->found.bound > found->bound)
    found->takeBound(best->found);
  wasStopped |= found->stopped;
  best->found = std::move(*found);
  Result &result = results[bestNumber];
  result.makespan = best->found.makespan;
  result.bound = std::max(result.bound, best->found.bound);
  return success();
}

LogicalResult Layouts::start() {
  if (layers.size() < numStages)
    return diags.report(DiagLoc(), diag::SearchLayers,
                        countText(layers.size(), "layer"),
                        countText(numStages, "stage"));
  FailureOr<search::Model> made = probe();
  if (failed(made))
    return failure();
  probed = std::move(*made);
  model = request.mixed || search::overlapsGain(probed)
              ? search::relaxed(probed, request.mixed)
              : probed;
  queue.emplace(spaceOf(model), maxNodes);
  return success();
}

bool Layouts::coversAll() {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  return search::splitCoversAll(probed, diags);
}

LogicalResult Layouts::run(std::optional<Rational> known, uint64_t share) {
  limit = known;
  work = share;
  StageLayers even = *LayerLayout::even(layers).cut(numStages);
  summary.even = layoutText(even);
  std::optional<Candidate> first = candidateOf(even);
  if (first && !isUseless(first->bound)) {
    if (failed(searchOne(*first, work / maxSearches)))
      return failure();
    summary.evenMakespan = best->found.makespan;
  }
  for (unsigned number = 0; number != 2 * maxSearches; ++number) {
    // The best layout gets the rest if it can still be improved.
    if ((number >= maxSearches && best && !best->found.isOptimal()) ||
        (best && stopped()))
      break;
    // Alternates between the least bound and the neighbours of the best layout.
    std::optional<Candidate> next = number % 2 ? nextNear() : nextOfAll();
    if (!next)
      next = number % 2 ? nextOfAll() : nextNear();
    if (!next)
      break;
    if (failed(searchOne(*next, work / maxSearches)))
      return failure();
  }
  wasStopped |= stopped();
  return best ? search.checkUsed(best->problem, used) : success();
}

LogicalResult Layouts::also(const StageLayers &stages,
                            std::optional<Rational> known, uint64_t work) {
  if (searched.contains(stages))
    return success();
  limit = known;
  std::optional<Candidate> candidate = candidateOf(stages);
  return candidate ? searchOne(*candidate, work) : success();
}

std::optional<search::LowerBound>
Layouts::boundOf(const StageLayers &stages) const {
  for (const Result &result : results)
    if (result.stages == stages)
      return search::LowerBound{result.bound, result.source};
  return std::nullopt;
}

std::optional<Rational> Layouts::bound(std::optional<Rational> known) {
  std::optional<Rational> least = openBound();
  for (const Result &result : results)
    least = least ? std::min(*least, result.bound) : result.bound;
  return known && least ? std::min(*least, *known) : least;
}

std::vector<StageLayers> Layouts::withoutProof(const StringSet<> &known,
                                               Rational &bound) const {
  search::SplitSpace space = spaceOf(probed);
  search::SplitQueue all(space, maxNodes);
  std::vector<StageLayers> found;
  while (std::optional<search::Ticks> least = all.bound()) {
    if (probed.time(*least) >= bound)
      break;
    std::optional<search::SplitQueue::Split> split = all.next();
    if (!split) {
      bound = std::min(bound, probed.time(all.bound().value_or(*least)));
      break;
    }
    Rational alone = probed.time(boundOfSplit(space, *split));
    if (alone >= bound)
      continue;
    StageLayers stages = stagesOf(*split);
    if (known.contains(layoutText(stages)))
      found.push_back(std::move(stages));
    else
      bound = alone;
  }
  return found;
}

void Layouts::list(PlacementTrial trial, std::vector<PlacementTrial> &each) {
  trial.outcome = PlacementTrial::Outcome::NotSearched;
  for (const Result &result : results) {
    trial.layout = layoutText(result.stages);
    trial.makespan = result.makespan;
    trial.bound = result.bound;
    trial.source = result.source;
    each.push_back(trial);
  }
  trial.layout = "";
  trial.makespan = std::nullopt;
  trial.bound = openBound();
  if (trial.bound)
    each.push_back(std::move(trial));
}

FailureOr<PlacementResult> Layouts::runOne(const StageLayers &stages,
                                           uint64_t work) {
  if (request.isFixed)
    return keepOrder(stages);
  FailureOr<SearchProblem> problem = prepare(stages);
  if (failed(problem) || failed(search.addStarts(*problem, &used)))
    return failure();
  auto found = search.find(*problem, {work, toBeat()});
  if (failed(found))
    return failure();
  spent += found->spent;
  wasStopped |= found->stopped;
  return PlacementResult{std::move(*problem), std::move(*found), {}};
}

} // namespace pipec
