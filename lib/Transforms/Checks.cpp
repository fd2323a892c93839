//===- Checks.cpp - Shared parts of passes --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/Checks.h"
#include "IR/StepPlaces.h"

#include "Support/Diagnostics/PassesDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LogicalResult checkNone(const Schedule &schedule, ArrayRef<Stream> streams,
                        StringRef pass, DiagEngine &diags) {
  auto meets = [&](Step step, unsigned rank, auto kind) {
    return diags.report(step.source(), kind, stepText(schedule, step), rank,
                        pass);
  };
  for (Stream stream : streams) {
    uint32_t kinds = step_facts::kindsOn(stream);
    for (const auto &[rank, list] : enumerate(schedule.ranks))
      for (Step step : list)
        if (step_facts::has(kinds, step.kind()))
          return stream == Stream::Link ? meets(step, rank, diag::PassMeetsP2P)
                 : stream == Stream::Gather
                     ? meets(step, rank, diag::PassMeetsFsdp)
                     : meets(step, rank, diag::PassMeetsTied);
  }
  return success();
}

LogicalResult checkNoKinds(const Schedule &schedule, uint32_t kinds,
                           StringRef pass, DiagEngine &diags) {
  for (const auto &[rank, list] : enumerate(schedule.ranks))
    for (Step step : list)
      if (step_facts::has(kinds, step.kind()))
        return diags.report(step.source(), diag::PassMeetsOwn,
                            stepText(schedule, step), rank, pass,
                            stepKindName(step.kind()));
  return success();
}

LogicalResult checkKept(const Schedule &schedule, StringRef pass,
                        DiagEngine &diags) {
  return schedule.forwardOnly
             ? diags.report(schedule.source, diag::PassMeetsForwardOnly, pass)
             : success();
}

LogicalResult checkStages(const Schedule &schedule,
                          std::optional<std::vector<unsigned>> &stages,
                          DiagEngine &diags) {
  if (!stages)
    return success();
  for (unsigned stage : *stages)
    if (stage >= schedule.numStages)
      return diags.report(schedule.source, diag::FsdpNoSuchStage, stage,
                          schedule.numStages);
  llvm::sort(*stages);
  stages->erase(llvm::unique(*stages), stages->end());
  return success();
}

/// Returns `list` with the result of `make` for each of `added` inserted at its
/// place.
template <typename T, typename Make>
static std::vector<T> merge(const std::vector<T> &list,
                            ArrayRef<AddedStep> added, Make make) {
  std::vector<T> result;
  result.reserve(list.size() + added.size());
  auto next = list.begin();
  for (const AddedStep &one : added) {
    result.insert(result.end(), next, list.begin() + one.before);
    next = list.begin() + one.before;
    result.push_back(make(one));
  }
  result.insert(result.end(), next, list.end());
  return result;
}

void insertSteps(Schedule &schedule, unsigned rank, ArrayRef<AddedStep> added) {
  if (added.empty())
    return;
  StepList &list = schedule.ranks[rank];
  list = merge(list, added, [](const AddedStep &one) { return one.step; });
  if (!schedule.times.empty())
    schedule.times[rank] =
        merge(schedule.times[rank], added,
              [](const AddedStep &) -> std::optional<Rational> { return {}; });
}

void removeSteps(Schedule &schedule, uint32_t kinds) {
  auto is = [=](Step step) { return step_facts::has(kinds, step.kind()); };
  for (auto [rank, list] : enumerate(schedule.ranks)) {
    if (!schedule.times.empty()) {
      auto &times = schedule.times[rank];
      size_t kept = 0;
      for (size_t i = 0; i != list.size(); ++i)
        if (!is(list[i]))
          times[kept++] = times[i];
      times.resize(kept);
    }
    erase_if(list, is);
  }
}

LogicalResult checkEnoughSteps(const Schedule &schedule, StringRef pass,
                               DiagEngine &diags) {
  uint64_t forwards = uint64_t(schedule.numStages) * schedule.numUnits;
  size_t steps = schedule.numSteps();
  if (steps >= forwards)
    return success();
  return diags.report(schedule.source, diag::PassMeetsTooFewSteps, pass, steps,
                      schedule.numStages, schedule.numUnits);
}

} // namespace pipec
