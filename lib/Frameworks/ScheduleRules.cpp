//===- ScheduleRules.cpp - Rules about a whole schedule -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Frameworks/TargetCheck.h"

#include "IR/RegularPlacements.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <optional>

using namespace llvm;

namespace pipec {

namespace {

/// The rules for one schedule. Rules.def has the calls of the checks, which
/// return false if they report an error.
class ScheduleRules {
public:
  ScheduleRules(const Schedule &schedule, const Consumer &consumer,
                DiagEngine &diags)
      : schedule(schedule), consumer(consumer), diags(diags),
        name(consumer.name), map(schedule.placement.map(0)) {}

  bool check();

private:
  template <typename Kind, typename... Args>
  bool refuse(Kind kind, const Args &...args) {
    (void)diags.report(schedule.source, kind, args...);
    return false;
  }
  /// PyTorch has no such schedule, and pipec.torch.executor runs all.
  void noteExecutor(InFlightDiagnostic &diagnostic) const {
    if (name.starts_with("torch"))
      diagnostic.note(DiagLoc(), diag::NoteExecutor);
  }
  struct Found {
    Step step;
    unsigned rank;
  };
  /// The first step of the schedule for whose kind `is` is true.
  template <typename Fn> std::optional<Found> firstStep(Fn is) const {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      for (Step step : schedule.ranks[rank])
        if (is(step.kind()))
          return Found{step, rank};
    return std::nullopt;
  }
  bool isLoop() const { return pipec::isLoop(map, schedule.numRanks); }

  bool checkForwardOnly(auto kind);
  bool checkChain(auto kind);
  bool checkSlicesSplit(auto kind);
  bool checkTies(auto kind);
  bool checkTiesSummed(auto kind);
  bool checkDirections(auto kind);
  bool checkIdleRank(auto kind);
  bool checkOneStagePerRank(auto kind);
  bool checkEvenChunks(auto kind);
  bool checkChunkCounts(auto kind);
  bool checkSomeReductions(auto kind);
  template <typename Fn> bool checkWait(auto kind, Fn needsWait);
  /// The only placements are a loop and another one, which this is if
  /// `isOther`.
  bool checkShape(auto kind, bool isOther) {
    return isLoop() || isOther || refuse(kind, schedule.name, name);
  }
  /// `names` are the arguments of the diagnostic.
  template <typename... Names>
  bool checkTransfers(auto kind, const Names &...names) {
    bool crosses = any_of(
        seq(schedule.placement.numDirections()), [&](unsigned direction) {
          return !all_equal(schedule.placement.map(direction));
        });
    return !crosses || schedule.hasP2P() || refuse(kind, names...);
  }

  const Schedule &schedule;
  const Consumer &consumer;
  DiagEngine &diags;
  StringRef name;
  ArrayRef<uint32_t> map;
};

} // namespace

bool ScheduleRules::checkSlicesSplit(auto kind) {
  if (schedule.numSlices == 1)
    return true;
  if (auto half = firstStep(isHalf)) {
    auto diagnostic =
        diags.report(half->step.source(), kind, stepText(schedule, half->step),
                     half->rank, schedule.name, schedule.numSlices, name);
    noteExecutor(diagnostic);
    return false;
  }
  (void)diags.reportAs(Severity::Note, schedule.source,
                       diag::NoteSlicesAreMicrobatches, schedule.numUnits);
  return true;
}

bool ScheduleRules::checkForwardOnly(auto kind) {
  if (!schedule.forwardOnly)
    return true;
  auto diagnostic = diags.report(schedule.source, kind, schedule.name, name);
  if (auto forward =
          firstStep([](StepKind step) { return step == StepKind::F; }))
    diagnostic.note(forward->step.source(), diag::NoteNoBackward,
                    stepText(schedule, forward->step));
  return false;
}

bool ScheduleRules::checkChain(auto kind) {
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
  return false;
}

/// Reports each group of tied stages, but refuses nothing.
bool ScheduleRules::checkTies(auto kind) {
  for (const std::vector<unsigned> &group : schedule.ties)
    (void)diags.report(schedule.source, kind, name, listText(group),
                       schedule.name);
  return true;
}

bool ScheduleRules::checkTiesSummed(auto kind) {
  BitVector summed(schedule.ties.size());
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.stream() == Stream::Tied)
        summed.set(step.stage());
  return schedule.forwardOnly || summed.all() || refuse(kind, schedule.name);
}

bool ScheduleRules::checkDirections(auto kind) {
  if (!schedule.placement.bidirectional())
    return true;
  auto diagnostic = diags.report(schedule.source, kind, schedule.name, name);
  if constexpr (kind.value == diag::TargetBidirectional.value) {
    // Names two forwards of the first stage, one for each direction.
    auto forward = [&](unsigned rank) {
      return find_if(schedule.ranks[rank], [](Step step) {
        return step.kind() == StepKind::F && step.stage() == 0;
      });
    };
    unsigned first = schedule.placement.rankOf(0, 0);
    unsigned second = schedule.placement.rankOf(0, 1);
    auto a = forward(first), b = forward(second);
    if (a != schedule.ranks[first].end() && b != schedule.ranks[second].end())
      diagnostic.note(b->source(), diag::NoteTwoRanks, stepText(schedule, *a),
                      first, stepText(schedule, *b), second);
    noteExecutor(diagnostic);
  }
  return false;
}

/// Every rank is a process that is created with its stages.
bool ScheduleRules::checkIdleRank(auto kind) {
  BitVector idle(schedule.numRanks, true);
  for (uint32_t rank : map)
    idle.reset(rank);
  return idle.none() || refuse(kind, idle.find_first(), schedule.name, name);
}

bool ScheduleRules::checkOneStagePerRank(auto kind) {
  for (const auto &[stage, rank] : enumerate(map))
    if (rank != stage)
      return refuse(kind, stage, schedule.name, rank, name);
  return true;
}

bool ScheduleRules::checkEvenChunks(auto kind) {
  std::vector<unsigned> chunks(schedule.numRanks);
  for (uint32_t rank : map)
    ++chunks[rank];
  for (unsigned rank = 1; rank != schedule.numRanks; ++rank)
    if (chunks[rank] != chunks[0])
      return refuse(kind, 0, countText(chunks[0], "stage"), rank,
                    countText(chunks[rank], "stage"), name);
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
  unsigned all = schedule.numUnits;
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    if (forwards[stage] != all || backwards[stage] != all)
      return refuse(kind, stage, countText(forwards[stage], "forward"),
                    countText(backwards[stage], "backward"),
                    countText(all, "micro-batch", "es"), name);
  return true;
}

/// Reports the first step that needs a wait. Only called for lists without
/// waits, since the verifier checks that waits are complete.
template <typename Fn> bool ScheduleRules::checkWait(auto kind, Fn needsWait) {
  auto found = firstStep(needsWait);
  if (!found)
    return true;
  Step wait = found->step;
  wait.setKind(isSend(wait.kind()) ? waitOfSend(wait.kind())
                                   : StepKind::WaitReduceGrad);
  diags
      .report(found->step.source(), kind, stepText(schedule, found->step),
              found->rank, stepText(schedule, wait), name)
      .note(DiagLoc(), diag::NoteInsertWaits, name);
  return false;
}

bool ScheduleRules::checkSomeReductions(auto kind) {
  if (!schedule.hasFsdp())
    return true;
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    if (!schedule.reduces(stage))
      return refuse(kind, stage, name);
  return true;
}

bool ScheduleRules::check() {
  bool good = true, placed = true;
  [[maybe_unused]] auto isReduction = [](StepKind step) {
    return step == StepKind::ReduceGrad;
  };
#define PIPEC_SCHEDULE_RULE(Id, Kind, Check, What)                             \
  if (constexpr auto kind = Kind; consumer.has(Rule::Id))                      \
    good &= (Check);
#define PIPEC_PLACEMENT_RULE(Id, Kind, Check, What)                            \
  if (constexpr auto kind = Kind; consumer.has(Rule::Id) && placed)            \
    placed = (Check);
#include "Frameworks/Rules.def"
  return good && placed;
}

bool checkScheduleRules(const Schedule &schedule, const Consumer &consumer,
                        DiagEngine &diags) {
  return ScheduleRules(schedule, consumer, diags).check();
}

} // namespace pipec
