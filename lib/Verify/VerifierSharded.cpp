//===- VerifierSharded.cpp - The level sharded: FSDP actions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FSDP actions concern only one rank and its stages, so each list is checked
// separately. A stage is managed on a rank that has an UNSHARD or a RESHARD of
// it; the parameters of other stages are always whole. The report first walks
// over the list to find the managed stages and the last action of each, then
// again with one state per stage.
//
// If a rank holds a stage in both directions of a bidirectional placement, it
// runs some micro-batches of each; its gradients are complete after the last
// weight gradient in its own list.
//
// Waits follow PyTorch 2.15: a list with waits for reductions has exactly one
// after each reduction, and a rank has at most one pending reduction. A list
// without waits is valid: its rank waits at the end.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "Support/Diagnostics/VerifierDiags.h"

using namespace llvm;

namespace pipec {

namespace {

class ShardedReport {
public:
  ShardedReport(const Schedule &schedule, HeldStages held, DiagEngine &diags)
      : schedule(schedule), diags(diags), reporter(schedule, diags),
        stages(schedule.numStages), held(std::move(held)) {}

  /// Returns true if no error was reported.
  bool run() {
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank)
      runRank(rank);
    return !reporter.failed;
  }

private:
  static constexpr uint32_t nowhere = ~0u;

  /// The state of a stage on the current rank.
  struct Stage {
    uint32_t rank = nowhere; // the rank that the rest applies to
    bool managed = false;
    bool unsharded = false;
    bool reported = false;
    uint32_t firstReduce = nowhere;
    uint32_t lastReshard = nowhere;
    uint32_t lastUnshard = nowhere;
    uint32_t lastWeight = nowhere;
  };

  Stage &stageOf(uint32_t rank, unsigned stage) {
    Stage &state = stages[stage];
    if (state.rank != rank) {
      state = Stage();
      state.rank = rank;
    }
    return state;
  }

  void runRank(uint32_t rank) {
    const StepList &list = schedule.ranks[rank];
    for (uint32_t i = 0; i != list.size(); ++i) {
      Step step = list[i];
      if (!isCompute(step.kind()) && step.stream() != Stream::Gather)
        continue;
      Stage &stage = stageOf(rank, step.stage());
      if (makesWeightGradient(step.kind()) && isCompute(step.kind())) {
        stage.lastWeight = i;
      } else if (step.kind() == StepKind::Unshard) {
        stage.managed = true;
      } else if (step.kind() == StepKind::Reshard) {
        stage.managed = true;
        stage.lastReshard = i;
      }
    }
    for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i)
      if (computesUnit(list[i].kind()) || list[i].stream() == Stream::Gather)
        play(list[i], {rank, i});
    close(rank);
  }

  bool holds(uint32_t rank, unsigned stage) const {
    return std::binary_search(held.begin(), held.end(), std::pair(rank, stage));
  }

  void play(Step step, StepRef ref) {
    Stage &stage = stages[step.stage()];
    if (isCompute(step.kind())) {
      // Report each stretch of the list without parameters once.
      if (stage.managed && !stage.unsharded && !stage.reported) {
        (void)reporter.report(ref, diag::ComputeOnSharded);
        stage.reported = true;
      }
      return;
    }
    if (!holds(ref.rank, step.stage())) {
      (void)reporter.report(ref, diag::ShardOnWrongRank);
      return;
    }
    stage.reported = false;
    switch (step.kind()) {
    case StepKind::Unshard:
      if (stage.unsharded) {
        auto diagnostic = reporter.report(ref, diag::UnshardTwice);
        reporter.noteHere(diagnostic, {ref.rank, stage.lastUnshard});
      }
      stage.unsharded = true;
      stage.lastUnshard = ref.index;
      return;
    case StepKind::Reshard:
      if (!stage.unsharded)
        (void)reporter.report(ref, diag::ReshardTwice);
      stage.unsharded = false;
      return;
    case StepKind::ReduceGrad:
      reduce(stage, ref);
      return;
    default:
      return;
    }
  }

  void reduce(Stage &stage, StepRef ref) {
    if (schedule.forwardOnly) {
      (void)reporter.report(ref, diag::StepNotForward);
      return;
    }
    if (stage.firstReduce != nowhere) {
      auto diagnostic = reporter.report(ref, diag::ReduceGradDoubled);
      reporter.noteHere(diagnostic, {ref.rank, stage.firstReduce});
      return;
    }
    stage.firstReduce = ref.index;
    if (!schedule.reduces(reporter.step(ref).stage()))
      (void)reporter.report(ref, diag::ReduceGradExcluded);
    if (stage.lastWeight != nowhere && stage.lastWeight > ref.index) {
      auto diagnostic = reporter.report(ref, diag::ReduceGradEarly);
      reporter.noteHere(diagnostic, {ref.rank, stage.lastWeight});
    }
    // A stage that is left unsharded is reported at the end.
    if (stage.lastReshard != nowhere && stage.lastReshard < ref.index &&
        !stage.unsharded) {
      auto diagnostic = reporter.report(ref, diag::ReduceGradLate);
      reporter.noteHere(diagnostic, {ref.rank, stage.lastReshard});
    }
  }

  /// Checks the conditions at the end of the list of `rank`.
  void close(uint32_t rank) {
    auto begin = llvm::lower_bound(held, std::pair(rank, 0u));
    for (auto it = begin; it != held.end() && it->first == rank; ++it) {
      if (reporter.full())
        return;
      Stage &stage = stageOf(rank, it->second);
      if (stage.unsharded)
        (void)reporter.report({rank, stage.lastUnshard}, diag::UnshardLeftOpen);
      if (schedule.forwardOnly || stage.firstReduce != nowhere ||
          !schedule.reduces(it->second))
        continue;
      reporter.failed = true;
      auto diagnostic = diags.report(schedule.source, diag::ReduceGradMissing,
                                     rank, it->second);
      if (stage.lastWeight != nowhere) {
        StepRef last{rank, stage.lastWeight};
        diagnostic.note(reporter.step(last).source(), diag::NoteLastStep,
                        reporter.name(last));
      }
    }
  }

  const Schedule &schedule;
  DiagEngine &diags;
  StepReporter reporter;
  std::vector<Stage> stages;
  HeldStages held;
};

} // namespace

/// Reports the errors of waits for reductions.
static LogicalResult reportReduceWaits(const Schedule &schedule,
                                       DiagEngine &diags) {
  StepReporter reporter(schedule, diags);
  for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    // More than one only in an invalid list.
    llvm::SmallVector<StepRef, 2> pending;
    for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i) {
      StepRef ref{rank, i};
      if (list[i].kind() == StepKind::ReduceGrad) {
        if (!pending.empty()) {
          StepRef before = pending.back();
          auto diagnostic = reporter.report(ref, diag::ReducePendingTwice,
                                            reporter.step(before).stage());
          reporter.noteHere(diagnostic, before);
        }
        pending.push_back(ref);
      } else if (list[i].kind() == StepKind::WaitReduceGrad) {
        auto *awaited = find_if(pending, [&](StepRef reduction) {
          return reporter.step(reduction).stage() == list[i].stage();
        });
        if (awaited != pending.end()) {
          pending.erase(awaited);
          continue;
        }
        auto diagnostic = reporter.report(
            ref, diag::ReduceWaitEarly,
            reporter.text(Step(StepKind::ReduceGrad, list[i].stage(), 0)));
        if (!pending.empty())
          reporter.noteHere(diagnostic, pending.back());
      }
    }
    for (StepRef reduction : pending)
      if (!reporter.full())
        (void)reporter.report(
            reduction, diag::ReduceWaitMissing,
            reporter.text(Step(StepKind::WaitReduceGrad,
                               reporter.step(reduction).stage(), 0)));
  }
  return success(!reporter.failed);
}

LogicalResult verifySharded(const Schedule &schedule, const StateScan &scan,
                            DiagEngine &diags, const PresentRanks &present) {
  bool good =
      scan.shards ||
      ShardedReport(schedule, heldStages(schedule, present), diags).run();
  if (step_facts::has(scan.kinds, StepKind::WaitReduceGrad) && !scan.waits)
    good &= succeeded(reportReduceWaits(schedule, diags));
  return success(good);
}

} // namespace pipec
