//===- InjectReduceGrad.cpp - Adding reductions of gradients --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data parallelism without sharding: the gradients of a stage are reduced over
// its replicas after the last weight gradient of its list. The places are those
// of `inject-fsdp`.
//
//===----------------------------------------------------------------------===//

#include "Support/Diagnostics/PassesDiags.h"
#include "Support/Words.h"
#include "Transforms/Reductions.h"

using namespace llvm;

namespace pipec {

/// Reports a schedule whose header shards stages, which this pass would leave
/// as they are.
static LogicalResult checkNothingSharded(const Schedule &schedule,
                                         DiagEngine &diags) {
  if (!schedule.fsdp)
    return success();
  const std::optional<std::vector<unsigned>> &sharded = schedule.fsdp->stages;
  if (sharded && sharded->empty())
    return success();
  std::string which = "every stage";
  if (sharded)
    which = (sharded->size() == 1 ? "stage " : "stages ") + listText(*sharded);
  return diags.report(schedule.source, diag::PassMeetsSharded,
                      "inject-reduce-grad", which);
}

/// `gradients` has one zero per stage.
static void injectReductions(Schedule &schedule, unsigned rank, ReduceWait wait,
                             std::vector<uint32_t> &gradients) {
  const StepList &list = schedule.ranks[rank];
  for (Step step : list)
    gradients[step.stage()] += makesWeightGradient(step.kind());
  std::vector<AddedStep> added;
  Reductions reductions(wait, added);
  for (size_t begin = 0, end; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    for (size_t i = begin; i != end; ++i)
      if (makesWeightGradient(list[i].kind()) &&
          --gradients[list[i].stage()] == 0 &&
          schedule.reduces(list[i].stage()))
        reductions.reduce(end, list[i]);
  }
  reductions.wait(list.size());
  insertSteps(schedule, rank, added);
}

LogicalResult runInjectReduceGrad(Schedule &schedule,
                                  const InjectReduceGradOptions &options,
                                  DiagEngine &diags) {
  if (schedule.hasFsdp())
    return options.existing == IfThere::Keep
               ? success()
               : checkNone(schedule, Stream::Gather, "inject-reduce-grad",
                           diags);
  if (failed(checkNothingSharded(schedule, diags)))
    return failure();
  std::optional<std::vector<unsigned>> reduced;
  if (options.stages)
    reduced = options.stages->value;
  if (failed(checkNone(schedule, Stream::Tied, "inject-reduce-grad", diags)) ||
      failed(checkStages(schedule, reduced, diags)))
    return failure();
  if (reduced) {
    if (!schedule.fsdp)
      schedule.fsdp.emplace().stages.emplace();
    schedule.fsdp->reduced = std::move(reduced);
  }
  std::vector<uint32_t> gradients(schedule.numStages);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    injectReductions(schedule, rank, options.wait, gradients);
  return success();
}

} // namespace pipec
