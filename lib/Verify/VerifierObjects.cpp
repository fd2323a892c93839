//===- VerifierObjects.cpp - Recomputation, copies, optimizer steps -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of the level compute, for lists with an R, a copy or an UPDATE. The
// activations of a unit have a state and a place (Support/States.def); one walk
// over each list checks that every step finds both as it needs them. A list
// with an R of a unit drops the activations of its F, so a first walk finds the
// units that have one.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class ObjectScan {
public:
  ObjectScan(const Schedule &schedule, DiagEngine &diags,
             const PresentRanks &present)
      : schedule(schedule), present(present), diags(diags), cells(schedule),
        reporter(schedule, diags), units(cells.size()),
        updates(schedule.numStages) {}

  LogicalResult run() {
    findRecomputed();
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i)
        visit(list[i], {rank, i});
    }
    if (!reporter.full())
      checkAllUpdated();
    return success(!reporter.failed);
  }

private:
  /// The activations of a unit.
  struct Unit {
    State state = State::Absent;
    State place = State::OnDevice;
    bool recomputed = false;
    /// The last step that changed its state, and the last one that moved it.
    uint32_t changed = 0;
    uint32_t moved = 0;
  };

  static bool isExtra(StepKind kind) {
    return step_facts::has(step_facts::extras, kind);
  }

  void findRecomputed() {
    for (const StepList &list : schedule.ranks)
      for (Step step : list)
        if (step.kind() == StepKind::R)
          units[cells.index(step)].recomputed = true;
  }

  void visit(Step step, StepRef ref) {
    StepKind kind = step.kind();
    if (isExtra(kind) && schedule.forwardOnly)
      return (void)reporter.report(ref, diag::StepNotForward);
    if (objectOf(stateBefore(kind)) == Object::Gradients)
      return useGradients(step, ref);
    if (step.stream() == Stream::Tied) {
      for (unsigned stage : schedule.ties[step.stage()])
        if (schedule.placement.rankOf(stage, 0) == ref.rank)
          checkNotUpdated(stage, ref);
      return;
    }
    if (!isCompute(kind) && objectOf(stateBefore(kind)) != Object::Copy)
      return;
    if (isCompute(kind))
      checkNotUpdated(step.stage(), ref);
    unsigned home = schedule.rankOf(step.stage(), step.unit());
    if (home != ref.rank) {
      // The first check of the level compute reports the others.
      if (isExtra(kind))
        (void)reporter.report(ref, diag::StepOnWrongRank, home);
      return;
    }
    Unit &unit = units[cells.index(step)];
    if (isCompute(kind)) {
      checkUnit(step, ref, unit);
      unit.state = kind == StepKind::F && unit.recomputed ? State::Stashed
                                                          : stateAfter(kind);
      unit.changed = ref.index;
    } else {
      checkCopy(step, ref, unit);
      unit.place = stateAfter(kind);
      unit.moved = ref.index;
    }
  }

  template <typename Kind>
  void reportAfter(StepRef ref, Kind kind, uint32_t before) {
    StepRef earlier{ref.rank, before};
    auto diagnostic =
        reporter.report(ref, kind, reporter.text(reporter.step(earlier)));
    reporter.noteHere(diagnostic, earlier);
  }

  /// Checks a compute step. Errors that do not depend on an R or a copy are
  /// reported by the first check of the level.
  void checkUnit(Step step, StepRef ref, const Unit &unit) {
    if (step.kind() == StepKind::F)
      return;
    if (unit.state == State::Absent) {
      if (step.kind() == StepKind::R)
        (void)reporter.report(ref, diag::UnitAbsent);
      return;
    }
    if (unit.place != State::OnDevice)
      return reportAfter(ref, diag::UnitMoved, unit.moved);
    if (step.kind() != StepKind::R) {
      if (unit.state == State::Stashed)
        reportAfter(ref, diag::UnitDropped, unit.changed);
    } else if (unit.state == State::Saved) {
      reportAfter(ref, diag::UnitRemade, unit.changed);
    } else if (unit.state != State::Stashed) {
      reportAfter(ref, diag::UnitReleased, unit.changed);
    }
  }

  void checkCopy(Step step, StepRef ref, const Unit &unit) {
    if (step.kind() == StepKind::Offload) {
      if (unit.state == State::Absent)
        (void)reporter.report(ref, diag::UnitAbsent);
      else if (unit.state == State::Done)
        reportAfter(ref, diag::UnitReleased, unit.changed);
      else if (unit.place != State::OnDevice)
        reportAfter(ref, diag::UnitMoved, unit.moved);
    } else if (unit.place != stateBefore(step.kind())) {
      bool unfinished =
          step.kind() == StepKind::Reload && unit.place == State::Leaving;
      (void)reporter.report(ref, diag::CopyWithout,
                            stepKindName(unfinished ? StepKind::WaitOffload
                                                    : StepKind::Offload));
    }
  }

  /// Checks a REDUCE_GRAD, its wait or an UPDATE.
  void useGradients(Step step, StepRef ref) {
    if (isWait(step.kind()))
      return;
    const Placement &placement = schedule.placement;
    bool held = false;
    for (unsigned d = 0; d != placement.numDirections(); ++d)
      held |= placement.rankOf(step.stage(), d) == ref.rank;
    if (!held) {
      if (step.kind() == StepKind::Update)
        (void)reporter.report(ref, diag::StepOnWrongRank,
                              placement.rankOf(step.stage(), 0));
      return;
    }
    StepRef *update = updateOf(step.stage(), ref.rank);
    if (step.kind() != StepKind::Update)
      return checkNotUpdated(step.stage(), ref);
    if (update)
      return reportAfter(ref, diag::StepDoubled, update->index);
    updates[step.stage()].push_back(ref);
  }

  StepRef *updateOf(unsigned stage, unsigned rank) {
    for (StepRef &ref : updates[stage])
      if (ref.rank == rank)
        return &ref;
    return nullptr;
  }

  void checkNotUpdated(unsigned stage, StepRef ref) {
    if (StepRef *update = updateOf(stage, ref.rank))
      reportAfter(ref, diag::StepAfterUpdate, update->index);
  }

  /// If a stage has an UPDATE, all have one, on every rank that holds them.
  void checkAllUpdated() {
    auto updated = find_if(updates, [](const auto &of) { return !of.empty(); });
    if (updated == updates.end())
      return;
    const Placement &placement = schedule.placement;
    for (unsigned stage = 0; stage != schedule.numStages; ++stage)
      for (unsigned d = 0; d != placement.numDirections(); ++d) {
        unsigned rank = placement.rankOf(stage, d);
        if (!present.contains(rank) || updateOf(stage, rank))
          continue;
        reporter.failed = true;
        StepRef other = updated->front();
        auto diagnostic = diags.report(schedule.source, diag::UpdateMissing,
                                       stage, rank, updated - updates.begin());
        reporter.noteHere(diagnostic, other);
        return;
      }
  }

  const Schedule &schedule;
  const PresentRanks &present;
  DiagEngine &diags;
  Cells cells;
  StepReporter reporter;
  std::vector<Unit> units;
  /// By stage, its UPDATEs.
  std::vector<SmallVector<StepRef, 2>> updates;
};

} // namespace

LogicalResult verifyObjects(const Schedule &schedule, DiagEngine &diags,
                            const PresentRanks &present) {
  return ObjectScan(schedule, diags, present).run();
}

} // namespace pipec
