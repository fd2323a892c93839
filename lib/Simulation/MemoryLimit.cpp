//===- MemoryLimit.cpp - The memory limit per rank ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulation/MemoryLimit.h"

#include "IR/StepPlaces.h"
#include "Simulation/Memory.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/AnalysisDiags.h"

using namespace llvm;

namespace pipec {

bool checkMemoryLimit(const Schedule &schedule, Severity severity,
                      DiagEngine &diags) {
  std::optional<Rational> limit = schedule.memory.limit();
  if (!limit)
    return true;
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return false;

  unsigned ranksOver = 0, worst = 0;
  MemoryModel::Highest most;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    MemoryModel::Highest highest = memory->highest(rank);
    if (memory->size(highest.total) <= *limit)
      continue;
    if (ranksOver++ == 0 || highest.total > most.total) {
      worst = rank;
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
                     decimalText(*limit));
  if (schedule.numRanks > 1)
    finding.note(DiagLoc(), diag::NoteRanksOverLimit, ranksOver,
                 schedule.numRanks);
  return false;
}

} // namespace pipec
