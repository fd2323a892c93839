//===- Checks.cpp - Shared parts of passes --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/Checks.h"
#include "IR/StepPlaces.h"

#include "Support/Diagnostics/PassesDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// Reports the first step whose kind satisfies `is`.
static LogicalResult checkNone(const Schedule &schedule, bool (*is)(StepKind),
                               auto kind, StringRef pass, DiagEngine &diags) {
  for (const auto &[rank, list] : enumerate(schedule.ranks))
    for (Step step : list)
      if (is(step.kind()))
        return diags.report(step.source(), kind, stepText(schedule, step), rank,
                            pass);
  return success();
}

LogicalResult checkNoP2P(const Schedule &schedule, StringRef pass,
                         DiagEngine &diags) {
  return checkNone(schedule, isP2P, diag::PassMeetsP2P, pass, diags);
}

LogicalResult checkNoFsdp(const Schedule &schedule, StringRef pass,
                          DiagEngine &diags) {
  return checkNone(schedule, isFsdp, diag::PassMeetsFsdp, pass, diags);
}

LogicalResult checkNoTied(const Schedule &schedule, StringRef pass,
                          DiagEngine &diags) {
  return checkNone(schedule, isTied, diag::PassMeetsTied, pass, diags);
}

LogicalResult checkNoSendWaits(const Schedule &schedule, StringRef pass,
                               DiagEngine &diags) {
  return checkNone(schedule, isSendWait, diag::PassMeetsWaits, pass, diags);
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

void removeSteps(Schedule &schedule, bool (*is)(StepKind)) {
  for (auto [rank, list] : enumerate(schedule.ranks)) {
    if (!schedule.times.empty()) {
      auto &times = schedule.times[rank];
      size_t kept = 0;
      for (size_t i = 0; i != list.size(); ++i)
        if (!is(list[i].kind()))
          times[kept++] = times[i];
      times.resize(kept);
    }
    erase_if(list, [&](Step step) { return is(step.kind()); });
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
