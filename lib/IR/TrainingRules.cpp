//===- TrainingRules.cpp - What training loops expect ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/TrainingRules.h"
#include "IR/StepPlaces.h"

#include "llvm/ADT/DenseMap.h"

using namespace llvm;

namespace pipec {

bool checkLossOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags) {
  StepPlaces places(schedule);
  bool good = true;
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
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
      if (isCompute(step.kind())) {
        if (!unused.empty())
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
