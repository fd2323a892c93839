//===- WeightedSearch.cpp - Lists and order of one batch ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/WeightedSearch.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// The factor of a micro-batch of the batch for all stages together: its weight
/// or, where these differ by stage, about their mean. Empty if it overflows.
static std::optional<Rational> weightOf(const BatchWeights &batch,
                                        unsigned microbatch) {
  if (!batch.perStage)
    return batch.weights.front().values[microbatch];
  double sum = 0;
  for (const BatchWeights::Row &row : batch.weights)
    sum += double(row.values[microbatch].numerator()) /
           double(row.values[microbatch].denominator());
  double mean = sum / double(batch.weights.size());
  return mean < 1e12 ? Rational::make(int64_t(mean * 1000 + 0.5), 1000)
                     : std::nullopt;
}

/// The factors of the batch, by micro-batch; empty if one overflows.
static std::vector<Rational> factorsOf(const CostSettings &costs,
                                       const BatchWeights &batch,
                                       unsigned microbatches) {
  std::vector<Rational> factors;
  for (unsigned i = 0; i != microbatches; ++i) {
    Rational own = costs.get(Figure::Factor, {FigureScope::Microbatch, i})
                       .value_or(Rational(1));
    std::optional<Rational> weight = weightOf(batch, i);
    weight = weight ? Rational::mul(*weight, own) : std::nullopt;
    if (!weight)
      return {};
    factors.push_back(*weight);
  }
  return factors;
}

/// All lists and orders take at least all steps of a rank, after the steps
/// before it of the micro-batch for which these are shortest, times the least
/// factor of an overlap. 0 if overlaps have times of their own, or where
/// numbers do not fit.
static Rational boundOfWork(const Schedule &header, const BatchWeights &batch) {
  const CostSettings &costs = header.costs;
  Rational factor = std::min(Rational(1), costs.general(Figure::Overlap));
  for (const CostSettings::Overlap &overlap : costs.overlaps) {
    if (!overlap.isFactor)
      return 0;
    factor = std::min(factor, overlap.cost);
  }
  bool fits = true;
  auto add = [&](Rational &sum, std::optional<Rational> value) {
    auto next = value ? Rational::add(sum, *value) : std::nullopt;
    fits &= next.has_value();
    sum = next.value_or(sum);
  };
  auto times = [](std::optional<Rational> a, std::optional<Rational> b) {
    return a && b ? Rational::mul(*a, *b) : std::nullopt;
  };
  const Placement &placement = header.placement;
  std::vector<Rational> work(header.numRanks);
  std::vector<std::optional<Rational>> heads(header.numRanks);
  for (unsigned i = 0; i != header.numMicrobatches(); ++i) {
    Rational head;
    for (unsigned stage = 0; stage != header.numStages; ++stage) {
      unsigned rank = placement.rankOf(stage, 0);
      heads[rank] = heads[rank] ? std::min(*heads[rank], head) : head;
      const auto &row = batch.weights[batch.perStage ? stage : 0].values;
      for (unsigned slice = 0; slice != header.numSlices; ++slice) {
        UnitPlace unit{.slice = slice};
        auto weight =
            times(costs.factorOf(stage, rank, i * header.numSlices + slice,
                                 header.numSlices),
                  row[i]);
        auto forward = times(costs.of(StepKind::F, stage, rank, unit), weight);
        Rational halves;
        for (StepKind kind : {StepKind::I, StepKind::W})
          add(halves, times(costs.of(kind, stage, rank, unit), weight));
        auto whole = times(costs.of(StepKind::B, stage, rank, unit), weight);
        add(work[rank], forward);
        add(work[rank], whole ? std::min(*whole, halves) : whole);
        // The slices of one micro-batch may run at once on several ranks.
        if (slice == 0)
          add(head, forward);
      }
      if (stage + 1 != header.numStages)
        add(head, costs.hop(rank, placement.rankOf(stage + 1, 0)));
    }
  }
  Rational bound;
  for (auto [own, head] : zip_equal(work, heads)) {
    add(own, head.value_or(Rational()));
    auto overlapped = times(own, factor);
    fits &= overlapped.has_value();
    bound = std::max(bound, overlapped.value_or(own));
  }
  return fits && header.graph.isChain() && !placement.bidirectional()
             ? bound
             : Rational();
}

namespace {

/// The best lists so far.
class WeightedBest {
public:
  WeightedBest(const BatchWeights &batch, uint64_t seed, DiagEngine &diags)
      : batch(batch), seed(seed), diags(diags) {}

  /// Takes a better schedule with its order, and returns true for one. Reports
  /// why there is no order if it is not `quiet`.
  bool take(const Schedule &schedule, std::string title, bool quiet) {
    DiagEngine::ScopedFilter filter(diags,
                                    [&](Diagnostic &) { return !quiet; });
    FailureOr<BatchOrder> order =
        findOrder(schedule, batch, /*effort=*/1, seed, diags);
    if (failed(order) || (best && best->order.makespan <= order->makespan))
      return false;
    best = {schedule, std::move(title), std::move(*order)};
    return true;
  }

  std::optional<WeightedResult> best;

private:
  const BatchWeights &batch;
  uint64_t seed;
  DiagEngine &diags;
};

} // namespace

/// The quarters of the largest size of a batch for which lists are searched.
static constexpr int firstQuarter = 2, lastQuarter = 4;

/// Limits by rank for equal micro-batches of size 1, which stand for
/// micro-batches of `quarters` / 4 of `size`: the memory above `residents` is
/// divided by that product. Empty if a rank has no limit.
static std::vector<Rational> limitsFor(const Schedule &header,
                                       ArrayRef<Rational> residents,
                                       Rational size, int quarters) {
  std::vector<Rational> limits;
  auto part = Rational::mul(size, *Rational::make(quarters, 4));
  for (unsigned rank = 0; part && rank != header.numRanks; ++rank) {
    auto limit = header.memory.limit(rank);
    Rational fixed = residents.empty() ? Rational() : residents[rank];
    auto free = limit ? Rational::sub(*limit, fixed) : std::nullopt;
    if (free && *part != Rational())
      free = Rational::div(*free, *part);
    auto own = free ? Rational::add(*free, fixed) : std::nullopt;
    if (!own)
      return {};
    limits.push_back(*own);
  }
  return limits;
}

FailureOr<WeightedResult> searchWeighted(ScheduleSearch &searcher,
                                         const SearchRequest &request,
                                         const BatchWeights &batch,
                                         DiagEngine &diags) {
  if (failed(batch.check(request.ranks * request.chunks, request.microbatches,
                         diags)))
    return failure();
  // Equal micro-batches may exceed a limit although the batch does not.
  SearchRequest any = request;
  any.anyMemory = true;
  FailureOr<SearchProblem> problem = searcher.prepare(any);
  if (failed(problem) || failed(searcher.addStarts(*problem)))
    return failure();
  Schedule header(problem->model.header);
  header.memory = MemorySettings();
  if (failed(applyMemory(header, request.given, diags)))
    return failure();

  WeightedBest found(batch, request.seed, diags);
  std::optional<Schedule> unfit;
  auto consider = [&](const Schedule &lists, std::string title) {
    Schedule own = header;
    own.ranks = lists.ranks;
    bool better = found.take(own, std::move(title), /*quiet=*/true);
    if (!found.best)
      unfit = std::move(own);
    return better;
  };
  for (const SearchStart &start : problem->starts) {
    if (found.best && request.stop && *request.stop)
      break;
    if (!start.words.empty())
      consider(search::makeSchedule(problem->model, start.words),
               start.title());
    if (start.schedule && (request.anyForm || request.takes(start)))
      consider(*start.schedule, start.title());
  }

  // Limits that refuse equal sizes may allow other lists, so that only the last
  // search reports why it has none.
  auto tryLists = [&](const SearchRequest &own, bool isLast) {
    DiagEngine::ScopedFilter filter(
        diags, [&](Diagnostic &) { return isLast && !found.best && !unfit; });
    FailureOr<PlacementResult> lists = searchPlacements(searcher, own, diags);
    return succeeded(lists) && consider(lists->found.schedule, "found");
  };
  auto limits = [&](int quarters) {
    return batch.sizes
               ? limitsFor(header, problem->model.residents,
                           *llvm::max_element(batch.sizes->values), quarters)
               : std::vector<Rational>();
  };
  bool hasLimits = !limits(lastQuarter).empty();

  std::vector<Rational> factors =
      factorsOf(header.costs, batch, request.microbatches);
  constexpr unsigned rounds = 2;
  for (unsigned round = 0; round != rounds && !factors.empty(); ++round) {
    SearchRequest own = request;
    own.parts *= rounds;
    CostSettings ordered;
    for (unsigned k = 0; k != request.microbatches; ++k)
      ordered.set(Figure::Factor,
                  factors[found.best ? found.best->order.order[k] : k],
                  {FigureScope::Microbatch, k});
    own.given.costs.push_back(std::move(ordered));
    if (!tryLists(own, /*isLast=*/!hasLimits))
      break;
  }
  // Otherwise lists for equal micro-batches that are larger, at last as large
  // as the largest of the batch: then every order fits.
  for (int quarters = firstQuarter;
       hasLimits && !found.best && quarters <= lastQuarter; ++quarters) {
    SearchRequest own = request;
    own.parts *= lastQuarter - firstQuarter + 1;
    own.limits = limits(quarters);
    tryLists(own, quarters == lastQuarter);
  }
  if (!found.best) {
    if (unfit)
      (void)findOrder(*unfit, batch, 1, request.seed, diags);
    return failure();
  }
  WeightedResult &best = *found.best;
  best.order.bound = std::min(boundOfWork(header, batch), best.order.makespan);
  best.schedule.order = best.order.order;
  if (batch.perStage) {
    for (auto [stage, row] : enumerate(batch.weights))
      for (auto [i, weight] : enumerate(row.values))
        best.schedule.costs.set(
            Figure::Factor, weight,
            {FigureScope::StageMicrobatch, unsigned(stage), unsigned(i)});
  } else {
    for (auto [i, factor] : enumerate(factors))
      best.schedule.costs.set(Figure::Factor, factor,
                              {FigureScope::Microbatch, unsigned(i)});
  }
  return std::move(best);
}

bool hasFactors(const CostSettings &costs, unsigned microbatches) {
  auto factorOf = [&](unsigned i) {
    return costs.get(Figure::Factor, {FigureScope::Microbatch, i})
        .value_or(Rational(1));
  };
  for (unsigned i = 1; i < microbatches; ++i)
    if (factorOf(i) != factorOf(0))
      return true;
  return false;
}

/// Raises the bound of a result, and of all forms of its placement.
static void raiseBound(PlacementResult &result, Rational bound) {
  FoundSchedule &found = result.found;
  if (bound <= result.bound().bound)
    return;
  found.bound = bound;
  found.source = search::BoundSource::Rank;
  found.model.takesCheapestMicrobatch = false;
  result.other.reset();
  const SearchRequest &best = result.problem.request;
  for (PlacementTrial &trial : result.trials)
    if (trial.chunks == best.chunks && trial.isV == best.isV && trial.bound)
      trial.bound = std::max(*trial.bound, bound);
}

/// The starts of a request that its placement can use.
static std::vector<std::string> usableStarts(ScheduleSearch &searcher,
                                             SearchRequest request) {
  request.anyMemory = true;
  request.library = false;
  std::vector<char> used(request.starts.size());
  FailureOr<SearchProblem> problem = searcher.prepare(request);
  if (failed(problem) || failed(searcher.addStarts(*problem, &used)))
    return {};
  std::vector<std::string> starts;
  for (auto [start, isUsed] : zip_equal(request.starts, used))
    if (isUsed)
      starts.push_back(start);
  return starts;
}

LogicalResult orderMicrobatches(ScheduleSearch &searcher,
                                const SearchRequest &request,
                                PlacementResult &result, DiagEngine &diags) {
  FoundSchedule &found = result.found;
  const Schedule header(found.model.header);
  if (!hasFactors(header.costs, request.microbatches) || request.isFixed)
    return success();
  BatchWeights ones;
  ones.weights.push_back(
      {std::vector<Rational>(request.microbatches, Rational(1)), DiagLoc()});
  // Words have bounds of their own. Of rounded costs, this one may be above the
  // makespan.
  if (!request.onlyWords)
    raiseBound(result, std::min(boundOfWork(header, ones), found.makespan));
  if (!request.keepsOrder.empty() || found.makespan == result.bound().bound)
    return success();
  SearchRequest own = result.problem.request;
  own.split = request.split;
  own.mixed = request.mixed;
  FailureOr<WeightedResult> ordered = failure();
  {
    // The result remains where no order of other lists fits.
    DiagEngine::ScopedFilter filter(diags, [](Diagnostic &) { return false; });
    own.starts = usableStarts(searcher, own);
    ordered = searchWeighted(searcher, own, ones, diags);
  }
  found.searchedOrders = true;
  found.stopped |= request.stop && *request.stop;
  if (failed(ordered) || ordered->order.makespan >= found.makespan)
    return success();
  found.inGivenOrder = found.makespan;
  result.plain.reset();
  for (PlacementTrial &trial : result.trials)
    if (trial.outcome == PlacementTrial::Outcome::Best)
      trial.makespan = ordered->order.makespan;
  return searcher.setSchedule(
      result.problem, std::move(ordered->schedule), /*memoryBy=*/"",
      ordered->title == "found" ? "" : ordered->title, found);
}

} // namespace pipec
