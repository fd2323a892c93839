//===- TrainingRules.cpp - What training loops expect ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/TrainingRules.h"
#include "IR/StepPlaces.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace pipec {

bool checkLossOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags) {
  StepPlaces places(schedule);
  bool good = true;
  // The ranks that hold the last stage; a step elsewhere is another matter.
  SmallVector<unsigned, 2> ranks;
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    ranks.push_back(schedule.placement.rankOf(schedule.numStages - 1, d));
  llvm::sort(ranks);
  ranks.erase(llvm::unique(ranks), ranks.end());
  for (unsigned rank : ranks) {
    const StepList &list = schedule.ranks[rank];
    const Step *last = nullptr;
    for (size_t i = 0; i != list.size(); ++i) {
      const Step &step = list[i];
      if (step.kind() != StepKind::F || !schedule.isLastStage(step.stage()))
        continue;
      if (last && step.microbatch() < last->microbatch()) {
        good = false;
        diags
            .reportAs(severity, step.source(), diag::LossOrder,
                      places.name(rank, i), places.text(*last))
            .note(last->source(), diag::NoteStepHere,
                  places.name(rank, last - list.data()));
        break;
      }
      last = &step;
    }
  }
  return good;
}

bool checkUnshardsUsed(const Schedule &schedule, Severity severity,
                       DiagEngine &diags) {
  StepPlaces places(schedule);
  bool good = true;
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    // The UNSHARDs whose stage no step has used yet.
    DenseMap<unsigned, size_t> unused;
    for (size_t i = 0; i != list.size(); ++i) {
      const Step &step = list[i];
      if (!isFsdp(step.kind())) {
        if (!unused.empty() && isCompute(step.kind()))
          unused.erase(step.stage());
      } else if (step.kind() == StepKind::Unshard) {
        unused.try_emplace(step.stage(), i);
      } else if (step.kind() == StepKind::Reshard) {
        auto it = unused.find(step.stage());
        if (it == unused.end())
          continue;
        good = false;
        (void)diags.reportAs(severity, list[it->second].source(),
                             diag::UnshardUnused,
                             places.name(rank, it->second));
        unused.erase(it);
      }
    }
  }
  return good;
}

} // namespace pipec
