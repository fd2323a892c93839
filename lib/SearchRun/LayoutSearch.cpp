//===- LayoutSearch.cpp - The best of all layouts -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/PlacementSearch.h"

#include "Driver/Figures.h"
#include "Search/Splits.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <queue>
#include <set>

using namespace llvm;

namespace pipec {

namespace {

/// The layouts with one form of the backward.
class Layouts {
public:
  /// Warnings in `warnings` are not repeated; starts in `used` were usable
  /// before.
  Layouts(ScheduleSearch &search, const SearchRequest &request,
          StringSet<> &warnings, std::vector<char> &used, DiagEngine &diags)
      : search(search), request(request), warnings(warnings), used(used),
        diags(diags), layers(request.given.layout->cut(1)->front()),
        numStages(request.ranks * request.chunks) {
    isMegatron = !request.isV && !firstOther({layers}) &&
                 !megatronProblem({layers}, 1);
  }

  LogicalResult start();
  /// After `start`: true if the schedules of all layouts with other backwards
  /// are covered.
  bool coversAll();
  /// After `start`: a bound of all layouts.
  Rational leastBound() { return openBound().value_or(0); }
  /// Searches for a makespan below `known` with `work` units of work.
  LogicalResult run(std::optional<Rational> known, uint64_t work);
  /// Searches the layout `stages` for a makespan below `useless`, with one of
  /// `parts` parts of the work.
  FailureOr<PlacementResult> runOne(const StageLayers &stages, unsigned parts,
                                    std::optional<Rational> useless);
  LayoutResult take() {
    summary.best = layoutText(bestStages);
    summary.bound = *allBound;
    return {std::move(*best), std::move(summary)};
  }

  std::optional<PlacementResult> best;
  StageLayers bestStages;
  LayoutSummary summary;
  /// A bound of all layouts; empty if none has a schedule.
  std::optional<Rational> allBound;
  /// Why a layout has no schedule.
  std::string reason;

private:
  /// A layout with a bound of its own.
  struct Candidate {
    Rational bound;
    unsigned number;
    StageLayers stages;
    /// The smallest bound comes first.
    bool operator<(const Candidate &other) const {
      if (bound != other.bound)
        return other.bound < bound;
      return number > other.number;
    }
  };
  // Limits of the work on bounds.
  static constexpr size_t maxNodes = size_t(1) << 18;
  static constexpr unsigned maxBounded = 1u << 14;
  /// Half of the effort is for these searches, the rest for the best layout.
  static constexpr unsigned maxSearches = 24;

  FailureOr<search::Model> probe() const;
  search::SplitSpace spaceOf(const search::Model &model) const;
  StageLayers stagesOf(const search::SplitQueue::Split &split) const;
  FailureOr<SearchProblem> prepare(const StageLayers &stages);
  std::optional<Candidate> candidateOf(StageLayers stages);
  std::optional<Candidate> nextOfAll();
  std::optional<Candidate> nextNear();
  void dropSearched();
  LogicalResult searchOne(const Candidate &candidate);
  LogicalResult finish();
  /// The makespan that is to be improved.
  std::optional<Rational> toBeat() const {
    if (!best || (limit && *limit < best->found.makespan))
      return limit;
    return best->found.makespan;
  }
  bool isUseless(Rational bound) const {
    std::optional<Rational> known = toBeat();
    return known && bound >= *known;
  }
  bool stopped() const { return request.stop && *request.stop; }
  /// No more layouts get a bound: as much work as half of the searches is done.
  bool isBounded() const {
    return summary.bounded >= maxBounded || workOnBounds > request.work() / 2 ||
           stopped();
  }
  /// A bound of all layouts that were not searched; empty if there are none.
  std::optional<Rational> openBound();

  ScheduleSearch &search;
  SearchRequest request;
  uint64_t work = 0;
  StringSet<> &warnings;
  std::vector<char> &used;
  DiagEngine &diags;
  /// The best makespan of other layouts.
  std::optional<Rational> limit;
  /// All layers, in order.
  std::string layers;
  unsigned numStages;
  bool isMegatron;
  /// Of layers; and with the times of its bounds.
  search::Model probed, model;
  std::optional<search::SplitQueue> queue;
  /// The splits of the queue that were not searched, and maybe others.
  std::priority_queue<Candidate> candidates;
  /// The neighbours of `nearStages`, the smallest bound last.
  std::vector<Candidate> near;
  StageLayers nearStages;
  std::set<StageLayers> searched;
  /// The bounds of those that were searched.
  std::vector<Rational> searchedBounds;
  /// The place of the best one in `searchedBounds`.
  size_t bestNumber = 0;
  uint64_t workOnBounds = 0;
  bool wasStopped = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// A model in which each stage is one layer, so that the times of layers are
/// those that the search gives them: a layer of each kind on each rank, with
/// the transfers of the placement.
FailureOr<search::Model> Layouts::probe() const {
  ScheduleHeader header;
  header.name = "layers";
  header.numRanks = request.ranks;
  std::string kinds = request.given.layout->letters();
  header.numStages = unsigned(request.ranks * kinds.size());
  header.numUnits = request.microbatches;
  header.placement = Placement(
      {search::placementMap(request.isV, request.ranks,
                            unsigned(kinds.size()))});
  StageLayers stages;
  for (char kind : kinds)
    stages.insert(stages.end(), request.ranks, std::string(1, kind));
  GivenSettings given = request.given;
  given.layout = LayerLayout(std::move(stages));
  if (failed(applyCosts(header, given, diags)))
    return failure();
  return search::makeModel(header, request.split, diags);
}

search::SplitSpace Layouts::spaceOf(const search::Model &model) const {
  const search::Problem &problem = model.problem;
  search::SplitSpace space;
  space.ranks = request.ranks;
  space.microbatches = request.microbatches;
  space.split = request.split;
  space.map = search::placementMap(request.isV, request.ranks, request.chunks);
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
  // The edges of a placement repeat after two chunks.
  size_t period = 2 * size_t(request.ranks);
  for (unsigned stage = 0; stage != numStages; ++stage) {
    size_t like = stage < period ? stage : period + stage % period;
    space.hopF.push_back(like ? problem.edges[like - 1].hopF : 0);
    space.hopI.push_back(like < problem.edges.size() ? problem.edges[like].hopI
                                                     : 0);
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

/// A layout with its bound; empty if it has no schedule, or Megatron-LM refuses
/// it.
std::optional<Layouts::Candidate> Layouts::candidateOf(StageLayers stages) {
  if (any_of(stages, [](StringRef stage) { return stage.empty(); }) ||
      (isMegatron && megatronProblem(stages, request.ranks)))
    return std::nullopt;
  FailureOr<SearchProblem> problem = prepare(stages);
  unsigned number = summary.bounded++;
  workOnBounds += 8 * layers.size();
  if (failed(problem))
    return std::nullopt;
  workOnBounds += 30 * uint64_t(problem->model.problem.numSteps());
  Rational bound = search::leastBound(problem->model).bound;
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

LogicalResult Layouts::searchOne(const Candidate &candidate) {
  auto result = runOne(candidate.stages, 2 * maxSearches, toBeat());
  if (failed(result))
    return failure();
  const FoundSchedule &found = result->found;
  ++summary.searched;
  searched.insert(candidate.stages);
  wasStopped |= found.stopped;
  searchedBounds.push_back(std::max(found.bound, candidate.bound));
  if (!best || found.makespan < best->found.makespan) {
    bestNumber = searchedBounds.size() - 1;
    best = std::move(*result);
    bestStages = candidate.stages;
  }
  return success();
}

/// Searches the best layout with the rest of the effort.
LogicalResult Layouts::finish() {
  if (best->found.isOptimal() || stopped() ||
      (limit && *limit <= best->found.makespan))
    return success();
  SearchProblem &problem = best->problem;
  problem.starts.push_back(
      {"the best so far", {}, best->found.words, best->found.makespan});
  FailureOr<FoundSchedule> found = search.find(problem, SearchLimits{work / 2});
  problem.starts.pop_back();
  if (failed(found))
    return failure();
  if (best->found.bound > found->bound)
    found->takeBound(best->found);
  wasStopped |= found->stopped;
  best->found = std::move(*found);
  Rational &bound = searchedBounds[bestNumber];
  bound = std::max(bound, best->found.bound);
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
  model =
      search::overlapsGain(probed) ? search::relaxed(probed, false) : probed;
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
    if (failed(searchOne(*first)))
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
    if (failed(searchOne(*next)))
      return failure();
  }
  wasStopped |= stopped();
  if (best) {
    if (failed(search.checkUsed(best->problem, used)) || failed(finish()))
      return failure();
    best->found.stopped |= wasStopped;
  }

  allBound = toBeat();
  for (Rational bound : searchedBounds)
    allBound = std::min(*allBound, bound);
  if (std::optional<Rational> others = openBound())
    allBound = allBound ? std::min(*allBound, *others) : *others;
  return success();
}

FailureOr<PlacementResult> Layouts::runOne(const StageLayers &stages,
                                           unsigned parts,
                                           std::optional<Rational> useless) {
  FailureOr<SearchProblem> problem = prepare(stages);
  if (failed(problem) || failed(search.addStarts(*problem, &used)))
    return failure();
  auto found = search.find(*problem, {work / parts, useless});
  if (failed(found))
    return failure();
  return PlacementResult{std::move(*problem), std::move(*found), {}};
}

FailureOr<LayoutResult> searchLayouts(ScheduleSearch &search,
                                      const SearchRequest &request,
                                      DiagEngine &diags) {
  StringSet<> warnings;
  std::vector<char> used(request.starts.size());
  SmallVector<std::unique_ptr<Layouts>, 2> forms;
  auto add = [&](bool split) {
    SearchRequest own = request;
    own.split = split;
    forms.push_back(
        std::make_unique<Layouts>(search, own, warnings, used, diags));
    return forms.back()->start();
  };
  bool isSplit = request.anyForm || request.split;
  if (failed(add(isSplit)) ||
      (request.anyForm && !forms[0]->coversAll() && failed(add(false))))
    return failure();
  bool both = forms.size() == 2;
  if (both && forms[1]->leastBound() < forms[0]->leastBound())
    std::swap(forms[0], forms[1]);
  std::optional<Rational> known;
  unsigned better = 0;
  for (auto [i, form] : enumerate(forms)) {
    if (failed(form->run(known, request.work() / forms.size())))
      return failure();
    const auto &best = form->best;
    if (best && (!known || best->found.makespan < *known)) {
      better = i;
      known = best->found.makespan;
    }
  }
  if (!known)
    return diags.report(DiagLoc(), diag::SearchNoLayout, forms[0]->reason);
  LayoutResult all = forms[better]->take();
  PlacementResult &result = all.result;
  result.coverage = both              ? Coverage::Either
                    : request.anyForm ? Coverage::All
                    : isSplit         ? Coverage::Split
                                      : Coverage::Whole;
  if (!both)
    return all;
  Layouts &other = *forms[!better];
  all.summary.merge(other.summary, other.allBound);
  bool stopped = other.best && other.best->found.stopped;
  // The bound of the layout is one of both forms, too.
  FailureOr<PlacementResult> same =
      other.runOne(forms[better]->bestStages, 4, *known);
  if (succeeded(same)) {
    stopped |= same->found.stopped;
    if (same->found.makespan < *known) {
      std::swap(same->problem, result.problem);
      std::swap(same->found, result.found);
    }
    result.addForm(*same);
  }
  result.found.stopped |= stopped;
  return all;
}

void LayoutSummary::merge(const LayoutSummary &other,
                          std::optional<Rational> otherBound) {
  bound = std::min(bound, otherBound.value_or(bound));
  searched += other.searched;
  bounded += other.bounded;
  if (other.evenMakespan &&
      (!evenMakespan || *other.evenMakespan < *evenMakespan))
    evenMakespan = other.evenMakespan;
}

} // namespace pipec
