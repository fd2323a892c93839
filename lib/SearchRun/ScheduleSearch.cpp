//===- ScheduleSearch.cpp - A search and its result -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/ScheduleSearch.h"

#include "Driver/Figures.h"
#include "Simulation/Memory.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pipec {

std::vector<search::Words> SearchProblem::orders() const {
  std::vector<search::Words> orders;
  for (const SearchStart &start : starts)
    if (!start.words.empty())
      orders.push_back(start.words);
  return orders;
}

/// By stage, whether its chunk is recomputed.
static std::vector<bool> recomputedStages(const SearchRequest &request) {
  std::vector<bool> stages;
  for (bool chunk : request.recomputed)
    stages.insert(stages.end(), request.ranks, chunk);
  return stages;
}

MemorySettings withoutLimits(const MemorySettings &memory) {
  MemorySettings rest;
  for (const auto &[place, row] : memory.places())
    for (const auto &[figure, value] : row)
      if (figure != Figure::Limit)
        rest.set(figure, value, place);
  return rest;
}

FailureOr<SearchProblem> ScheduleSearch::prepare(const SearchRequest &request) {
  ScheduleHeader header;
  header.name = "found";
  header.numRanks = request.ranks;
  header.numStages = request.ranks * request.chunks;
  uint64_t units = uint64_t(request.microbatches) * request.slices;
  if (units > maxUnits)
    return diags.report(DiagLoc(), diag::SearchTooLarge, maxUnits,
                        "slices of micro-batches", units);
  header.numUnits = unsigned(units);
  header.numSlices = request.slices;
  header.placement = Placement(
      {search::placementMap(request.isV, request.ranks, request.chunks)});
  GraphBuilder graph(header.numStages, diags);
  if (failed(graph.add(request.graph)))
    return failure();
  FailureOr<StageGraph> made = graph.finish();
  if (failed(made))
    return failure();
  header.graph = std::move(*made);
  if (failed(applyCosts(header, request.given, diags)) ||
      failed(applyMemory(header, request.given, diags)))
    return failure();
  if (request.anyMemory)
    header.memory = withoutLimits(header.memory);
  for (auto [rank, limit] : enumerate(request.limits))
    header.memory.set(Figure::Limit, limit,
                      {FigureScope::Rank, unsigned(rank)});
  bool receives = false;
  for (unsigned stage = 0; stage != header.numStages; ++stage)
    receives |= !header.memory.receive(stage).isZero();
  if (receives && header.memory.hasLimit())
    (void)diags.report(DiagLoc(), diag::SearchReceives);
  if (diags.hadErrors())
    return failure();
  FailureOr<search::Model> model = search::makeModel(
      header, request.split, diags, recomputedStages(request));
  if (failed(model))
    return failure();
  if ((request.certified || request.slices != 1) &&
      search::overlapsGain(*model, /*mixed=*/request.slices != 1))
    return diags.report(DiagLoc(), diag::SearchOverlaps,
                        request.slices == 1 ? "a certificate"
                                            : "a search with slices");
  return SearchProblem{request, std::move(*model), {}, {}, 0};
}

LogicalResult ScheduleSearch::addStarts(SearchProblem &problem,
                                        std::vector<char> *used) {
  SearchStarts starts(problem.model, path, args, diags);
  progress.phase("reading schedules");
  if (!problem.request.recomputed.empty())
    return success();
  if (problem.request.library) {
    // As much as a search, for all problems together.
    uint64_t work = problem.request.work();
    search::Budget budget(work - std::min(work, workOnLibrary),
                          problem.request.stop);
    problem.libraryLeftOut = starts.addLibrary(library, budget);
    workOnLibrary += budget.spent();
  }
  for (auto [i, input] : enumerate(problem.request.starts)) {
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &) { return !used; });
    bool added = succeeded(starts.add(input));
    if (added && starts.all().back().words.empty() &&
        !problem.request.takes(starts.all().back()) &&
        !problem.request.takesMixed(starts.all().back()))
      added =
          succeeded(diags.report(DiagLoc(), diag::SearchStart, shortened(input),
                                 "its overlaps one by one wait for each "
                                 "other"));
    if (!added && !used)
      return failure();
    if (added && used)
      (*used)[i] = true;
  }
  problem.starts = starts.take();
  problem.library = bestOfLibrary(problem.starts, problem.model.header.memory);
  return success();
}

LogicalResult ScheduleSearch::checkUsed(SearchProblem &problem,
                                        ArrayRef<char> used) {
  const char *unused = llvm::find(used, 0);
  if (unused == used.end())
    return success();
  problem.request.starts = {problem.request.starts[unused - used.begin()]};
  return addStarts(problem);
}

search::SearchOptions ScheduleSearch::optionsOf(const SearchProblem &problem,
                                                const SearchLimits &limits) {
  const SearchRequest &request = problem.request;
  const search::Model &model = problem.model;
  search::SearchOptions options;
  options.work = limits.work;
  options.seed = request.seed;
  options.threads = request.threads;
  // The bound of the problem does not hold for schedules with overlaps.
  bool gain = search::overlapsGain(model);
  options.within = gain ? 0 : request.within;
  options.stop = request.stop;
  options.prove = request.prove;
  if (limits.goal)
    options.goal = model.ticksNotAbove(*limits.goal);
  if (limits.uselessBound)
    options.uselessBound = model.ticksNotBelow(*limits.uselessBound);
  options.progress = [&, gain](search::Ticks makespan, search::Ticks bound,
                               const char *phase) {
    std::string figures = "makespan " + decimalText(model.time(makespan)) +
                          (gain ? ", bound without overlaps " : ", bound ") +
                          decimalText(model.time(bound));
    progress.phase((Twine("searching (") + phase + "), " + figures).str());
    if (!request.log || figures == logged)
      return;
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    Progress::Hidden hidden(progress, /*untilNext=*/true);
    *request.log << formatv("{0,8:f1} s  {1}  ({2})\n", time.count(), figures,
                            phase);
    logged = std::move(figures);
  };
  return options;
}

FailureOr<FoundSchedule> ScheduleSearch::find(const SearchProblem &problem,
                                              const SearchLimits &limits) {
  FoundSchedule found;
  found.model = problem.model;
  found.library = problem.library;
  found.libraryLeftOut = problem.libraryLeftOut;
  const search::Model &model = found.model;
  progress.phase("searching");
  search::SearchResult result = search::search(model.problem, problem.orders(),
                                               optionsOf(problem, limits));
  found.boundTicks = result.bound;
  found.bound = model.time(result.bound);
  found.source = result.source;
  found.proof = std::move(result.proof);
  // The number of schedules left out depends on the clock.
  const std::atomic<bool> *stop = problem.request.stop;
  found.stopped = result.stopped || (problem.libraryLeftOut && stop && *stop);
  bool recomputes = !model.recomputed.empty();
  if (recomputes)
    found.bound = 0;
  if (failed(setWords(problem, std::move(result.best.words), found)))
    return failure();
  assert((model.isRelaxed() || recomputes ||
          found.makespan == model.time(result.best.makespan)) &&
         "the search and the simulator agree");
  if (recomputes)
    return found;
  // A start may have overlaps, and the problem may leave out costs that the
  // simulator counts.
  const SearchStart *better =
      bestStart(problem.starts, found.makespan, [&](const SearchStart &start) {
        return start.schedule ? problem.request.takes(start)
                              : !start.words.empty();
      });
  if (search::overlapsGain(model)) {
    if (better)
      found.makespan = better->makespan;
    found.overlapsGain = true;
    relaxBound(problem, limits, /*mixed=*/false, found);
  }
  if (better &&
      failed(better->schedule ? setStart(problem, *better, found)
                              : setWords(problem, better->words, found)))
    return failure();
  return found;
}

/// Replaces the bound by the bound of a problem with shorter times, which
/// covers schedules with overlaps and, if `mixed`, with both forms of the
/// backward.
void ScheduleSearch::relaxBound(const SearchProblem &problem,
                                const SearchLimits &limits, bool mixed,
                                FoundSchedule &found) {
  progress.phase("raising the bound");
  search::LowerBound lower = search::relaxedBound(
      problem.model, mixed, found.makespan,
      search::Budget(limits.work / 4, problem.request.stop));
  found.bound = lower.bound;
  found.source = lower.source;
  found.proof.reset();
}

LogicalResult ScheduleSearch::setStart(const SearchProblem &problem,
                                       const SearchStart &start,
                                       FoundSchedule &found) {
  found.schedule = *start.schedule;
  found.start = start.title();
  found.form = start.form;
  found.makespan = start.makespan;
  return measure(problem.request, found);
}

LogicalResult ScheduleSearch::setSaved(const SearchProblem &problem,
                                       Schedule schedule, StringRef memoryBy,
                                       std::string start,
                                       FoundSchedule &found) {
  std::optional<Rational> makespan = makespanOf(schedule, diags);
  if (!makespan)
    return failure();
  schedule.expectations.clear();
  found.schedule = std::move(schedule);
  found.memoryBy = memoryBy;
  found.start = std::move(start);
  found.form = formOf(found.schedule);
  found.makespan = *makespan;
  return measure(problem.request, found);
}

LogicalResult ScheduleSearch::takeMixed(const SearchProblem &problem,
                                        const SearchLimits &limits,
                                        FoundSchedule &found) {
  const SearchStart *better =
      bestStart(problem.starts, found.makespan, [&](const SearchStart &start) {
        return problem.request.takesMixed(start);
      });
  if (!better)
    return success();
  found.model = problem.model;
  found.makespan = better->makespan;
  found.overlapsGain = search::overlapsGain(problem.model, /*mixed=*/true);
  relaxBound(problem, limits, /*mixed=*/true, found);
  return setStart(problem, *better, found);
}

void FoundSchedule::takeBound(const FoundSchedule &other) {
  bound = other.bound;
  boundTicks = other.boundTicks;
  source = other.source;
  proof = other.proof;
}

LogicalResult ScheduleSearch::setWords(const SearchProblem &problem,
                                       search::Words words,
                                       FoundSchedule &found) {
  found.words = std::move(words);
  found.start.clear();
  found.form = problem.request.form();
  found.schedule = search::makeSchedule(problem.model, found.words);
  std::optional<Rational> makespan = makespanOf(found.schedule, diags);
  assert(makespan && "what is found can run");
  found.makespan = *makespan;
  return measure(problem.request, found);
}

/// Verifies and measures the schedule like any other schedule.
LogicalResult ScheduleSearch::measure(const SearchRequest &request,
                                      FoundSchedule &found) {
  if (failed(verify(found.schedule, diags)))
    return failure();
  FailureOr<MemoryModel> memory = MemoryModel::make(found.schedule, diags);
  if (failed(memory))
    return failure();
  assert(found.bound <= found.makespan);
  found.peaks.clear();
  found.totals.clear();
  for (unsigned rank = 0; rank != request.ranks; ++rank) {
    found.peaks.push_back(memory->peaks(rank).activations);
    found.totals.push_back(memory->peaks(rank).total);
  }
  found.schedule.params = {{"search_seed", int64_t(request.seed)},
                           {"search_effort", int64_t(request.effort)}};
  using Metric = Expectation::Metric;
  using Relation = Expectation::Relation;
  auto &clauses = found.schedule.expectations;
  clauses.push_back(
      {Metric::Makespan, Relation::EQ, std::nullopt, found.makespan, {}});
  for (unsigned rank = 0; rank != request.ranks; ++rank)
    clauses.push_back(
        {Metric::Peak, Relation::EQ, rank, found.peaks[rank], {}});
  return success();
}

LogicalResult ScheduleSearch::makeReadable(const SearchProblem &problem,
                                           const SearchLimits &limits,
                                           FoundSchedule &found) {
  progress.phase("looking for repeated blocks");
  search::Timing timing(problem.model.problem);
  search::Found best = {found.words, *timing.run(found.words)};
  search::SearchOptions options = optionsOf(problem, limits);
  found.blocks = search::searchPeriodic(
      problem.model.problem, best, problem.orders(), found.boundTicks, options);
  found.bestMakespan = found.makespan;
  found.stopped |= options.stop && *options.stop;
  if (!found.blocks)
    return success();
  return setWords(problem, found.blocks->found.words, found);
}

} // namespace pipec
