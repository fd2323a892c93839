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

InFlightDiagnostic reportBlocked(const Schedule &schedule,
                                 ArrayRef<size_t> heads,
                                 const ResultSet &results, DiagEngine &diags) {
  constexpr unsigned maxNotes = 16;
  unsigned waiting = 0;
  SourceLoc first;
  for (const auto &[rank, list] : enumerate(schedule.ranks))
    if (heads[rank] != list.size() && waiting++ == 0)
      first = list[heads[rank]].source();
  auto diagnostic =
      diags.report(first, diag::OrderCannotRun, waiting, schedule.numRanks);
  unsigned noted = 0;
  for (const auto &[rank, list] : enumerate(schedule.ranks)) {
    if (heads[rank] == list.size())
      continue;
    if (noted++ == maxNotes) {
      diagnostic.note(DiagLoc(), diag::NoteMoreBlockedRanks,
                      waiting - maxNotes);
      break;
    }
    ArrayRef<Step> group = ArrayRef(list).slice(
        heads[rank], Schedule::groupEnd(list, heads[rank]) - heads[rank]);
    auto lacks = [&](Step step) {
      std::optional<Result> taken = takenResult(schedule, step);
      return taken && !results.contains(*taken);
    };
    const Step *blocked = find_if(group, lacks);
    // On a rank that does not hold its stage a step waits for what goes to
    // another rank, so that may well be there.
    if (blocked == group.end())
      blocked = find_if(group, [&](Step step) {
        return takenResult(schedule, step).has_value();
      });
    Result missing = *takenResult(schedule, *blocked);
    Step producer(missing.gradient ? StepKind::B : StepKind::F, missing.stage,
                  missing.microbatch);
    diagnostic.note(blocked->source(), diag::NoteBlockedRank, rank, heads[rank],
                    stepText(schedule, *blocked), stepText(schedule, producer),
                    schedule.rankOf(missing.stage, missing.microbatch));
  }
  return diagnostic;
}

} // namespace pipec
