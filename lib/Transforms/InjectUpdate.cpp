//===- InjectUpdate.cpp - Adding optimizer steps --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// The stages of a rank that have a weight gradient, with the index after the
/// last step that computes with their parameters or changes their gradients, in
/// the order of these; of a stage whose gradients other ranks sum too, not
/// before the last compute step.
static std::vector<std::pair<size_t, Step>> lastSteps(const Schedule &schedule,
                                                      unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  struct Last {
    size_t end = 0;
    Step step;
    bool trained = false;
  };
  DenseMap<unsigned, Last> lasts;
  // An UPDATE waits for its sums: where other ranks take part, it must not
  // precede a step that they may need before they get there.
  size_t lastCompute = 0;
  DenseSet<unsigned> summed;
  auto note = [&](unsigned stage, size_t end, Step step) {
    Last &last = lasts[stage];
    last.end = end;
    last.step = step;
  };
  for (size_t begin = 0, end; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    for (size_t i = begin; i != end; ++i) {
      Step step = list[i];
      if (isCompute(step.kind()) ||
          objectOf(stateBefore(step.kind())) == Object::Gradients)
        note(step.stage(), end, step);
      if (isCompute(step.kind()))
        lastCompute = end;
      if (makesWeightGradient(step.kind()))
        lasts[step.stage()].trained = true;
      if (step.stream() == Stream::Tied)
        for (unsigned stage : schedule.ties[step.stage()])
          if (schedule.placement.rankOf(stage, 0) == rank) {
            note(stage, end, step);
            if (schedule.tiedRanks(step.stage()).size() > 1)
              summed.insert(stage);
          }
    }
  }
  std::vector<std::pair<size_t, Step>> result;
  for (const auto &[stage, last] : lasts)
    if (last.trained)
      result.push_back(
          {summed.contains(stage) ? std::max(last.end, lastCompute) : last.end,
           Step(StepKind::Update, stage, 0, last.step.phase(),
                last.step.source())});
  llvm::sort(result, [](const auto &a, const auto &b) {
    return std::pair(a.first, a.second.stage()) <
           std::pair(b.first, b.second.stage());
  });
  return result;
}

LogicalResult runInjectUpdate(Schedule &schedule,
                              const InjectUpdateOptions &options,
                              DiagEngine &diags) {
  if (failed(checkNone(schedule, Stream::Link, "inject-update", diags)) ||
      failed(checkNoKinds(schedule, step_facts::bit(StepKind::Update),
                          "inject-update", diags)) ||
      failed(checkKept(schedule, "inject-update", diags)))
    return failure();
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    std::vector<AddedStep> added;
    size_t size = schedule.ranks[rank].size();
    for (auto [end, step] : lastSteps(schedule, rank))
      added.push_back({options.when == UpdateWhen::End ? size : end, step});
    insertSteps(schedule, rank, added);
  }
  return success();
}

} // namespace pipec
