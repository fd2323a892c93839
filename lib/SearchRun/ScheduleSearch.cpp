//===- ScheduleSearch.cpp - A search and its result -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/ScheduleSearch.h"

#include "Cost/UnitColumns.h"
#include "Driver/Figures.h"
#include "IR/RegularPlacements.h"
#include "Search/ListProblem.h"
#include "Search/Mixed.h"
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

search::LowerBound SearchProblem::leastBound() const {
  if (!request.mixed)
    return search::leastBound(model);
  return search::relaxedBound(model, /*mixed=*/true, Rational(0),
                              search::Budget(0));
}

FoundSchedule SearchProblem::emptyResult() const {
  FoundSchedule found;
  found.model = model;
  found.library = library;
  found.libraryLeftOut = libraryLeftOut;
  return found;
}

void SearchProblem::resume(const search::Words &words, Rational makespan) {
  if (request.mixed) {
    seeds.push_back(words);
    return;
  }
  if (!resumed)
    starts.emplace_back();
  starts.back() = {"the best so far", {}, words, makespan};
  resumed = true;
}

void SearchProblem::endResume() {
  if (resumed)
    starts.pop_back();
  resumed = false;
}

MemorySettings withoutLimits(const MemorySettings &memory) {
  MemorySettings rest;
  for (const auto &[place, row] : memory.places())
    for (const auto &[figure, value] : row)
      if (figure != Figure::Limit)
        rest.set(figure, value, place);
  return rest;
}

std::string SearchRequest::placementName() const {
  if (!model)
    return isV ? "v" : "loop";
  if (isBidirectional())
    return "bidirectional";
  ArrayRef<uint32_t> map = model->placement.map(0);
  return isLoop(map, ranks) ? "loop" : hasLegs(map, ranks) ? "v" : "explicit";
}

/// The header of a request without a model.
FailureOr<ScheduleHeader>
ScheduleSearch::makeHeader(const SearchRequest &request) {
  ScheduleHeader header;
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
  return header;
}

FailureOr<SearchProblem> ScheduleSearch::prepare(const SearchRequest &request) {
  ScheduleHeader header;
  if (request.model) {
    header = *request.model;
    header.params.clear();
    header.expectations.clear();
    header.phases.clear();
    header.source = {};
  } else if (failed(store(makeHeader(request), header))) {
    return failure();
  }
  if (failed(refuseMicrobatchFigures(header, "the search", diags)))
    return failure();
  header.name = "found";
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
  FailureOr<search::Model> model =
      search::makeModel(header, request.split, diags, request.recomputed);
  if (failed(model))
    return failure();
  if ((!request.certified.empty() || request.slices != 1) &&
      search::overlapsGain(*model, /*mixed=*/request.slices != 1))
    return diags.report(DiagLoc(), diag::SearchOverlaps,
                        request.slices == 1 ? request.certified
                                            : "a search with slices");
  if (request.isBidirectional() && !search::ListProblem::make(header, diags))
    return diags.report(DiagLoc(), diag::SearchModel, request.model->name,
                        "with two directions, a search takes no slices, no "
                        "transfers that occupy edges or ports, and at most "
                        "2^18 micro-batches of all stages");
  SearchProblem problem{request, std::move(*model)};
  if (request.mixed &&
      failed(store(search::makeModel(header, /*split=*/false, diags),
                   problem.whole)))
    return failure();
  return problem;
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
  if (problem.request.model)
    starts.addModel(*problem.request.model);
  for (auto [i, input] : enumerate(problem.request.starts)) {
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &) { return !used; });
    bool added = succeeded(starts.add(input));
    if (added && starts.all().back().words.empty() &&
        !problem.request.takes(starts.all().back()))
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
    show(request, std::move(figures), phase);
  };
  return options;
}

/// Shows new figures of a phase.
void ScheduleSearch::show(const SearchRequest &request, std::string figures,
                          const char *phase) {
  progress.phase((Twine("searching (") + phase + "), " + figures).str());
  if (!request.log || figures == logged)
    return;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  Progress::Hidden hidden(progress, /*untilNext=*/true);
  *request.log << formatv("{0,8:f1} s  {1}  ({2})\n", time.count(), figures,
                          phase);
  logged = std::move(figures);
}

FailureOr<FoundSchedule> ScheduleSearch::find(const SearchProblem &problem,
                                              const SearchLimits &limits) {
  if (problem.request.isBidirectional())
    return findBothWays(problem, limits);
  if (problem.request.mixed)
    return findMixed(problem, limits);
  FoundSchedule found = problem.emptyResult();
  const search::Model &model = found.model;
  progress.phase("searching");
  SearchLimits own = limits;
  bool makesLists = makesOverlaps(problem);
  if (makesLists)
    own.work /= 2;
  search::SearchResult result =
      search::search(model.problem, problem.orders(), optionsOf(problem, own));
  found.boundTicks = result.bound;
  found.bound = model.time(result.bound);
  found.source = result.source;
  found.proof = std::move(result.proof);
  // The number of schedules left out depends on the clock.
  const std::atomic<bool> *stop = problem.request.stop;
  found.spent = result.spent;
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
    if (makesLists)
      findLists(problem, SearchLimits{limits.work - own.work}, better, found);
    relaxBound(problem, limits, /*mixed=*/false, found);
  }
  if (found.isOfLists) {
    if (failed(measure(problem.request, found)))
      return failure();
  } else if (better && failed(better->schedule
                                  ? setStart(problem, *better, found)
                                  : setWords(problem, better->words, found))) {
    return failure();
  }
  return found;
}

/// Searches words of one form with a half of the work, unless there are seeds,
/// and with the rest words of both.
FailureOr<FoundSchedule> ScheduleSearch::findMixed(const SearchProblem &problem,
                                                   const SearchLimits &limits) {
  FoundSchedule found = problem.emptyResult();
  auto mixed = search::MixedProblem::make(problem.model, *problem.whole);
  if (!mixed)
    return diags.report(problem.model.header.source, diag::SearchTimes);
  const std::atomic<bool> *stop = problem.request.stop;
  bool makesLists = makesOverlaps(problem);
  uint64_t work = limits.work / (makesLists ? 2 : 1);
  std::vector<search::Words> starts = problem.seeds;
  if (starts.empty())
    for (const search::Model *model : {&problem.model, &*problem.whole}) {
      bool isWhole = !model->problem.split;
      search::SearchOptions options =
          optionsOf(problem, SearchLimits{work / 4});
      options.progress = nullptr;
      search::SearchResult result = search::search(
          model->problem,
          isWhole ? std::vector<search::Words>() : problem.orders(), options);
      found.spent += result.spent;
      starts.push_back(isWhole ? mixed->fromWhole(result.best.words)
                               : mixed->fromSplit(result.best.words));
    }
  for (const SearchStart &start : problem.starts) {
    if (!start.schedule)
      starts.push_back(start.words);
    else if (auto words = mixed->wordsOf(*start.schedule))
      starts.push_back(std::move(*words));
  }
  progress.phase("searching for split and whole backwards");
  search::LowerBound least = problem.leastBound();
  search::Budget budget(work - std::min(work, found.spent), stop);
  search::Budget own = budget.part(budget.left() * 3 / 4);
  search::Found best =
      search::searchMixed(*mixed, starts, problem.request.seed,
                          mixed->ticksNotBelow(least.bound), own);
  found.spent += own.spent();
  found.stopped = stop && *stop;
  found.overlapsGain = search::overlapsGain(problem.model, /*mixed=*/true);
  const SearchStart *better =
      bestStart(problem.starts, std::nullopt, [&](const SearchStart &start) {
        return problem.request.takes(start);
      });
  assert((better || !best.words.empty()) && "words of one form can run");
  if (best.words.empty()) {
    found.makespan = better->makespan;
  } else {
    found.words = std::move(best.words);
    found.schedule = mixed->makeSchedule(found.words);
    found.form = formOf(found.schedule);
    std::optional<Rational> makespan = makespanOf(found.schedule, diags);
    assert(makespan && "what is found can run");
    found.makespan = *makespan;
    if (better && better->makespan < found.makespan)
      found.makespan = better->makespan;
    else
      better = nullptr;
  }
  uint64_t left = work - std::min(work, found.spent);
  if (makesLists) {
    findLists(problem, SearchLimits{limits.work - work}, better, found);
    if (found.isOfLists)
      better = nullptr;
  }
  relaxBound(problem, SearchLimits{left * 4}, /*mixed=*/true, found);
  if (better ? failed(setStart(problem, *better, found))
             : failed(measure(problem.request, found)))
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

LogicalResult ScheduleSearch::setSchedule(const SearchProblem &problem,
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
  found.isOfLists = false;
  found.form = formOf(found.schedule);
  found.makespan = *makespan;
  return measure(problem.request, found);
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
  found.isOfLists = false;
  found.form = problem.request.form();
  found.schedule = search::makeSchedule(problem.model, found.words);
  std::optional<Rational> makespan = makespanOf(found.schedule, diags);
  assert(makespan && "what is found can run");
  found.makespan = *makespan;
  return measure(problem.request, found);
}

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
