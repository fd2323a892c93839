//===- Blocked.cpp - Reporting an order that cannot run -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/Blocked.h"
#include "IR/StepPlaces.h"

#include "Support/Diagnostics/PassesDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

InFlightDiagnostic reportBlocked(
    const Schedule &schedule, const DataFlow &flow, ArrayRef<size_t> heads,
    function_ref<const DataFlow::Port *(Step)> missing, DiagEngine &diags) {
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
    const Step *blocked =
        find_if(group, [&](Step step) { return missing(step) != nullptr; });
    // On a rank that does not hold its stage, a step waits for data that was
    // sent to another rank, which may be available.
    if (blocked == group.end())
      blocked =
          find_if(group, [&](Step step) { return !flow.inputs(step).empty(); });
    // An UPDATE waits for a sum that another rank has not reached.
    if (blocked == group.end()) {
      blocked = find_if(
          group, [](Step step) { return step.kind() == StepKind::Update; });
      auto tied = find_if(schedule.ties, [&](const auto &stages) {
        return is_contained(stages, blocked->stage());
      });
      unsigned number = tied - schedule.ties.begin();
      diagnostic.note(blocked->source(), diag::NoteBlockedRank, rank,
                      heads[rank], stepText(schedule, *blocked),
                      stepText(schedule, Step(StepKind::ReduceTied, number, 0)),
                      rank);
      continue;
    }
    const DataFlow::Port *input = missing(*blocked);
    if (!input)
      input = flow.inputs(*blocked).begin();
    Step producer = DataFlow::partner(*input, blocked->unit());
    diagnostic.note(blocked->source(), diag::NoteBlockedRank, rank, heads[rank],
                    stepText(schedule, *blocked), stepText(schedule, producer),
                    input->rank);
  }
  return diagnostic;
}

} // namespace pipec
