//===- Blocked.cpp - Reporting an order that cannot run ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulation/Blocked.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

std::optional<Step> supplierOf(const Schedule &schedule, Step step) {
  if (step.kind() == StepKind::F && step.stage() != 0)
    return Step(StepKind::F, step.stage() - 1, step.microbatch());
  if (makesInputGradient(step.kind()) && !schedule.isLastStage(step.stage()))
    return Step(StepKind::B, step.stage() + 1, step.microbatch());
  return std::nullopt;
}

InFlightDiagnostic reportBlocked(const Schedule &schedule,
                                 ArrayRef<size_t> heads,
                                 function_ref<bool(Step)> lacks,
                                 DiagEngine &diags) {
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
    auto waits = [&](Step step) {
      return supplierOf(schedule, step).has_value();
    };
    const Step *blocked =
        find_if(group, [&](Step step) { return waits(step) && lacks(step); });
    // On a rank that does not hold its stage a step waits for what goes to
    // another rank, so that may well be there.
    if (blocked == group.end())
      blocked = find_if(group, waits);
    Step supplier = *supplierOf(schedule, *blocked);
    diagnostic.note(blocked->source(), diag::NoteBlockedRank, rank, heads[rank],
                    stepText(schedule, *blocked), stepText(schedule, supplier),
                    schedule.rankOf(supplier.stage(), supplier.microbatch()));
  }
  return diagnostic;
}

} // namespace pipec
