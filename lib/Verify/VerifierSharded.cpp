//===- VerifierSharded.cpp - The level sharded: FSDP actions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FSDP actions concern only one rank and its stages, so each list is checked
// separately. A stage is managed on a rank that has an UNSHARD or a RESHARD of
// it; the parameters of other stages are always available. The report first
// walks over the list to find the managed stages and the last action of each,
// then again with one state per stage. The fast scan counts instead of looking
// ahead: a REDUCE_GRAD follows the last weight gradient if the count does not
// increase after it.
//
// If a rank holds a stage in both directions of a bidirectional placement, it
// runs some micro-batches of each; its gradients are complete after the last
// weight gradient in its own list.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "Support/Diagnostics/VerifierDiags.h"

using namespace llvm;

namespace pipec {

namespace {

/// The (rank, stage) pairs of the placement on present ranks, in order.
using HeldStages = std::vector<std::pair<uint32_t, uint32_t>>;

HeldStages heldStages(const Schedule &schedule, const PresentRanks &present) {
  HeldStages held;
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    for (unsigned s = 0; s != schedule.numStages; ++s)
      if (unsigned rank = schedule.placement.rankOf(s, d);
          present.contains(rank))
        held.push_back({rank, s});
  llvm::sort(held);
  held.erase(std::unique(held.begin(), held.end()), held.end());
  return held;
}

//===----------------------------------------------------------------------===//
// The quick scan
//===----------------------------------------------------------------------===//

class ShardedScan {
public:
  ShardedScan(const Schedule &schedule, const HeldStages &held)
      : schedule(schedule), held(held), slotOf(schedule.numStages, foreign) {}

  bool isGood() {
    auto begin = held.begin();
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      auto end = std::find_if(begin, held.end(), [&](const auto &pair) {
        return pair.first != rank;
      });
      if (!isGood(schedule.ranks[rank], begin, end))
        return false;
      begin = end;
    }
    return true;
  }

private:
  using Iterator = HeldStages::const_iterator;
  /// The slot of steps on stages that the rank does not hold.
  static constexpr uint32_t foreign = 0;
  static constexpr uint64_t weight = uint64_t(1) << 32;

  struct State {
    /// The number of computes (low half) and weight gradients (high half).
    uint64_t counts = 0;
    uint64_t countsAtReduce = 0;
    bool sharded = false;
    bool unsharded = false;
    bool reduced = false;
  };

  /// Checks a list of a rank that holds the stages [begin, end).
  bool isGood(const StepList &list, Iterator begin, Iterator end) {
    states.assign(1 + (end - begin), State());
    for (auto it = begin; it != end; ++it)
      slotOf[it->second] = 1 + (it - begin);
    bool wrong = false;
    for (const Step &step : list) {
      static constexpr uint64_t counted[] = {1, 1 + weight, 1, 1 + weight,
                                             0, 0,          0, 0};
      State &state = states[slotOf[step.stage()]];
      unsigned kind = unsigned(step.kind());
      if (kind >= std::size(counted)) {
        wrong |= isFsdp(step.kind()) && !act(state, step);
        continue;
      }
      state.counts += counted[kind];
      wrong |= state.sharded & (counted[kind] != 0);
    }
    for (auto it = begin; it != end; ++it) {
      const State &state = states[slotOf[it->second]];
      bool owesReduce = !schedule.forwardOnly && schedule.reduces(it->second);
      wrong |= state.unsharded || (owesReduce && !state.reduced) ||
               (state.reduced &&
                (state.counts >> 32) != (state.countsAtReduce >> 32));
    }
    for (auto it = begin; it != end; ++it)
      slotOf[it->second] = foreign;
    return !wrong;
  }

  /// Applies an FSDP action. Returns false if it may be wrong.
  bool act(State &state, Step step) {
    bool good = &state != &states[foreign];
    switch (step.kind()) {
    case StepKind::Unshard:
      // The first action shows that the stage is managed, also before it.
      good &=
          !state.unsharded && (state.sharded || uint32_t(state.counts) == 0);
      state.unsharded = true;
      state.sharded = false;
      return good;
    case StepKind::Reshard:
      good &= state.unsharded;
      state.unsharded = false;
      state.sharded = true;
      return good;
    default:
      good &= !schedule.forwardOnly && !state.reduced && !state.sharded &&
              schedule.reduces(step.stage());
      state.reduced = true;
      state.countsAtReduce = state.counts;
      return good;
    }
  }

  const Schedule &schedule;
  const HeldStages &held;
  /// Indexed by stage, for the current rank.
  std::vector<uint32_t> slotOf;
  std::vector<State> states;
};

//===----------------------------------------------------------------------===//
// The messages
//===----------------------------------------------------------------------===//

class ShardedReport {
public:
  ShardedReport(const Schedule &schedule, const HeldStages &held,
                DiagEngine &diags)
      : schedule(schedule), diags(diags), reporter(schedule, diags),
        stages(schedule.numStages), held(held) {}

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
      if (!isCompute(step.kind()) && !isFsdp(step.kind()))
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
      if (isCompute(list[i].kind()) || isFsdp(list[i].kind()))
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
  const HeldStages &held;
};

} // namespace

LogicalResult verifySharded(const Schedule &schedule, DiagEngine &diags,
                            const PresentRanks &present) {
  HeldStages held = heldStages(schedule, present);
  if (ShardedScan(schedule, held).isGood())
    return success();
  return success(ShardedReport(schedule, held, diags).run());
}

} // namespace pipec
