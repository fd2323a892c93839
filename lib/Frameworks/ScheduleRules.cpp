//===- ScheduleRules.cpp - Rules about a whole schedule -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frameworks/ScheduleRules.h"

#include "IR/RegularPlacements.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <utility>

using namespace llvm;

namespace pipec {

namespace {

class ScheduleRules {
public:
  ScheduleRules(const Schedule &schedule, const Consumer &consumer,
                DiagEngine &diags)
      : schedule(schedule), consumer(consumer), diags(diags),
        name(consumer.name) {}

  bool check();

private:
  /// Remembers that something is refused. Returns true while further errors are
  /// shown.
  bool refuse(InFlightDiagnostic) {
    good = false;
    return !diags.atErrorLimit();
  }
  /// PyTorch has no such schedule, and pipec.torch.executor runs all.
  void noteExecutor(InFlightDiagnostic &diagnostic) const {
    if (name.starts_with("torch"))
      diagnostic.note(DiagLoc(), diag::NoteExecutor);
  }

  // One function per rule: false if it does not hold.
  bool checkForwardOnly(auto kind);
  bool checkNotAChain(auto kind);
  bool checkTiedStages(auto kind);
  bool checkTiesNotSummed(auto kind);
  bool checkTwoRanksPerStage(auto kind);
  bool checkBidirectionalOutput(auto kind);
  bool checkIdleRank(auto kind);
  bool checkNotOneStagePerRank(auto kind);
  bool checkNeitherLoopNorV(auto kind);
  bool checkUnevenChunks(auto kind);
  bool checkChunkCounts(auto kind);
  bool checkNeitherLoopNorLegs(auto kind);
  bool checkRanksNotConnected(auto kind);
  bool checkStagesNotConnected(auto kind);
  bool checkSendWithoutWait(auto kind);
  bool checkReduceWithoutWait(auto kind);
  bool checkSomeReductions(auto kind);
  bool checkFileWithoutTransfers(auto kind);
  bool checkFileWithoutReductions(auto kind);
  template <typename Fn> bool checkWait(auto kind, Fn needsWait);
  bool isLoop() const {
    return pipec::isLoop(schedule.placement.map(0), schedule.numRanks);
  }

  const Schedule &schedule;
  const Consumer &consumer;
  DiagEngine &diags;
  StringRef name;
  bool good = true;
};

} // namespace

bool ScheduleRules::checkForwardOnly(auto kind) {
  if (!schedule.forwardOnly)
    return true;
  auto diagnostic = diags.report(schedule.source, kind, schedule.name, name);
  // Names the first forward, which has no backward.
  auto addForward = [&] {
    for (const StepList &list : schedule.ranks)
      for (Step step : list)
        if (step.kind() == StepKind::F) {
          diagnostic.note(step.source(), diag::NoteNoBackward,
                          stepText(schedule, step));
          return;
        }
  };
  addForward();
  refuse(std::move(diagnostic));
  return false;
}

bool ScheduleRules::checkNotAChain(auto kind) {
  // Every stage feeds a later one, so such a graph has an edge that a chain
  // does not have.
  std::optional<StageGraph::Edge> other;
  schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
    if (!edge.ofChain() && !other)
      other = edge;
  });
  if (!other)
    return true;
  auto diagnostic = diags.report(schedule.source, kind, other->from,
                                 schedule.name, other->to, name);
  noteExecutor(diagnostic);
  refuse(std::move(diagnostic));
  return false;
}

/// Reports each group of tied stages, but refuses nothing.
bool ScheduleRules::checkTiedStages(auto kind) {
  for (const std::vector<unsigned> &group : schedule.ties)
    (void)diags.report(schedule.source, kind, name, listText(group),
                       schedule.name);
  return true;
}

bool ScheduleRules::checkTiesNotSummed(auto kind) {
  if (schedule.forwardOnly)
    return true;
  BitVector summed(schedule.ties.size());
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (isTied(step.kind()))
        summed.set(step.stage());
  if (summed.all())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name));
  return false;
}

bool ScheduleRules::checkTwoRanksPerStage(auto kind) {
  if (!schedule.placement.bidirectional())
    return true;
  auto diagnostic = diags.report(schedule.source, kind, schedule.name, name);
  // Names two forwards of the first stage, one for each direction.
  unsigned first = schedule.placement.rankOf(0, 0);
  unsigned second = schedule.placement.rankOf(0, 1);
  auto forward = [&](unsigned rank) {
    return find_if(schedule.ranks[rank], [](Step step) {
      return step.kind() == StepKind::F && step.stage() == 0;
    });
  };
  auto a = forward(first), b = forward(second);
  if (a != schedule.ranks[first].end() && b != schedule.ranks[second].end())
    diagnostic.note(b->source(), diag::NoteTwoRanks, stepText(schedule, *a),
                    first, stepText(schedule, *b), second);
  noteExecutor(diagnostic);
  refuse(std::move(diagnostic));
  return false;
}

bool ScheduleRules::checkBidirectionalOutput(auto kind) {
  if (!schedule.placement.bidirectional())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name, name));
  return false;
}

/// Every rank is a process that is created with its stages.
bool ScheduleRules::checkIdleRank(auto kind) {
  BitVector idle(schedule.numRanks, true);
  for (uint32_t rank : schedule.placement.map(0))
    idle.reset(rank);
  if (idle.none())
    return true;
  refuse(diags.report(schedule.source, kind, idle.find_first(), schedule.name,
                      name));
  return false;
}

bool ScheduleRules::checkNotOneStagePerRank(auto kind) {
  for (const auto &[stage, rank] : enumerate(schedule.placement.map(0)))
    if (rank != stage) {
      refuse(diags.report(schedule.source, kind, stage, schedule.name, rank,
                          name));
      return false;
    }
  return true;
}

bool ScheduleRules::checkNeitherLoopNorLegs(auto kind) {
  if (isLoop() || hasLegs(schedule.placement.map(0), schedule.numRanks))
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name, name));
  return false;
}

bool ScheduleRules::checkNeitherLoopNorV(auto kind) {
  if (isLoop() || isV(schedule.placement.map(0), schedule.numRanks))
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name, name));
  return false;
}

bool ScheduleRules::checkUnevenChunks(auto kind) {
  std::vector<unsigned> chunks(schedule.numRanks);
  for (uint32_t rank : schedule.placement.map(0))
    ++chunks[rank];
  for (unsigned rank = 1; rank != schedule.numRanks; ++rank) {
    if (chunks[rank] == chunks[0])
      continue;
    refuse(diags.report(schedule.source, kind, 0, countText(chunks[0], "stage"),
                        rank, countText(chunks[rank], "stage"), name));
    return false;
  }
  return true;
}

/// Reports the first stage that does not have one forward and one backward of
/// each micro-batch. The verifier checks this too, but not for schedules
/// without backwards, and not if it is off.
bool ScheduleRules::checkChunkCounts(auto kind) {
  std::vector<unsigned> forwards(schedule.numStages);
  std::vector<unsigned> backwards(schedule.numStages);
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      forwards[step.stage()] += step.kind() == StepKind::F;
      backwards[step.stage()] +=
          step.kind() == StepKind::B || step.kind() == StepKind::I;
    }
  unsigned all = schedule.numMicrobatches;
  for (unsigned stage = 0; stage != schedule.numStages; ++stage) {
    if (forwards[stage] == all && backwards[stage] == all)
      continue;
    refuse(diags.report(schedule.source, kind, stage,
                        countText(forwards[stage], "forward"),
                        countText(backwards[stage], "backward"),
                        countText(all, "micro-batch", "es"), name));
    return false;
  }
  return true;
}

bool ScheduleRules::checkRanksNotConnected(auto kind) {
  if (schedule.numRanks == 1 || schedule.hasP2P())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name));
  return false;
}

bool ScheduleRules::checkStagesNotConnected(auto kind) {
  auto crosses = [&](unsigned direction) {
    ArrayRef<uint32_t> map = schedule.placement.map(direction);
    return std::adjacent_find(map.begin(), map.end(), std::not_equal_to<>()) !=
           map.end();
  };
  if (none_of(seq(schedule.placement.numDirections()), crosses) ||
      schedule.hasP2P())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name));
  return false;
}

/// Reports the first step that needs a wait. Only called for lists without
/// waits, since the verifier checks that waits are complete.
template <typename Fn> bool ScheduleRules::checkWait(auto kind, Fn needsWait) {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (Step step : schedule.ranks[rank]) {
      if (!needsWait(step.kind()))
        continue;
      Step wait = step;
      wait.setKind(isSend(step.kind()) ? waitOfSend(step.kind())
                                       : StepKind::WaitReduceGrad);
      auto diagnostic =
          diags.report(step.source(), kind, stepText(schedule, step), rank,
                       stepText(schedule, wait), name);
      diagnostic.note(DiagLoc(), diag::NoteInsertWaits, name);
      refuse(std::move(diagnostic));
      return false;
    }
  return true;
}

bool ScheduleRules::checkSendWithoutWait(auto kind) {
  return schedule.hasSendWaits() ||
         checkWait(kind, [](StepKind step) { return isSend(step); });
}

bool ScheduleRules::checkReduceWithoutWait(auto kind) {
  return schedule.hasReduceWaits() || checkWait(kind, [](StepKind step) {
           return step == StepKind::ReduceGrad;
         });
}

bool ScheduleRules::checkSomeReductions(auto kind) {
  if (!schedule.hasFsdp())
    return true;
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    if (!schedule.reduces(stage)) {
      refuse(diags.report(schedule.source, kind, stage, name));
      return false;
    }
  return true;
}

bool ScheduleRules::checkFileWithoutTransfers(auto kind) {
  ArrayRef<uint32_t> map = schedule.placement.map(0);
  if (all_equal(map) || schedule.hasP2P())
    return true;
  refuse(diags.report(schedule.source, kind));
  return false;
}

bool ScheduleRules::checkFileWithoutReductions(auto kind) {
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.kind() == StepKind::ReduceGrad)
        return true;
  refuse(diags.report(schedule.source, kind));
  return false;
}

bool ScheduleRules::check() {
  bool placed = true;
#define PIPEC_SCHEDULE_RULE(Id, Kind, What)                                    \
  if (consumer.has(Rule::Id))                                                  \
    check##Id(Kind);
#define PIPEC_PLACEMENT_RULE(Id, Kind, What)                                   \
  if (consumer.has(Rule::Id) && placed)                                        \
    placed = check##Id(Kind);
#include "Frameworks/Rules.def"
  return good;
}

bool checkScheduleRules(const Schedule &schedule, const Consumer &consumer,
                        DiagEngine &diags) {
  return ScheduleRules(schedule, consumer, diags).check();
}

} // namespace pipec
