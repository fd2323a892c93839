//===- TargetCheck.cpp - Checking schedules against targets ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks a schedule against the rules of one target or output. Rules.def
// defines what each rule refuses; the rows expand to the checks below. If no
// step of a list can break a rule, checking it costs one pass over the kinds of
// its steps.
//
//===----------------------------------------------------------------------===//

#include "Target/TargetCheck.h"
#include "IR/StepPlaces.h"

#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Words.h"
#include "Target/OrderRules.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Predicates of the rows of Rules.def
//===----------------------------------------------------------------------===//

static bool isHalf(StepKind kind) {
  return kind == StepKind::I || kind == StepKind::W;
}

static bool isBatch(ArrayRef<Step> group) {
  return isP2P(group.front().kind());
}

static bool isOverlap(ArrayRef<Step> group) { return !isBatch(group); }

static bool isPair(ArrayRef<Step> group, StepKind first, StepKind second) {
  return group.size() == 2 && group[0].kind() == first &&
         group[1].kind() == second;
}

static bool isForwardBackward(ArrayRef<Step> group) {
  return isPair(group, StepKind::F, StepKind::B);
}

/// A forward and a backward, or half of one, of another micro-batch or stage.
static bool isForwardAndOther(ArrayRef<Step> group) {
  return (isForwardBackward(group) ||
          isPair(group, StepKind::F, StepKind::I)) &&
         (group[0].stage() != group[1].stage() ||
          group[0].microbatch() != group[1].microbatch());
}

static bool isPairOfBoth(ArrayRef<Step> group) {
  return isForwardBackward(group) || isPair(group, StepKind::B, StepKind::F);
}

//===----------------------------------------------------------------------===//
// One check
//===----------------------------------------------------------------------===//

namespace {

class RuleRun {
public:
  RuleRun(const Schedule &schedule, const Consumer &consumer, DiagEngine &diags)
      : schedule(schedule), consumer(consumer), diags(diags),
        name(consumer.name) {}

  /// Check the rules about the whole schedule, and those about each list. Both
  /// return false if anything has been refused so far.
  bool checkSchedule();
  bool checkLists();

private:
  bool has(Rule rule) const { return consumer.has(rule); }
  /// True if the rule has not reported anything yet.
  bool isFirst(Rule rule) const { return !(reported >> unsigned(rule) & 1); }

  // Reports. They return true while further errors are shown.
  bool refuse(InFlightDiagnostic) {
    good = false;
    return !diags.atErrorLimit();
  }
  template <typename Kind, typename... Args, typename... Notes>
  bool refuse(Rule rule, Kind kind, Step step, const std::tuple<Args...> &args,
              Notes... notes);
  template <typename... Notes>
  void addNotes(Rule rule, InFlightDiagnostic &diagnostic, Notes... notes);
  template <diag::Id id, unsigned n>
  void addNote(InFlightDiagnostic &diagnostic,
               diag::Kind<id, Severity::Note, n> kind);
  template <typename Kind, typename... Notes>
  bool refuseOrder(Rule rule, Kind kind, Step step, Step other, Notes... notes);
  template <diag::Id id, unsigned n>
  void addOrderNote(InFlightDiagnostic &diagnostic,
                    diag::Kind<id, Severity::Note, n> kind, Step other,
                    bool isFirst);

  // The rules about the whole schedule: false if one does not hold.
  bool checkForwardOnly(auto kind);
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
  bool checkFileWithoutTransfers(auto kind);
  bool checkFileWithoutReductions(auto kind);
  template <typename Fn> bool checkWait(auto kind, Fn needsWait);
  bool isLoop() const;
  bool isV() const;
  bool hasLegs() const;

  // The lists.
  void checkList(unsigned rank);
  uint32_t watchedKinds() const;
  bool isPlain(const StepList &list, uint32_t watched) const;
  /// Returns false if the group was refused, and sets `shown`.
  bool checkGroup(ArrayRef<Step> group, bool &shown);
  bool checkStep(Step step, unsigned rank);
  bool checkOrder(Step step);
  void noteStep(Step step);

  // The arguments of diagnostics about groups.
  std::string groupText(ArrayRef<Step> group, size_t shown) const;
  std::tuple<StringRef, std::string, StringRef>
  groupOfTarget(ArrayRef<Step> group) const;
  std::tuple<size_t, std::string> batchOfOutput(ArrayRef<Step> group) const;
  std::tuple<std::string> overlapOfOutput(ArrayRef<Step> group) const;

  const Schedule &schedule;
  const Consumer &consumer;
  DiagEngine &diags;
  StringRef name;
  bool good = true;
  /// The rules that have reported something.
  RuleSet reported = 0;
  /// The order rules that apply to the current list.
  RuleSet ordering = 0;
#define PIPEC_ORDER_RULE(Id, Kind, What, ...)                                  \
  order_rules::Id order##Id{schedule};
#include "Target/Rules.def"
};

} // namespace

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

template <diag::Id id, unsigned n>
void RuleRun::addNote(InFlightDiagnostic &diagnostic,
                      diag::Kind<id, Severity::Note, n> kind) {
  if constexpr (n == 0)
    diagnostic.note(DiagLoc(), kind);
  else
    diagnostic.note(DiagLoc(), kind, name);
}

template <typename... Notes>
void RuleRun::addNotes(Rule rule, InFlightDiagnostic &diagnostic,
                       Notes... notes) {
  if (!isFirst(rule))
    return;
  reported |= RuleSet(1) << unsigned(rule);
  (addNote(diagnostic, notes), ...);
}

template <typename Kind, typename... Args, typename... Notes>
bool RuleRun::refuse(Rule rule, Kind kind, Step step,
                     const std::tuple<Args...> &args, Notes... notes) {
  InFlightDiagnostic diagnostic = std::apply(
      [&](const auto &...each) {
        return diags.report(step.source(), kind, each...);
      },
      args);
  addNotes(rule, diagnostic, notes...);
  return refuse(std::move(diagnostic));
}

template <diag::Id id, unsigned n>
void RuleRun::addOrderNote(InFlightDiagnostic &diagnostic,
                           diag::Kind<id, Severity::Note, n> kind, Step other,
                           bool isFirst) {
  if constexpr (n == 1)
    diagnostic.note(other.source(), kind, stepText(schedule, other));
  else if (isFirst)
    diagnostic.note(DiagLoc(), kind);
}

template <typename Kind, typename... Notes>
bool RuleRun::refuseOrder(Rule rule, Kind kind, Step step, Step other,
                          Notes... notes) {
  InFlightDiagnostic diagnostic =
      diags.report(step.source(), kind, stepText(schedule, step),
                   stepText(schedule, other), name);
  // Without notes GCC sees no use.
  [[maybe_unused]] bool first = isFirst(rule);
  reported |= RuleSet(1) << unsigned(rule);
  (addOrderNote(diagnostic, notes, other, first), ...);
  return refuse(std::move(diagnostic));
}

//===----------------------------------------------------------------------===//
// The schedule as a whole
//===----------------------------------------------------------------------===//

bool RuleRun::checkForwardOnly(auto kind) {
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

bool RuleRun::checkTwoRanksPerStage(auto kind) {
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
  refuse(std::move(diagnostic));
  return false;
}

bool RuleRun::checkBidirectionalOutput(auto kind) {
  if (!schedule.placement.bidirectional())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name, name));
  return false;
}

/// Every rank is a process that is created with its stages.
bool RuleRun::checkIdleRank(auto kind) {
  BitVector idle(schedule.numRanks, true);
  for (uint32_t rank : schedule.placement.map(0))
    idle.reset(rank);
  if (idle.none())
    return true;
  refuse(diags.report(schedule.source, kind, idle.find_first(), schedule.name,
                      name));
  return false;
}

bool RuleRun::checkNotOneStagePerRank(auto kind) {
  for (const auto &[stage, rank] : enumerate(schedule.placement.map(0)))
    if (rank != stage) {
      refuse(diags.report(schedule.source, kind, stage, schedule.name, rank,
                          name));
      return false;
    }
  return true;
}

bool RuleRun::isLoop() const {
  ArrayRef<uint32_t> map = schedule.placement.map(0);
  return map.size() % schedule.numRanks == 0 &&
         all_of(enumerate(map), [&](const auto &it) {
           return it.value() == it.index() % schedule.numRanks;
         });
}

bool RuleRun::isV() const {
  ArrayRef<uint32_t> map = schedule.placement.map(0);
  unsigned ranks = schedule.numRanks;
  return map.size() == 2 * size_t(ranks) &&
         all_of(enumerate(map), [&](const auto &it) {
           return it.value() == (it.index() < ranks
                                     ? it.index()
                                     : 2 * ranks - 1 - it.index());
         });
}

/// Each round over the ranks begins where the one before it has ended.
bool RuleRun::hasLegs() const {
  ArrayRef<uint32_t> map = schedule.placement.map(0);
  unsigned ranks = schedule.numRanks;
  return map.size() % ranks == 0 && all_of(enumerate(map), [&](const auto &it) {
           unsigned at = it.index() % ranks;
           return it.value() == (it.index() / ranks % 2 ? ranks - 1 - at : at);
         });
}

bool RuleRun::checkNeitherLoopNorLegs(auto kind) {
  if (isLoop() || hasLegs())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name, name));
  return false;
}

bool RuleRun::checkNeitherLoopNorV(auto kind) {
  if (isLoop() || isV())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name, name));
  return false;
}

bool RuleRun::checkUnevenChunks(auto kind) {
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
bool RuleRun::checkChunkCounts(auto kind) {
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

bool RuleRun::checkRanksNotConnected(auto kind) {
  if (schedule.numRanks == 1 || schedule.hasP2P())
    return true;
  refuse(diags.report(schedule.source, kind, schedule.name));
  return false;
}

bool RuleRun::checkStagesNotConnected(auto kind) {
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
template <typename Fn> bool RuleRun::checkWait(auto kind, Fn needsWait) {
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

bool RuleRun::checkSendWithoutWait(auto kind) {
  return schedule.hasSendWaits() ||
         checkWait(kind, [](StepKind step) { return isSend(step); });
}

bool RuleRun::checkReduceWithoutWait(auto kind) {
  return schedule.hasReduceWaits() || checkWait(kind, [](StepKind step) {
           return step == StepKind::ReduceGrad;
         });
}

bool RuleRun::checkFileWithoutTransfers(auto kind) {
  ArrayRef<uint32_t> map = schedule.placement.map(0);
  if (all_equal(map) || schedule.hasP2P())
    return true;
  refuse(diags.report(schedule.source, kind));
  return false;
}

bool RuleRun::checkFileWithoutReductions(auto kind) {
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.kind() == StepKind::ReduceGrad)
        return true;
  refuse(diags.report(schedule.source, kind));
  return false;
}

bool RuleRun::checkSchedule() {
  bool placed = true;
#define PIPEC_SCHEDULE_RULE(Id, Kind, What)                                    \
  if (has(Rule::Id))                                                           \
    check##Id(Kind);
#define PIPEC_PLACEMENT_RULE(Id, Kind, What)                                   \
  if (has(Rule::Id) && placed)                                                 \
    placed = check##Id(Kind);
#include "Target/Rules.def"
  return good;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::string RuleRun::groupText(ArrayRef<Step> group, size_t shown) const {
  StringRef separator = isBatch(group) ? ", " : " & ";
  std::string text;
  for (Step step : group.take_front(shown)) {
    if (!text.empty())
      text += separator;
    text += stepText(schedule, step);
  }
  return group.size() > shown ? text + " ..." : text;
}

std::tuple<StringRef, std::string, StringRef>
RuleRun::groupOfTarget(ArrayRef<Step> group) const {
  return {isBatch(group) ? "batch" : "overlap", groupText(group, 4), name};
}

std::tuple<size_t, std::string>
RuleRun::batchOfOutput(ArrayRef<Step> group) const {
  return {group.size(), stepText(schedule, group.front())};
}

std::tuple<std::string> RuleRun::overlapOfOutput(ArrayRef<Step> group) const {
  return {groupText(group, group.size())};
}

bool RuleRun::checkGroup(ArrayRef<Step> group, bool &shown) {
#define PIPEC_GROUP_RULE(Id, Kind, Arguments, Refused, What, ...)              \
  if (has(Rule::Id) && (Refused)) {                                            \
    shown = refuse(Rule::Id, Kind, group.front(),                              \
                   Arguments(group) __VA_OPT__(, ) __VA_ARGS__);               \
    return false;                                                              \
  }
#include "Target/Rules.def"
  return true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool RuleRun::checkStep(Step step, unsigned rank) {
  StepKind kind = step.kind();
#define PIPEC_STEP_RULE(Id, Kind, Refused, What, ...)                          \
  if (has(Rule::Id) && (Refused))                                              \
    return refuse(Rule::Id, Kind, step,                                        \
                  std::tuple(stepText(schedule, step), rank, name)             \
                      __VA_OPT__(, ) __VA_ARGS__);
#define PIPEC_FIRST_STEP_RULE(Id, Kind, Refused, What, ...)                    \
  if (has(Rule::Id) && isFirst(Rule::Id) && (Refused))                         \
    return refuse(Rule::Id, Kind, step,                                        \
                  std::tuple(stepText(schedule, step), rank, name)             \
                      __VA_OPT__(, ) __VA_ARGS__);
#include "Target/Rules.def"
  return true;
}

void RuleRun::noteStep(Step step) {
  StepKind kind = step.kind();
#define PIPEC_STEP_NOTE(Id, Kind, Noted, What, ...)                            \
  if (has(Rule::Id) && isFirst(Rule::Id) && (Noted)) {                         \
    InFlightDiagnostic note = diags.reportAs(Severity::Note, step.source(),    \
                                             Kind, stepText(schedule, step));  \
    addNotes(Rule::Id, note __VA_OPT__(, ) __VA_ARGS__);                       \
  }
#include "Target/Rules.def"
}

bool RuleRun::checkOrder(Step step) {
  bool shown = true;
#define PIPEC_ORDER_RULE(Id, Kind, What, ...)                                  \
  if (ordering >> unsigned(Rule::Id) & 1)                                      \
    if (std::optional<Step> other = order##Id.followed(step))                  \
      shown &= refuseOrder(Rule::Id, Kind, step,                               \
                           *other __VA_OPT__(, ) __VA_ARGS__);
#include "Target/Rules.def"
  return shown;
}

/// Bit K is set if a rule may apply to a step of the kind with value K.
uint32_t RuleRun::watchedKinds() const {
  uint32_t kinds = 0;
  for (unsigned number = 0; number != numStepKinds; ++number) {
    StepKind kind = StepKind(number);
    bool watched = false;
#define PIPEC_STEP_RULE(Id, Kind, Refused, What, ...)                          \
  watched |= has(Rule::Id) && (Refused);
#define PIPEC_FIRST_STEP_RULE(Id, Kind, Refused, What, ...)                    \
  watched |= has(Rule::Id) && isFirst(Rule::Id) && (Refused);
#define PIPEC_STEP_NOTE(Id, Kind, Noted, What, ...)                            \
  watched |= has(Rule::Id) && isFirst(Rule::Id) && (Noted);
#include "Target/Rules.def"
    kinds |= uint32_t(watched) << number;
  }
  return kinds;
}

bool RuleRun::isPlain(const StepList &list, uint32_t watched) const {
  uint32_t found = 0;
  bool joined = false;
  for (const Step &step : list) {
    found |= 1u << unsigned(step.kind());
    joined |= step.joined();
  }
  return !joined && !(found & watched);
}

void RuleRun::checkList(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  ordering = 0;
#define PIPEC_ORDER_RULE(Id, Kind, What, ...)                                  \
  if (has(Rule::Id) && order##Id.begin(rank))                                  \
    ordering |= RuleSet(1) << unsigned(Rule::Id);
#include "Target/Rules.def"
  uint32_t watched = watchedKinds();
  auto isWatched = [&](Step step) {
    return watched >> unsigned(step.kind()) & 1;
  };
  if (!ordering && isPlain(list, watched))
    return;
  for (size_t begin = 0, end; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    ArrayRef<Step> group = ArrayRef(list).slice(begin, end - begin);
    bool shown = true;
    if ((!group.front().joined() || checkGroup(group, shown)) &&
        isWatched(group.front()))
      shown = checkStep(group.front(), rank);
    for (Step step : group) {
      if (ordering)
        shown &= checkOrder(step);
      if (isWatched(step))
        noteStep(step);
    }
    if (!shown)
      return;
  }
}

bool RuleRun::checkLists() {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    checkList(rank);
  return good;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

LogicalResult checkTarget(const Schedule &schedule, Target target,
                          DiagEngine &diags) {
  RuleRun run(schedule, targetRules()[size_t(target)], diags);
  run.checkSchedule();
  return success(run.checkLists());
}

std::vector<Diagnostic> refusals(const Schedule &schedule, Target target,
                                 SourceFiles &files) {
  std::vector<Diagnostic> found;
  DiagEngine diags(files, [&](const Diagnostic &one) {
    if (one.severity == Severity::Error)
      found.push_back(one);
  });
  (void)checkTarget(schedule, target, diags);
  return found;
}

LogicalResult checkOutput(const Schedule &schedule, Output output,
                          DiagEngine &diags) {
  RuleRun run(schedule, outputRules()[size_t(output)], diags);
  return success(run.checkSchedule() && run.checkLists());
}

} // namespace pipec
