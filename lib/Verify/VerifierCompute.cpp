//===- VerifierCompute.cpp - Every compute step once ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `scanStates` finds out whether each compute step finds its unit in the state
// that its row of Steps.def names. If one does not, `ComputeReport` finds the
// errors and reports them.
//
// All members of an overlap start together, so none may depend on another, with
// one exception: on the last stage, a forward may feed the backward of its own
// micro-batch that follows it in the same overlap.
//
// VerifierOrder.cpp checks that the whole order can run.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace pipec {

static constexpr uint8_t bitOf(StepKind kind) { return 1u << unsigned(kind); }
static constexpr uint8_t F = bitOf(StepKind::F);
static constexpr uint8_t B = bitOf(StepKind::B);
static constexpr uint8_t I = bitOf(StepKind::I);
static constexpr uint8_t W = bitOf(StepKind::W);

/// True for the kinds that every unit has; verifyObjects checks the others.
static bool counts(StepKind kind) {
  return isCompute(kind) && !step_facts::has(step_facts::extras, kind);
}
/// The kinds of these whose rows satisfy `test`.
template <typename Test> static uint8_t countedWhere(Test test) {
  return step_facts::kindsWhere([&](const step_facts::Row &row) {
           return row.stream == Stream::Compute && test(row);
         }) &
         ~step_facts::extras;
}
/// The kinds that change a unit out of a state that `kind` leaves too. A unit
/// must not have any of these before the step.
static uint8_t excluded(StepKind kind) {
  return countedWhere([&](const step_facts::Row &row) {
    return row.from < stateAfter(kind) && stateBefore(kind) < row.to;
  });
}
/// The kinds that bring a unit into the state in which `kind` finds it.
static uint8_t needed(StepKind kind) {
  return countedWhere(
      [&](const step_facts::Row &row) { return row.to == stateBefore(kind); });
}

/// True if the member of an overlap at `consumer` depends on the one at
/// `producer`. A list that was not verified may join other steps to computes.
static bool feeds(const DataFlow &flow, Step producer, Step consumer) {
  if (!isCompute(producer.kind()) || !isCompute(consumer.kind()) ||
      producer.unit() != consumer.unit())
    return false;
  if (producer.stage() == consumer.stage() &&
      (producer.kind() == StepKind::R || consumer.kind() == StepKind::R))
    return producer.kind() != consumer.kind() &&
           (producer.kind() == StepKind::F || consumer.kind() != StepKind::F);
  if (producer.stage() == consumer.stage())
    return (needed(consumer.kind()) & bitOf(producer.kind())) != 0;
  return any_of(flow.inputs(consumer), [&](const DataFlow::Port &input) {
    return input.stage == producer.stage() &&
           dataKind(input.kind) == dataKind(producer.kind());
  });
}

/// Finds the first member of the overlap `members` that depends on another one
/// in a way that is not allowed. Returns the indices of the member and the
/// producer. Small overlaps compare all pairs, large ones use a lookup table.
static std::optional<std::pair<size_t, size_t>>
findInnerFeed(const DataFlow &flow, ArrayRef<Step> members) {
  auto allowed = [&](size_t producer, size_t consumer) {
    return members[producer].kind() == StepKind::F &&
           members[consumer].kind() != StepKind::F && producer < consumer &&
           flow.outputs(members[producer]).empty();
  };
  if (members.size() <= 8) {
    for (size_t c = 0; c != members.size(); ++c)
      for (size_t p = 0; p != members.size(); ++p)
        if (feeds(flow, members[p], members[c]) && !allowed(p, c))
          return std::pair(c, p);
    return std::nullopt;
  }
  auto key = [](StepKind kind, unsigned stage, unsigned microbatch) {
    return uint64_t(stage) << 32 | uint64_t(microbatch) << 5 | unsigned(kind);
  };
  DenseMap<uint64_t, size_t> byStep;
  for (size_t i = 0; i != members.size(); ++i)
    byStep.try_emplace(
        key(members[i].kind(), members[i].stage(), members[i].unit()), i);
  for (size_t c = 0; c != members.size(); ++c) {
    SmallVector<unsigned, 2> stages = {members[c].stage()};
    for (const DataFlow::Port &input : flow.inputs(members[c]))
      stages.push_back(input.stage);
    for (unsigned stage : stages)
      for (StepKind kind :
           {StepKind::F, StepKind::R, StepKind::B, StepKind::I}) {
        auto it = byStep.find(key(kind, stage, members[c].unit()));
        if (it != byStep.end() &&
            feeds(flow, members[it->second], members[c]) &&
            !allowed(it->second, c))
          return std::pair(c, it->second);
      }
  }
  return std::nullopt;
}

bool hasInnerFeed(const DataFlow &flow, const StepList &list) {
  for (size_t i = 0, end; i != list.size(); i = end) {
    end = Schedule::groupEnd(list, i);
    if (end - i > 1 && isCompute(list[i].kind()) &&
        findInnerFeed(flow, ArrayRef(list).slice(i, end - i)))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The messages
//===----------------------------------------------------------------------===//

namespace {

class ComputeReport {
public:
  ComputeReport(const Schedule &schedule, const DataFlow &flow,
                const Cells &cells, const PresentRanks &present,
                DiagEngine &diags)
      : schedule(schedule), flow(flow), cells(cells), present(present),
        diags(diags), firsts(schedule, cells), reporter(schedule, diags),
        seen(cells.size()), misplaced(cells.size()) {}

  /// Returns true if it found an error, which it must if all ranks are present.
  bool run() {
    reportCounts();
    if (!reporter.full())
      reportOrder();
    if (!reporter.full())
      reportMissing();
    bool failed = reporter.failed || diags.atErrorLimit();
    assert((failed || !present.all()) &&
           "the quick scan found what the report does not");
    return failed;
  }

private:
  /// The maximum number of missing micro-batches in a message.
  static constexpr unsigned listed = 4;

  template <typename Fn> void forEachCompute(Fn fn) {
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i)
        if (counts(list[i].kind()))
          fn(StepRef{rank, i}, list[i]);
    }
  }

  // Reports steps on wrong ranks and duplicate steps. Pairs with a step on a
  // wrong rank are not checked for order.
  void reportCounts() {
    forEachCompute([&](StepRef ref, Step step) {
      size_t cell = cells.index(step);
      unsigned home = schedule.rankOf(step.stage(), step.unit());
      if (home != ref.rank) {
        (void)reporter.report(ref, diag::StepOnWrongRank, home);
        if (firsts.find(step).rank == home)
          return; // a duplicate on the wrong rank
        misplaced[cell] = true;
      }
      if (schedule.forwardOnly && step.kind() != StepKind::F) {
        (void)reporter.report(ref, diag::StepNotForward);
      } else if (uint8_t twice = seen[cell] & excluded(step.kind())) {
        StepKind kind = StepKind(countr_zero(twice));
        StepRef first = firsts.find(kind, step.stage(), step.unit());
        auto diagnostic = reporter.report(
            ref, diag::StepDoubled,
            reporter.text(Step(kind, step.stage(), step.unit())));
        reporter.noteHere(diagnostic, first);
      }
      seen[cell] |= bitOf(step.kind());
    });
  }

  void reportOrder() {
    std::vector<uint8_t> done(cells.size());
    forEachCompute([&](StepRef ref, Step step) {
      const StepList &list = schedule.ranks[ref.rank];
      size_t cell = cells.index(step);
      if (step.joined() && (ref.index == 0 || !list[ref.index - 1].joined()))
        reportInnerFeed(ref);
      uint8_t lacks = needed(step.kind()) & ~done[cell];
      done[cell] |= bitOf(step.kind());
      if (!lacks || misplaced[cell] || schedule.forwardOnly)
        return;
      // A step that no rank has is reported as missing. If a pair has a `B` and
      // a `W`, the backward is not missing; the `W` is a duplicate.
      StepKind kind = lacks & I ? StepKind::I : StepKind::F;
      Step before(kind, step.stage(), step.unit());
      StepRef later = firsts.find(before);
      if (later.isValid()) {
        auto diagnostic =
            reporter.report(ref, diag::StepTooEarly, reporter.text(before));
        reporter.noteHere(diagnostic, later);
      } else if (kind == StepKind::I && !(seen[cell] & B)) {
        (void)reporter.report(ref, diag::WeightWithoutInput);
      } else if (kind == StepKind::F) {
        forwardless.try_emplace(step.stage(), ref);
      }
    });
  }

  void reportInnerFeed(StepRef ref) {
    const StepList &list = schedule.ranks[ref.rank];
    size_t end = Schedule::groupEnd(list, ref.index);
    auto feed =
        findInnerFeed(flow, ArrayRef(list).slice(ref.index, end - ref.index));
    if (!feed)
      return;
    StepRef consumer{ref.rank, uint32_t(ref.index + feed->first)};
    StepRef producer{ref.rank, uint32_t(ref.index + feed->second)};
    (void)reporter.report(consumer, diag::OverlapFeedsItself,
                          reporter.text(reporter.step(producer)));
  }

  // Counts the missing steps of each stage and reports them at the last
  // existing step of the stage.
  void reportMissing() {
    struct Stage {
      uint32_t forwards = 0, backwards = 0, inputs = 0, weights = 0;
      SmallVector<unsigned, listed> weightless;
      StepRef lastForward, lastBackward;
    };
    std::vector<Stage> stages(schedule.numStages);
    std::vector<uint8_t> counted(cells.size());
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size(); ++i) {
        Step step = list[i];
        if (!counts(step.kind()))
          continue;
        Stage &stage = stages[step.stage()];
        (step.kind() == StepKind::F ? stage.lastForward
                                    : stage.lastBackward) = {rank, i};
        uint8_t &cell = counted[cells.index(step)];
        if (cell & bitOf(step.kind()))
          continue;
        stage.forwards += step.kind() == StepKind::F;
        stage.backwards += makesInputGradient(step.kind()) && !(cell & (B | I));
        stage.inputs += step.kind() == StepKind::I;
        // Weight gradients count only together with an `I`.
        stage.weights +=
            step.kind() == StepKind::W && (seen[cells.index(step)] & I) != 0;
        cell |= bitOf(step.kind());
        if (step.kind() == StepKind::I && stage.weightless.size() != listed &&
            !(seen[cells.index(step)] & W))
          stage.weightless.push_back(step.unit());
      }
    }
    uint32_t all = schedule.numUnits;
    for (unsigned s = 0; s != schedule.numStages && !reporter.full(); ++s) {
      if (!present.contains(schedule.placement.rankOf(s, 0)))
        continue;
      Stage &stage = stages[s];
      llvm::sort(stage.weightless);
      if (stage.forwards != all)
        reportMissing(s, all - stage.forwards, all, "forwards", withNone(s, F),
                      stage.lastForward, forwardless.lookup(s));
      if (schedule.forwardOnly)
        continue;
      if (stage.backwards != all)
        reportMissing(s, all - stage.backwards, all, "backwards",
                      withNone(s, B | I), stage.lastBackward);
      if (stage.inputs > stage.weights)
        reportMissing(s, stage.inputs - stage.weights, stage.inputs,
                      "weight gradients", stage.weightless, stage.lastBackward);
    }
  }

  /// The first micro-batches of a stage without any of `kinds`. At least one
  /// exists, so the search is bounded by the number of steps.
  SmallVector<unsigned, 4> withNone(unsigned stage, uint8_t kinds) const {
    SmallVector<unsigned, listed> missing;
    for (unsigned m = 0; m != schedule.numUnits && missing.size() != listed;
         ++m) {
      size_t cell = cells.index(stage, m);
      if (cell == Cells::none || !(seen[cell] & kinds))
        missing.push_back(m);
    }
    return missing;
  }

  void reportMissing(unsigned stage, uint32_t count, uint32_t of,
                     StringRef what, ArrayRef<unsigned> missing, StepRef last,
                     StepRef user = {}) {
    std::string text;
    raw_string_ostream os(text);
    interleaveComma(missing, os, [&](unsigned unit) {
      printUnit(os, unit, schedule.numSlices);
    });
    if (count > missing.size())
      os << ", ...";
    reporter.failed = true;
    auto diagnostic = diags.report(schedule.source, diag::StepsMissing, stage,
                                   count, of, what, text);
    if (last.isValid())
      diagnostic.note(reporter.step(last).source(), diag::NoteLastStep,
                      reporter.name(last));
    if (user.isValid()) {
      Step step = reporter.step(user);
      Step forward(StepKind::F, step.stage(), step.unit());
      diagnostic.note(step.source(), diag::NoteNoForward, reporter.name(user),
                      reporter.text(forward));
    }
  }

  const Schedule &schedule;
  const DataFlow &flow;
  const Cells &cells;
  const PresentRanks &present;
  DiagEngine &diags;
  FirstSteps firsts;
  StepReporter reporter;
  /// By stage, the first backward whose forward no rank has.
  DenseMap<unsigned, StepRef> forwardless;
  /// The kinds of each pair on all ranks.
  std::vector<uint8_t> seen;
  std::vector<bool> misplaced;
};

} // namespace

ComputeVerdict verifyCompute(const Schedule &schedule, const StateScan &scan,
                             DiagEngine &diags, const PresentRanks &present) {
  bool broken = false;
  if (!scan.units) {
    DataFlow flow(schedule);
    Cells cells(schedule);
    broken = ComputeReport(schedule, flow, cells, present, diags).run();
  }
  if (scan.kinds & step_facts::extras)
    broken |= failed(verifyObjects(schedule, diags, present));
  if (schedule.numSlices != 1)
    broken |= failed(verifySlices(schedule, diags));
  if (broken)
    return ComputeVerdict::Broken;
  return verifyOrder(schedule, diags, present);
}

} // namespace pipec
