//===- TargetCheck.cpp - Checking schedules against targets ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a schedule against the rules of one target or output. Rules.def
// defines the rules; the rows about lists expand to the checks
// below, those about the whole schedule to the checks of ScheduleRules.cpp. If
// no step of a list can break a rule, checking it costs one pass over the kinds
// of its steps.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/TargetCheck.h"

#include "Frameworks/OrderRules.h"
#include "IR/DataFlow.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Words.h"

#include <tuple>
#include <utility>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Predicates of the rows of Rules.def
//===----------------------------------------------------------------------===//

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
          group[0].unit() != group[1].unit());
}

static bool isPairOfBoth(ArrayRef<Step> group) {
  return isForwardBackward(group) || isPair(group, StepKind::B, StepKind::F);
}

/// A forward and a backward or its first half, in either order.
static bool isForwardAndGradient(ArrayRef<Step> group) {
  return isPairOfBoth(group) || isPair(group, StepKind::F, StepKind::I) ||
         isPair(group, StepKind::I, StepKind::F);
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

  /// Checks the rules about each list. Returns false if anything is refused.
  bool checkLists() {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      checkList(rank);
    return good;
  }

private:
  bool has(Rule rule) const { return consumer.has(rule); }
  /// True if the rule has not reported anything yet.
  bool isFirst(Rule rule) const { return !(reported >> unsigned(rule) & 1); }
  /// The steps that a rule about steps reports.
  enum Which { Every, First };
  bool applies(Rule rule, Which which) const {
    return has(rule) && (which == Every || isFirst(rule));
  }

  // Reports.

  template <diag::Id id, unsigned n>
  void addNote(InFlightDiagnostic &diagnostic, bool isFirst,
               std::optional<Step> other,
               diag::Kind<id, Severity::Note, n> kind) {
    if constexpr (n != 0) {
      if (other)
        diagnostic.note(other->source(), kind, stepText(schedule, *other));
      else if (isFirst)
        diagnostic.note(DiagLoc(), kind, name);
    } else if (isFirst) {
      diagnostic.note(DiagLoc(), kind);
    }
  }

  template <typename... Notes>
  void addNotes(Rule rule, InFlightDiagnostic &diagnostic,
                [[maybe_unused]] std::optional<Step> other, Notes... notes) {
    // Without notes GCC sees no use.
    [[maybe_unused]] bool first = isFirst(rule);
    reported |= RuleSet(1) << unsigned(rule);
    (addNote(diagnostic, first, other, notes), ...);
  }

  /// Reports an error; returns true while further errors are shown. The notes
  /// are those of the rule. The argument of a note is the name of the target
  /// or, in every report, `other` if that is given.
  template <typename Kind, typename... Args, typename... Notes>
  bool refuse(Rule rule, Kind kind, Step step, std::optional<Step> other,
              const std::tuple<Args...> &args, Notes... notes) {
    InFlightDiagnostic diagnostic = std::apply(
        [&](const auto &...each) {
          return diags.report(step.source(), kind, each...);
        },
        args);
    addNotes(rule, diagnostic, other, notes...);
    good = false;
    return !diags.atErrorLimit();
  }

  // Groups.

  std::string groupText(ArrayRef<Step> group, size_t shown) const {
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
  groupOfTarget(ArrayRef<Step> group) const {
    return {isBatch(group) ? "batch" : "overlap", groupText(group, 4), name};
  }

  bool hasSeveralPeers(ArrayRef<Step> group) {
    if (!flow)
      flow.emplace(schedule);
    const DataFlow::Port *port = flow->transfer(group.front());
    return any_of(group, [&](Step step) {
      const DataFlow::Port *other = flow->transfer(step);
      return port && other && port->rank != other->rank;
    });
  }

  std::tuple<size_t, std::string> batchOfOutput(ArrayRef<Step> group) const {
    return {group.size(), stepText(schedule, group.front())};
  }

  std::tuple<std::string> overlapOfOutput(ArrayRef<Step> group) const {
    return {groupText(group, group.size())};
  }

  /// Returns false if the group was refused, and sets `shown`.
  bool checkGroup(ArrayRef<Step> group, bool &shown) {
#define PIPEC_GROUP_RULE(Id, Kind, Arguments, Refused, What, ...)              \
  if (has(Rule::Id) && (Refused)) {                                            \
    shown = refuse(Rule::Id, Kind, group.front(), std::nullopt,                \
                   Arguments(group) __VA_OPT__(, ) __VA_ARGS__);               \
    return false;                                                              \
  }
#include "Frameworks/Rules.def"
    return true;
  }

  // Steps.

  bool checkStep(Step step, unsigned rank) {
    StepKind kind = step.kind();
#define PIPEC_STEP_RULE(Id, Kind, Which, Refused, What, ...)                   \
  if (applies(Rule::Id, Which) && (Refused))                                   \
    return refuse(Rule::Id, Kind, step, std::nullopt,                          \
                  std::tuple(stepText(schedule, step), rank, name)             \
                      __VA_OPT__(, ) __VA_ARGS__);
#include "Frameworks/Rules.def"
    return true;
  }

  void noteStep(Step step) {
    StepKind kind = step.kind();
#define PIPEC_STEP_NOTE(Id, Kind, Noted, What, ...)                            \
  if (applies(Rule::Id, First) && (Noted)) {                                   \
    InFlightDiagnostic note = diags.reportAs(Severity::Note, step.source(),    \
                                             Kind, stepText(schedule, step));  \
    addNotes(Rule::Id, note, std::nullopt __VA_OPT__(, ) __VA_ARGS__);         \
  }
#include "Frameworks/Rules.def"
  }

  bool checkOrder(Step step) {
    bool shown = true;
#define PIPEC_ORDER_RULE(Id, Kind, What, ...)                                  \
  if (ordering >> unsigned(Rule::Id) & 1)                                      \
    if (std::optional<Step> other = order##Id.followed(step))                  \
      shown &= refuse(Rule::Id, Kind, step, other,                             \
                      std::tuple(stepText(schedule, step),                     \
                                 stepText(schedule, *other), name)             \
                          __VA_OPT__(, ) __VA_ARGS__);
#include "Frameworks/Rules.def"
    return shown;
  }

  /// Bit K is set if a rule may apply to a step of the kind with value K.
  uint32_t watchedKinds() const {
    uint32_t kinds = 0;
    for (unsigned number = 0; number != numStepKinds; ++number) {
      StepKind kind = StepKind(number);
      bool watched = false;
#define PIPEC_STEP_RULE(Id, Kind, Which, Refused, What, ...)                   \
  watched |= applies(Rule::Id, Which) && (Refused);
#define PIPEC_STEP_NOTE(Id, Kind, Noted, What, ...)                            \
  watched |= applies(Rule::Id, First) && (Noted);
#include "Frameworks/Rules.def"
      kinds |= uint32_t(watched) << number;
    }
    return kinds;
  }

  bool isPlain(const StepList &list, uint32_t watched) const {
    uint32_t found = 0;
    bool joined = false;
    for (const Step &step : list) {
      found |= 1u << unsigned(step.kind());
      joined |= step.joined();
    }
    return !joined && !(found & watched);
  }

  void checkList(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    ordering = 0;
#define PIPEC_ORDER_RULE(Id, Kind, What, ...)                                  \
  if (has(Rule::Id) && order##Id.begin(rank))                                  \
    ordering |= RuleSet(1) << unsigned(Rule::Id);
#include "Frameworks/Rules.def"
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

  const Schedule &schedule;
  /// Made for the first batch.
  std::optional<DataFlow> flow;
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
#include "Frameworks/Rules.def"
};

} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

LogicalResult checkTarget(const Schedule &schedule, Target target,
                          DiagEngine &diags) {
  const Consumer &consumer = targetRules()[size_t(target)];
  bool good = checkScheduleRules(schedule, consumer, diags);
  good &= RuleRun(schedule, consumer, diags).checkLists();
  return success(good);
}

LogicalResult checkOutput(const Schedule &schedule, Output output,
                          DiagEngine &diags) {
  const Consumer &consumer = outputRules()[size_t(output)];
  return success(checkScheduleRules(schedule, consumer, diags) &&
                 RuleRun(schedule, consumer, diags).checkLists());
}

} // namespace pipec
