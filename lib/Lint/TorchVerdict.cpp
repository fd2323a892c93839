//===- TorchVerdict.cpp - Schedules that PyTorch accepts ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lint/TorchVerdict.h"

#include "Frameworks/TargetCheck.h"

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

LogicalResult checkForTorch(const Schedule &schedule,
                            const TorchVersion &version, DiagEngine &diags) {
  if (isComputeOnly(schedule))
    return checkTarget(schedule, Target::TorchCompute, diags);
  bool good = succeeded(checkTarget(schedule, version.target, diags));
  good &= succeeded(checkOutput(schedule, Output::TorchFile, diags));
  return success(good);
}

std::vector<Diagnostic> errorsOf(SourceFiles &files,
                                 function_ref<void(DiagEngine &)> check) {
  std::vector<Diagnostic> found;
  DiagEngine diags(files, [&](const Diagnostic &one) {
    if (one.severity == Severity::Error)
      found.push_back(one);
  });
  check(diags);
  return found;
}

} // namespace pipec
