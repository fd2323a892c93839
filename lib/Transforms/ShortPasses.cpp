//===- ShortPasses.cpp - Passes of a few lines ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those that only call another library, change steps in place, or remove all
// steps of some kinds.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/TargetCheck.h"
#include "Simulation/Simulate.h"
#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LogicalResult runCheckTarget(Schedule &schedule,
                             const CheckTargetOptions &options,
                             DiagEngine &diags) {
  return checkTarget(schedule, options.target, diags);
}

LogicalResult runSimulate(Schedule &schedule, const SimulateOptions &options,
                          DiagEngine &diags) {
  FailureOr<CommModel> model = readModel(options.model, diags);
  if (failed(model))
    return failure();
  auto simulation = simulate(schedule, std::optional(*model), diags);
  if (failed(simulation))
    return failure();
  fillTimes(schedule, *simulation);
  return success();
}

/// Every B becomes an I in its place. Its W follows the whole overlap, since a
/// W depends on its I, and there is no data flow within an overlap.
static StepList splitBackwards(const StepList &list) {
  size_t backwards =
      count_if(list, [](Step step) { return step.kind() == StepKind::B; });
  StepList out(list.size() + backwards);
  auto next = out.begin();
  for (size_t i = 0, end; i != list.size(); i = end) {
    end = Schedule::groupEnd(list, i);
    for (size_t j = i; j != end; ++j, ++next) {
      *next = list[j];
      if (list[j].kind() == StepKind::B)
        next->setKind(StepKind::I);
    }
    for (size_t j = i; j != end; ++j)
      if (list[j].kind() == StepKind::B)
        *next++ = Step(StepKind::W, list[j].stage(), list[j].unit(),
                       list[j].phase(), list[j].source());
  }
  return out;
}

LogicalResult runSplitBackward(Schedule &schedule, const SplitBackwardOptions &,
                               DiagEngine &) {
  for (StepList &list : schedule.ranks)
    list = splitBackwards(list);
  schedule.times.clear();
  return success();
}

LogicalResult runStripBubbles(Schedule &schedule, const StripBubblesOptions &,
                              DiagEngine &) {
  removeSteps(schedule, step_facts::bit(StepKind::Bubble));
  return success();
}

LogicalResult runStripTies(Schedule &schedule, const StripTiesOptions &,
                           DiagEngine &) {
  if (!schedule.ties.empty())
    removeSteps(schedule, step_facts::kindsOn(Stream::Tied));
  schedule.ties.clear();
  return success();
}

LogicalResult runStripWaits(Schedule &schedule, const StripWaitsOptions &,
                            DiagEngine &) {
  removeSteps(schedule, step_facts::waits);
  return success();
}

LogicalResult runUnpair(Schedule &schedule, const UnpairOptions &,
                        DiagEngine &) {
  for (StepList &list : schedule.ranks)
    for (Step &step : list)
      if (isCompute(step.kind()))
        step.setJoined(false);
  schedule.times.clear();
  return success();
}

} // namespace pipec
