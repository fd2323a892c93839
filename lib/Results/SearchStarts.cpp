//===- SearchStarts.cpp - Schedules that a search starts from -------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/SearchStarts.h"

#include "Results/Figures.h"
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

FailureOr<Schedule> SearchStarts::lower(const ScheduleSource &source,
                                        const CheckedSchedule &schedule) {
  LowerOptions lowering;
  lowering.params = {{"ranks", model.problem.ranks},
                     {"microbatches", model.problem.microbatches}};
  if (schedule.chunks)
    lowering.params.push_back({"chunks", model.problem.chunks});
  return source.lower(schedule, lowering, diags);
}

bool SearchStarts::addWords(const Schedule &schedule, ParamValues params) {
  std::optional<search::Words> words = search::wordsOf(model, schedule);
  if (!words)
    return false;
  std::optional<Rational> makespan =
      makespanOf(search::makeSchedule(model, *words), diags);
  if (!makespan)
    return false;
  starts.push_back(
      {schedule.name, std::move(params), std::move(*words), *makespan});
  return true;
}

void SearchStarts::addLibrary() {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  ScheduleList library;
  for (const std::string &file : path.libraryFiles())
    if (failed(library.add(file, "", path, args, diags)))
      continue;
  for (const auto &[source, schedule] : library.entries()) {
    if (!schedule)
      continue;
    FailureOr<Schedule> lowered = lower(*source, *schedule);
    if (succeeded(lowered) && succeeded(verify(*lowered, diags)))
      addWords(*lowered, furtherParams(*schedule, *lowered));
  }
  numOfLibrary = starts.size();
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
    schedule = lower(**source, **chosen);
    if (succeeded(schedule))
      params = furtherParams(**chosen, *schedule);
  } else {
    schedule = (*source)->read({}, {}, diags);
  }
  if (failed(schedule) || failed(verify(*schedule, diags)))
    return failure();
  const search::Problem &problem = model.problem;
  auto refuse = [&](const Twine &why) {
    return diags.report(DiagLoc(), diag::SearchStart, shortened(input),
                        why.str());
  };
  if (schedule->numRanks != problem.ranks ||
      schedule->numMicrobatches != problem.microbatches)
    return refuse("it has " + countText(schedule->numRanks, "rank") + " and " +
                  countText(schedule->numMicrobatches, "micro-batch", "es"));
  if (schedule->placement != model.header.placement)
    return refuse("it places its stages on other ranks");
  if (!schedule->graph.isChain() && schedule->graph != model.header.graph)
    return refuse("its stages have other edges");
  if (schedule->forwardOnly)
    return refuse("it has no backward steps");
  if (!addWords(*schedule, std::move(params)))
    return refuse("it needs more memory than the limit, or its overlaps one by "
                  "one wait for each other");
  return success();
}

const SearchStart *SearchStarts::bestOfLibrary() const {
  const SearchStart *best = nullptr;
  for (const SearchStart &start : ArrayRef(starts).take_front(numOfLibrary))
    if (!best || start.makespan < best->makespan)
      best = &start;
  return best;
}

} // namespace pipec
