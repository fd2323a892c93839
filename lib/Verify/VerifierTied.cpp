//===- VerifierTied.cpp - The level tied: sums of tied gradients ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A REDUCE_TIED is checked against the list of its rank: it follows everything
// that changes the gradients that it sums. The order of the groups concerns all
// lists: TiedMeetings (IR/TiedMeetings.h) decides whether the orders of the
// ranks agree, and a group that does not meet leads to a cycle of groups, each
// of which precedes the next one on some rank.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "IR/OrderWalk.h"
#include "IR/TiedMeetings.h"
#include "IR/TiedSums.h"
#include "Support/Diagnostics/VerifierDiags.h"

using namespace llvm;

namespace pipec {

namespace {

/// A walk that keeps each UPDATE waiting for its sums.
class UpdateWalk {
public:
  struct Datum {
    bool made = false;
  };
  static bool isThere(Datum datum) { return datum.made; }
  void take(unsigned, Datum) {}
  Datum give(unsigned, size_t, const DataFlow::Port &) { return {true}; }
  bool mayRun(unsigned rank, Step step) {
    return sums.end(rank, step.stage()).has_value();
  }
  std::vector<unsigned> takeReleased() { return sums.takeReleased(); }
  void visit(unsigned rank, size_t begin, size_t) {
    Step step = schedule.ranks[rank][begin];
    if (step.stream() == Stream::Tied)
      sums.post(rank, step.stage(), 0, 0);
  }

  explicit UpdateWalk(const Schedule &schedule)
      : schedule(schedule), sums(schedule), walk(schedule, *this) {}
  bool run() { return walk.run(); }
  size_t head(unsigned rank) const { return walk.member(rank); }
  const TiedSums &tiedSums() const { return sums; }

private:
  const Schedule &schedule;
  TiedSums sums;
  OrderWalk<UpdateWalk> walk;
};

class TiedVerifier {
public:
  TiedVerifier(const Schedule &schedule, DiagEngine &diags,
               const PresentRanks &present)
      : schedule(schedule), present(present), diags(diags),
        reporter(schedule, diags), meetings(schedule, present) {}

  bool run() {
    for (uint32_t rank = 0; rank != schedule.ranks.size() && !reporter.full();
         ++rank) {
      checkList(rank);
      checkAfterGradients(rank);
    }
    for (unsigned group = 0; group != schedule.ties.size() && !reporter.full();
         ++group)
      checkComplete(group);
    // A missing step keeps its group from meeting too.
    if (!reporter.failed && !meetings.allMeet())
      reportOrder();
    if (!reporter.failed && present.all() && TiedSums::isNeeded(schedule))
      checkUpdates();
    return !reporter.failed;
  }

private:
  static constexpr uint32_t nowhere = ~0u;

  /// Checks that each step may be on its rank, once.
  void checkList(uint32_t rank) {
    const StepList &list = schedule.ranks[rank];
    for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i) {
      if (list[i].stream() != Stream::Tied)
        continue;
      StepRef ref{rank, i};
      if (schedule.forwardOnly) {
        (void)reporter.report(ref, diag::StepNotForward);
        continue;
      }
      if (!schedule.holdsTied(rank, list[i].stage())) {
        (void)reporter.report(ref, diag::TiedOnWrongRank);
        continue;
      }
      StepRef first = *find_if(meetings.stepsOf(rank), [&](StepRef other) {
        return reporter.step(other).stage() == list[i].stage();
      });
      if (first.index == i)
        continue;
      auto diagnostic = reporter.report(ref, diag::TiedDoubled);
      reporter.noteHere(diagnostic, first);
    }
  }

  /// Checks the steps of a rank against the last step that changes the
  /// gradients of each stage.
  void checkAfterGradients(uint32_t rank) {
    if (meetings.stepsOf(rank).empty() || schedule.forwardOnly)
      return;
    last.assign(schedule.numStages, nowhere);
    const StepList &list = schedule.ranks[rank];
    for (uint32_t i = 0; i != list.size(); ++i)
      if (list[i].kind() == StepKind::ReduceGrad ||
          makesWeightGradient(list[i].kind()))
        last[list[i].stage()] = i;
    for (StepRef ref : meetings.stepsOf(rank)) {
      for (unsigned stage : schedule.ties[reporter.step(ref).stage()]) {
        if (last[stage] == nowhere || last[stage] < ref.index)
          continue;
        StepRef late{rank, last[stage]};
        bool reduces = reporter.step(late).kind() == StepKind::ReduceGrad;
        auto diagnostic = reporter.report(
            ref, diag::TiedOrder, reporter.text(reporter.step(late)),
            reduces ? "which reduces gradients that it sums"
                    : "which adds to gradients that it sums");
        reporter.noteHere(diagnostic, late);
      }
    }
  }

  /// Checks that a group has steps on all of its ranks or on none.
  void checkComplete(unsigned group) {
    ArrayRef<StepRef> steps = meetings.steps(group);
    if (steps.empty() || schedule.forwardOnly)
      return;
    for (unsigned rank : schedule.tiedRanks(group)) {
      if (!present.contains(rank) ||
          any_of(steps, [&](StepRef step) { return step.rank == rank; }))
        continue;
      reporter.failed = true;
      auto diagnostic =
          diags.report(schedule.source, diag::TiedMissing, rank, group);
      reporter.noteHere(diagnostic, steps.front());
    }
  }

  /// Checks that no rank waits at an UPDATE for a sum that another rank reaches
  /// only after steps that follow the UPDATE.
  void checkUpdates() {
    UpdateWalk walk(schedule);
    if (walk.run())
      return;
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      StepRef ref{rank, uint32_t(walk.head(rank))};
      if (ref.index == list.size() ||
          list[ref.index].kind() != StepKind::Update)
        continue;
      std::optional<unsigned> group =
          walk.tiedSums().missing(rank, list[ref.index].stage());
      for (StepRef other :
           group ? meetings.steps(*group) : ArrayRef<StepRef>()) {
        if (walk.tiedSums().isPosted(other.rank, *group))
          continue;
        auto diagnostic =
            reporter.report(ref, diag::UpdateStuck,
                            reporter.text(reporter.step(other)), other.rank);
        reporter.noteHere(diagnostic, other);
        return;
      }
    }
  }

  /// The step of a group on a rank.
  StepRef stepOn(unsigned rank, unsigned group) const {
    return *find_if(meetings.steps(group),
                    [&](StepRef step) { return step.rank == rank; });
  }

  /// Reports a cycle of groups, each before the next one on some rank.
  void reportOrder() {
    // By group: the step that keeps it from meeting on some rank.
    std::vector<StepRef> before(schedule.ties.size());
    unsigned group = 0;
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      StepRef head = meetings.head(rank);
      if (!head.isValid())
        continue;
      bool reached = false;
      for (StepRef step : meetings.stepsOf(rank)) {
        reached |= step == head;
        unsigned late = reporter.step(step).stage();
        if (!reached || step == head || before[late].isValid())
          continue;
        before[late] = head;
        group = late;
      }
    }
    std::vector<unsigned> cycle;
    for (; !is_contained(cycle, group);
         group = reporter.step(before[group]).stage())
      cycle.push_back(group);
    cycle.erase(cycle.begin(), find(cycle, group));
    auto first = min_element(cycle, [&](unsigned a, unsigned b) {
      return before[a].rank < before[b].rank;
    });
    std::rotate(cycle.begin(), first, cycle.end());
    auto text = [&](unsigned of) {
      return reporter.text(Step(StepKind::ReduceTied, of, 0));
    };
    auto diagnostic =
        reporter.report(before[cycle[0]], diag::TiedOrder, text(cycle[0]),
                        "and follows it elsewhere");
    for (unsigned of : drop_begin(cycle))
      diagnostic.note(reporter.step(before[of]).source(), diag::NoteTiedOrder,
                      reporter.name(before[of]), text(of));
  }

  const Schedule &schedule;
  const PresentRanks &present;
  DiagEngine &diags;
  StepReporter reporter;
  TiedMeetings meetings;
  /// By stage, the index of the last step of the current rank that changes its
  /// gradients.
  std::vector<uint32_t> last;
};

} // namespace

LogicalResult verifyTied(const Schedule &schedule, DiagEngine &diags,
                         const PresentRanks &present) {
  return success(TiedVerifier(schedule, diags, present).run());
}

} // namespace pipec
