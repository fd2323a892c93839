//===- MergeBackward.cpp - Full backwards from split ones -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `adjacent` merges plain steps only. With `all` and `first` an overlap with
// one remaining member becomes a plain step, and a W without its I is kept; a
// table has one bit per (stage, micro-batch).
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

/// True if list[at] is a plain step, the weight gradient of `input`.
static bool isPlainW(const StepList &list, size_t at, Step input) {
  Step step = list[at];
  return step.kind() == StepKind::W && !step.joined() &&
         step.stage() == input.stage() && step.unit() == input.unit();
}

static void mergeAdjacent(StepList &list) {
  size_t kept = 0;
  for (size_t i = 0, end; i != list.size(); i = end) {
    end = Schedule::groupEnd(list, i);
    if (end == i + 1 && list[i].kind() == StepKind::I && end != list.size() &&
        isPlainW(list, end, list[i])) {
      list[i].setKind(StepKind::B);
      ++end;
      list[kept++] = list[i];
      continue;
    }
    for (size_t j = i; j != end; ++j)
      list[kept++] = list[j];
  }
  list.resize(kept);
}

/// Merges the backwards of the first `numStages` stages.
static void mergeStages(Schedule &schedule, unsigned numStages) {
  std::vector<bool> split(size_t(numStages) * schedule.numUnits);
  auto isSplit = [&](Step step) {
    return split[size_t(step.stage()) * schedule.numUnits + step.unit()];
  };
  for (StepList &list : schedule.ranks)
    for (Step &step : list)
      if (step.kind() == StepKind::I && step.stage() < numStages) {
        isSplit(step) = true;
        step.setKind(StepKind::B);
      }
  for (StepList &list : schedule.ranks) {
    size_t kept = 0;
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      size_t first = kept;
      for (size_t j = i; j != end; ++j) {
        Step step = list[j];
        if (step.kind() == StepKind::W && step.stage() < numStages &&
            isSplit(step))
          continue;
        step.setJoined(true);
        list[kept++] = step;
      }
      if (kept != first)
        list[kept - 1].setJoined(false);
    }
    list.resize(kept);
  }
}

LogicalResult runMergeBackward(Schedule &schedule,
                               const MergeBackwardOptions &options,
                               DiagEngine &diags) {
  if (options.which != MergeWhich::Adjacent) {
    bool first = options.which == MergeWhich::First;
    StringRef name =
        first ? "merge-backward{which=first}" : "merge-backward{which=all}";
    // The first stage of a chain sends no gradients.
    bool sends = !first || !schedule.graph.isChain();
    if ((sends && failed(checkNone(schedule, Stream::Link, name, diags))) ||
        failed(checkEnoughSteps(schedule, "merge-backward", diags)))
      return failure();
    mergeStages(schedule, first ? 1 : schedule.numStages);
  } else {
    for (StepList &list : schedule.ranks)
      mergeAdjacent(list);
  }
  schedule.times.clear();
  return success();
}

} // namespace pipec
