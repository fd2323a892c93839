//===- MemoryLimit.cpp - The memory limit per rank ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/MemoryLimit.h"

#include "IR/StepPlaces.h"
#include "Simulation/Memory.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/AnalysisDiags.h"

using namespace llvm;

namespace pipec {

bool checkMemoryLimit(const Schedule &schedule, Severity severity,
                      DiagEngine &diags) {
  if (!schedule.memory.hasLimit())
    return true;
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return false;

  unsigned ranksOver = 0, worst = 0;
  Rational worstExcess;
  MemoryModel::Highest most;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    std::optional<Rational> limit = schedule.memory.limit(rank);
    if (!limit)
      continue;
    MemoryModel::Highest highest = memory->highest(rank);
    Rational total = memory->size(highest.total);
    if (total <= *limit)
      continue;
    Rational excess = Rational::sub(total, *limit).value_or(total);
    if (ranksOver++ == 0 || excess > worstExcess) {
      worst = rank;
      worstExcess = excess;
      most = highest;
    }
  }
  if (!ranksOver)
    return true;

  std::string total = decimalText(memory->size(most.total));
  const StepList &list = schedule.ranks[worst];
  SourceLoc source = list.empty() ? schedule.source : list[most.index].source();
  StepPlace place{worst, 0, "the start"};
  if (!list.empty())
    place = StepPlaces(schedule).name(worst, most.index);
  InFlightDiagnostic finding =
      diags.reportAs(severity, source, diag::MemoryOverLimit, place, total,
                     decimalText(*schedule.memory.limit(worst)));
  if (schedule.numRanks > 1)
    finding.note(DiagLoc(), diag::NoteRanksOverLimit, ranksOver,
                 schedule.numRanks);
  return false;
}

} // namespace pipec
