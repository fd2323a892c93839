//===- Lint.cpp - Every finding in one schedule -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Lint.h"

#include "Analysis/Waiting.h"
#include "Analysis/Witness.h"
#include "IR/TrainingRules.h"
#include "IR/Verifier.h"

using namespace llvm;

namespace pipec {

/// The first step of the schedule, where a finding about all of it points.
static SourceLoc beginning(const Schedule &schedule) {
  for (const StepList &list : schedule.ranks)
    if (!list.empty())
      return list.front().source();
  return schedule.source;
}

LintResult lint(const Schedule &schedule, const LintOptions &options,
                DiagEngine &diags) {
  bool computesAreGood =
      succeeded(verify(schedule, VerifyLevel::Compute, diags));
  // The other levels speak of steps that the first one knows to be there.
  if (computesAreGood)
    (void)verify(schedule, diags);

  Transfers transfers(schedule);
  LintResult result;
  // An order that cannot run was shown to be one; it ends nowhere.
  result.safe = computesAreGood && schedule.hasP2P()
                    ? checkDeadlock(schedule, transfers, options.require, diags)
                    : endsUnder(schedule, transfers);
  // Without transfers the model sees no order, and it is the computes that
  // cannot run.
  if (!transfers.sound() || (!schedule.hasP2P() && !computesAreGood))
    result.safe.fill(false);

  if (options.lossOrder)
    checkLossOrder(schedule, *options.lossOrder, diags);
  if (options.unusedUnshard)
    checkUnshardsUsed(schedule, *options.unusedUnshard, diags);
  if (options.noReduceGrad && schedule.hasP2P() && !schedule.hasFsdp() &&
      !schedule.forwardOnly)
    (void)diags.reportAs(*options.noReduceGrad, beginning(schedule),
                         diag::NoReduceGrad, schedule.numMicrobatches);
  return result;
}

} // namespace pipec
