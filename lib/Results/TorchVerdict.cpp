//===- TorchVerdict.cpp - Which PyTorch takes a schedule ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/TorchVerdict.h"

#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static bool isComputeOnly(const Schedule &schedule) {
  return all_of(schedule.ranks, [](const StepList &list) {
    return all_of(list, [](Step step) {
      return isCompute(step.kind()) || step.kind() == StepKind::Bubble;
    });
  });
}

StringRef torchFormat(const Schedule &schedule) {
  return isComputeOnly(schedule) ? "compute_only" : "compute_comms";
}

static bool hasReductions(const Schedule &schedule) {
  return any_of(schedule.ranks, [](const StepList &list) {
    return any_of(
        list, [](Step step) { return step.kind() == StepKind::ReduceGrad; });
  });
}

static bool crossesRanks(const Schedule &schedule) {
  ArrayRef<uint32_t> map = schedule.placement.map(0);
  return any_of(map, [&](uint32_t rank) { return rank != map.front(); });
}

LogicalResult checkForTorch(const Schedule &schedule,
                            const TorchVersion &version, DiagEngine &diags) {
  bool computeOnly = isComputeOnly(schedule);
  // A check changes nothing, and takes what a pass takes.
  Schedule copy = schedule;
  Target target = computeOnly ? Target::TorchCompute : version.target;
  bool good = succeeded(makeCheckTarget({target})->run(copy, diags));
  if (computeOnly)
    return success(good);
  if (!schedule.hasP2P() && crossesRanks(schedule))
    good = succeeded(
        LogicalResult(diags.report(schedule.source, diag::TorchNoTransfers)));
  if (!hasReductions(schedule))
    good = succeeded(
        LogicalResult(diags.report(schedule.source, diag::TorchNoReductions)));
  return success(good);
}

std::vector<Diagnostic> reasonsAgainst(const Schedule &schedule,
                                       const TorchVersion &version,
                                       SourceFiles &files) {
  std::vector<Diagnostic> reasons;
  // An engine of its own: what it counts is not an error of the run.
  DiagEngine diags(files, [&](const Diagnostic &found) {
    if (found.severity == Severity::Error)
      reasons.push_back(found);
  });
  (void)checkForTorch(schedule, version, diags);
  return reasons;
}

} // namespace pipec
