//===- SaveMemory.cpp - Ways to keep a schedule within its memory ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/SaveMemory.h"

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

std::vector<SavedSchedule> saveMemory(const Schedule &schedule,
                                      DiagEngine &diags) {
  std::vector<SavedSchedule> saved;
  if (schedule.forwardOnly || schedule.has(step_facts::extras))
    return saved;
  Schedule computes = schedule;
  removeSteps(computes, step_facts::transfers | step_facts::sendWaits);
  InjectRecomputeOptions options;
  options.place = RecomputePlace::Early;
  Schedule own = computes;
  if (succeeded(runInjectRecompute(own, options, diags)))
    saved.push_back({"recompute", std::move(own)});
  if (!computes.costs.has(Figure::Offload) &&
      !computes.costs.has(Figure::Reload))
    return saved;
  if (succeeded(runInjectOffload(computes, {}, diags)))
    saved.push_back({"offload", std::move(computes)});
  return saved;
}

} // namespace pipec
