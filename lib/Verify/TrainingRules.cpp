//===- TrainingRules.cpp - Assumptions of training loops ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verify/TrainingRules.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace pipec {

bool checkLossOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags) {
  StepPlaces places(schedule);
  bool good = true;
  // The ranks that hold the last stage; steps on other ranks are reported
  // elsewhere.
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
      if (last && step.unit() < last->unit()) {
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

bool checkMicrobatchOrder(const Schedule &schedule, bool losses,
                          Severity severity, DiagEngine &diags) {
  StepPlaces places(schedule);
  bool good = true;
  // By stage, its last forward and its last backward on the current rank.
  struct Last {
    unsigned rank = ~0u;
    const Step *steps[2] = {};
  };
  std::vector<Last> last(schedule.numStages);
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (size_t i = 0; i != list.size(); ++i) {
      const Step &step = list[i];
      bool forward = step.kind() == StepKind::F;
      if (!forward && !makesInputGradient(step.kind()))
        continue;
      if (forward && !losses && schedule.isLastStage(step.stage()))
        continue;
      Last &stage = last[step.stage()];
      if (stage.rank != rank)
        stage = {rank, {}};
      const Step *&before = stage.steps[!forward];
      auto placeOf = [&](const Step &step) {
        return forward ? step.unit() : schedule.backwardOrder(step.unit());
      };
      if (before && placeOf(step) < placeOf(*before)) {
        good = false;
        diags
            .reportAs(severity, step.source(), diag::MicrobatchOrder,
                      places.name(rank, i), places.text(*before))
            .note(before->source(), diag::NoteStepHere,
                  places.name(rank, before - list.data()));
        break;
      }
      before = &step;
    }
  }
  return good;
}

bool checkUnshardsUsed(const Schedule &schedule, Severity severity,
                       DiagEngine &diags) {
  StepPlaces places(schedule);
  bool good = true;
  // By stage, the first UNSHARD that no step has used yet.
  struct Unused {
    unsigned rank = ~0u;
    size_t index = 0;
  };
  std::vector<Unused> unused(schedule.numStages);
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (size_t i = 0; i != list.size(); ++i) {
      const Step &step = list[i];
      Unused &stage = unused[step.stage()];
      if (isCompute(step.kind())) {
        stage.rank = ~0u;
      } else if (step.kind() == StepKind::Unshard) {
        if (stage.rank != rank)
          stage = {rank, i};
      } else if (step.kind() == StepKind::Reshard && stage.rank == rank) {
        good = false;
        (void)diags.reportAs(severity, list[stage.index].source(),
                             diag::UnshardUnused,
                             places.name(rank, stage.index));
        stage.rank = ~0u;
      }
    }
  }
  return good;
}

std::vector<bool> checkUpdatesSummed(const Schedule &schedule,
                                     Severity severity, DiagEngine &diags) {
  std::vector<bool> found(schedule.ties.size());
  if (schedule.ties.empty())
    return found;
  std::vector<bool> summed(schedule.ties.size());
  // By stage, its first UPDATE.
  std::vector<StepRef> updates(schedule.numStages);
  for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (uint32_t i = 0; i != list.size(); ++i) {
      if (list[i].stream() == Stream::Tied)
        summed[list[i].stage()] = true;
      else if (list[i].kind() == StepKind::Update &&
               !updates[list[i].stage()].isValid())
        updates[list[i].stage()] = {rank, i};
    }
  }
  StepPlaces places(schedule);
  for (unsigned group = 0; group != found.size(); ++group) {
    StepRef first;
    for (unsigned stage : schedule.ties[group])
      if (StepRef ref = updates[stage];
          std::pair(ref.rank, ref.index) < std::pair(first.rank, first.index))
        first = ref;
    if (summed[group] || !first.isValid())
      continue;
    found[group] = true;
    (void)diags.reportAs(
        severity, schedule.ranks[first.rank][first.index].source(),
        diag::UpdateUnsummed, places.name(first.rank, first.index),
        listText(schedule.ties[group]), group);
  }
  return found;
}

} // namespace pipec
