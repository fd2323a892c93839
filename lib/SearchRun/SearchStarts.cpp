//===- SearchStarts.cpp - Schedules that a search starts from -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/SearchStarts.h"

#include "Driver/Figures.h"
#include "Search/Decoder.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

std::optional<Rational> makespanOf(const Schedule &schedule,
                                   DiagEngine &diags) {
  // An order that cannot run is not an error of the user.
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  FailureOr<Simulation> run = simulate(schedule, diags);
  if (failed(run))
    return std::nullopt;
  return run->time(run->makespan());
}

FailureOr<std::vector<Rational>> totalsOf(const Schedule &schedule,
                                          DiagEngine &diags) {
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return failure();
  std::vector<Rational> totals;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    totals.push_back(memory->size(memory->highest(rank).total));
  return totals;
}

BackwardForm formOf(const Schedule &schedule) {
  bool split = false, whole = false;
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      split |= step.kind() == StepKind::I;
      whole |= step.kind() == StepKind::B;
    }
  return !whole  ? BackwardForm::Split
         : split ? BackwardForm::Mixed
                 : BackwardForm::Whole;
}

std::string SearchStart::title() const {
  return params.empty() ? name : name + " (" + paramText(params) + ")";
}

bool SearchStart::fits(const MemorySettings &memory) const {
  return !totals.empty() && areWithin(totals, memory);
}

bool areWithin(ArrayRef<Rational> totals, const MemorySettings &memory) {
  for (auto [rank, total] : enumerate(totals)) {
    std::optional<Rational> limit = memory.limit(rank);
    if (limit && *limit < total)
      return false;
  }
  return true;
}

static FailureOr<Schedule> lower(const ScheduleSource &source,
                                 const CheckedSchedule &schedule,
                                 const ScheduleHeader &header,
                                 DiagEngine &diags,
                                 LowerOptions lowering = {}) {
  // The micro-batches of a program without a parameter for them count slices.
  lowering.params = {{"ranks", header.numRanks},
                     {"microbatches", schedule.slices ? header.numMicrobatches()
                                                      : header.numUnits}};
  if (header.numSlices != 1)
    lowering.slices = header.numSlices;
  if (schedule.chunks)
    lowering.params.push_back({"chunks", header.numStages / header.numRanks});
  return source.lower(schedule, lowering, diags);
}

size_t StartLibrary::size() {
  if (!list) {
    list.emplace();
    for (const std::string &file : path.libraryFiles())
      (void)list->add(file, "", path, args, diags);
  }
  return list->entries().size();
}

const StartLibrary::Entry *StartLibrary::get(size_t index,
                                             const search::Model &model) {
  const search::Problem &problem = model.problem;
  auto [it, isNew] = lowered.try_emplace(
      {index, problem.ranks, problem.microbatches, problem.chunks});
  if (!isNew)
    return it->second ? &*it->second : nullptr;
  auto [source, checked] = list->entries()[index];
  assert(checked && "the library consists of programs");
  // Limits the time of a single program.
  LowerOptions lowering;
  lowering.maxSteps = (1u << 24) + 16 * uint64_t(problem.numSteps());
  FailureOr<Schedule> made =
      lower(*source, *checked, model.header, diags, lowering);
  if (failed(made) || made->numStages != model.header.numStages ||
      failed(verify(*made, diags)))
    return nullptr;
  ParamValues params = furtherParams(*checked, *made);
  return &it->second.emplace(Entry{std::move(*made), std::move(params)});
}

/// Measures a schedule as it is, with the settings of the model; false if it
/// cannot run or does not fit.
bool SearchStarts::measure(const Schedule &schedule, SearchStart &start) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  auto own = std::make_shared<Schedule>(model.header);
  for (const StepList &list : schedule.ranks) {
    StepList &computes = own->ranks.emplace_back();
    llvm::copy_if(list, std::back_inserter(computes),
                  [](Step step) { return isCompute(step.kind()); });
    for (Step step : computes)
      start.overlaps |= step.joined();
  }
  start.form = formOf(*own);
  // It may wait for edges that only the model has.
  if (failed(verify(*own, diags)))
    return false;
  std::optional<Rational> makespan = makespanOf(*own, diags);
  FailureOr<std::vector<Rational>> totals = totalsOf(*own, diags);
  if (!makespan || failed(totals))
    return false;
  start.makespan = *makespan;
  start.totals = std::move(*totals);
  if (!start.fits(model.header.memory))
    return false;
  start.schedule = std::move(own);
  return true;
}

/// True if two schedules have the same steps.
static bool haveSameSteps(const Schedule &a, const Schedule &b) {
  return llvm::equal(a.ranks, b.ranks,
                     [](const StepList &a, const StepList &b) {
                       return llvm::equal(a, b, [](Step a, Step b) {
                         return a.sameAction(b) && a.joined() == b.joined();
                       });
                     });
}

bool SearchStarts::addSchedule(const Schedule &schedule, ParamValues params) {
  if (!search::hasShape(model, schedule))
    return false;
  SearchStart start{schedule.name, std::move(params), {}, 0};
  std::optional<search::Words> words = search::wordsOf(model, schedule);
  if (words && search::Timing(model.problem).run(*words))
    start.words = std::move(*words);
  bool fits = measure(schedule, start);
  if (!start.words.empty()) {
    Schedule ofWords = search::makeSchedule(model, start.words);
    if (fits && haveSameSteps(*start.schedule, ofWords))
      start.schedule = nullptr;
    if (!fits) {
      std::optional<Rational> makespan = makespanOf(ofWords, diags);
      assert(makespan && "the words can run");
      start.makespan = *makespan;
    }
  }
  if (!fits && start.words.empty())
    return false;
  if (!fits)
    start.totals.clear();
  starts.push_back(std::move(start));
  return true;
}

unsigned SearchStarts::addLibrary(StartLibrary &library,
                                  search::Budget &budget) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  unsigned leftOut = 0;
  for (size_t i = 0, e = library.size(); i != e; ++i) {
    if (budget.done()) {
      ++leftOut;
      continue;
    }
    budget.spend(100 * uint64_t(model.problem.numSteps()));
    if (const StartLibrary::Entry *entry = library.get(i, model))
      addSchedule(entry->schedule, entry->params);
  }
  for (SearchStart &start : starts)
    start.ofLibrary = true;
  return leftOut;
}

void SearchStarts::addModel(const Schedule &schedule) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  addSchedule(schedule, {});
}

LogicalResult SearchStarts::add(StringRef input) {
  auto source = ScheduleSource::find(input, path, args, diags);
  if (failed(source))
    return failure();
  FailureOr<Schedule> schedule = failure();
  ParamValues params;
  if ((*source)->isProgram()) {
    auto chosen = (*source)->schedule("", diags);
    if (failed(chosen))
      return failure();
    schedule = lower(**source, **chosen, model.header, diags);
    if (succeeded(schedule))
      params = furtherParams(**chosen, *schedule);
  } else {
    schedule = (*source)->read({}, {}, diags);
  }
  if (failed(schedule) || failed(verify(*schedule, diags)))
    return failure();
  const ScheduleHeader &header = model.header;
  auto refuse = [&](const Twine &why) {
    return diags.report(DiagLoc(), diag::SearchStart, shortened(input),
                        why.str());
  };
  if (schedule->numRanks != header.numRanks ||
      schedule->numMicrobatches() != header.numMicrobatches())
    return refuse("it has " + countText(schedule->numRanks, "rank") + " and " +
                  countText(schedule->numMicrobatches(), "micro-batch", "es"));
  if (schedule->numSlices != header.numSlices)
    return refuse("it has " + countText(schedule->numSlices, "slice") +
                  " per micro-batch");
  if (schedule->placement != model.header.placement)
    return refuse("it places its stages on other ranks");
  if (!schedule->graph.isChain() && schedule->graph != model.header.graph)
    return refuse("its stages have other edges");
  if (schedule->forwardOnly)
    return refuse("it has no backward steps");
  if (!addSchedule(*schedule, std::move(params)))
    return refuse("it needs more memory than the limit, or its overlaps one by "
                  "one wait for each other");
  return success();
}

const SearchStart *bestStart(ArrayRef<SearchStart> starts,
                             std::optional<Rational> than,
                             function_ref<bool(const SearchStart &)> holds) {
  const SearchStart *best = nullptr;
  for (const SearchStart &start : starts)
    if ((!than || start.makespan < *than) && holds(start)) {
      best = &start;
      than = start.makespan;
    }
  return best;
}

std::optional<SearchStart> bestOfLibrary(ArrayRef<SearchStart> starts,
                                         const MemorySettings &memory) {
  const SearchStart *best =
      bestStart(starts, std::nullopt, [&](const SearchStart &start) {
        return start.ofLibrary && start.fits(memory);
      });
  return best ? std::optional(*best) : std::nullopt;
}

} // namespace pipec
