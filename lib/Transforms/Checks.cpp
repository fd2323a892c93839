//===- Checks.cpp - What several passes ask of a schedule -----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LogicalResult checkNoP2P(const Schedule &schedule, StringRef pass,
                         DiagEngine &diags) {
  for (const auto &[rank, list] : enumerate(schedule.ranks))
    for (Step step : list)
      if (isP2P(step.kind()))
        return diags.report(step.source(), diag::PassMeetsP2P,
                            stepText(schedule, step), rank, pass);
  return success();
}

LogicalResult checkNoFsdp(const Schedule &schedule, StringRef pass,
                          DiagEngine &diags) {
  for (const auto &[rank, list] : enumerate(schedule.ranks))
    for (Step step : list)
      if (isFsdp(step.kind()))
        return diags.report(step.source(), diag::PassMeetsFsdp,
                            stepText(schedule, step), rank, pass);
  return success();
}

LogicalResult checkEnoughSteps(const Schedule &schedule, StringRef pass,
                               DiagEngine &diags) {
  uint64_t forwards = uint64_t(schedule.numStages) * schedule.numMicrobatches;
  size_t steps = schedule.numSteps();
  if (steps >= forwards)
    return success();
  return diags.report(schedule.source, diag::PassMeetsTooFewSteps, pass, steps,
                      schedule.numStages, schedule.numMicrobatches);
}

} // namespace pipec
