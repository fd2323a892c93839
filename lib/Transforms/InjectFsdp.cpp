//===- InjectFsdp.cpp - Adding FSDP actions -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   F s0 m0                  UNSHARD s0
//   F s2 m0                  UNSHARD s2
//   B s2 m0                  F s0 m0
//   B s0 m0                  F s2 m0
//                    ->      B s2 m0
//                            REDUCE_GRAD s2
//                            B s0 m0
//                            REDUCE_GRAD s0
//                            RESHARD s0
//                            RESHARD s2
//
// With fully sharded data parallelism, the parameters of a stage are gathered
// before they are used (UNSHARD) and freed afterwards (RESHARD), and the
// gradients are reduced over the replicas once all micro-batches have
// contributed (REDUCE_GRAD). This is the rule of PyTorch's
// `_add_unshard_reshard`: before each step, the resident stages are the first K
// distinct ones used from this step on, where an overlap adds all of its stages
// before the count is compared.
//
// PyTorch looks ahead from every step separately. Here, a sliding window
// contains those K stages: its end never moves back, since a window from a
// later step that ended earlier would contain fewer than K stages. A use count
// per stage determines when it enters and leaves the window, so each step is
// added and removed once, for any K:
//
//   K = 2    F0  F2  F4  F0      step F0 -> F2: s0 leaves the window, it has no
//           [------]             stage but s2, so it grows by F4 and s4 enters
//               [------]
//
// A stage that leaves and enters in one move (because it is used again just
// after the old end) stays resident.
//
// `unshard-lookahead` is a second window inside the first, with its own number
// of stages: a stage that is not resident is unsharded when it enters this
// window, and resharded when it leaves the first one. A stage leaves a window
// when it is used, so it was in both windows before.
//
// `prefetch=D` only moves UNSHARDs, and only later: to directly before the D-th
// compute step ahead of the first use. They enter in the order of first use, so
// the pending ones form a queue.
//
// If there are transfers between two compute steps, all new steps are inserted
// directly after the first compute step. Then a RESHARD does not wait for a
// receive, and gathers overlap with receives.
//
//===----------------------------------------------------------------------===//

#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Reductions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// The compute steps, from the current one on, that use the next few distinct
/// managed stages.
class StageWindow {
public:
  explicit StageWindow(const std::vector<bool> &managed)
      : managed(managed), uses(managed.size()) {}

  /// Starts a list. The window is empty at the end of the previous list.
  void restart() { end = use = 0; }
  bool holds(unsigned stage) const { return uses[stage] != 0; }
  /// Adds groups of compute steps until there are `count` stages. Calls `enter`
  /// with the first step of each new stage and the number of its group.
  template <typename Enter>
  void grow(const StepList &list, unsigned count, Enter enter) {
    while (distinct < count && end != list.size()) {
      size_t last = Schedule::groupEnd(list, end);
      bool computes = isCompute(list[end].kind());
      for (; end != last; ++end) {
        unsigned stage = list[end].stage();
        if (!computes || !managed[stage] || uses[stage]++ != 0)
          continue;
        ++distinct;
        enter(list[end], use);
      }
      use += computes;
    }
  }
  /// Removes the group [first, last). Calls `leave` with the stages that the
  /// rest of the window does not use.
  template <typename Leave>
  void pass(const StepList &list, size_t first, size_t last, Leave leave) {
    for (size_t i = first; i != last; ++i) {
      // A stage that is not managed has no uses.
      unsigned stage = list[i].stage();
      if (uses[stage] == 0 || --uses[stage] != 0)
        continue;
      --distinct;
      leave(stage);
    }
  }

private:
  const std::vector<bool> &managed;
  /// By stage, the number of its steps in the window.
  std::vector<uint32_t> uses;
  unsigned distinct = 0;
  /// The index after the window, and the number of the first group of compute
  /// steps there.
  size_t end = 0;
  uint64_t use = 0;
};

/// The combined options of the pass and settings of the schedule.
struct Plan {
  /// By stage: true if it is unsharded and resharded.
  std::vector<bool> managed;
  unsigned maxActive = 3;
  /// By rank: how many distinct stages ahead it gathers, from 1 to maxActive.
  std::vector<unsigned> lookahead;
  /// Nothing: as early as the lookahead allows.
  std::optional<unsigned> prefetch;
  ReduceWait wait = ReduceWait::None;
};

/// Rewrites the lists of the ranks one by one.
class Injector {
public:
  Injector(Schedule &schedule, const Plan &plan)
      : schedule(schedule), plan(plan), stages(schedule.numStages),
        resident(plan.managed), fetched(plan.managed) {}

  void run(unsigned rank);

private:
  /// The state of one stage on the current rank.
  struct StageState {
    /// The number of remaining weight gradients.
    uint32_t gradients = 0;
    bool unsharded = false;
    SourceLoc lastUse;
  };
  /// An UNSHARD that is still to be inserted.
  struct Unshard {
    Step step;
    /// The number of the compute step with the first use of the stage.
    uint64_t use;
  };
  /// True if the gathered stages are the resident ones.
  bool oneWindow(unsigned rank) const {
    return plan.lookahead[rank] == plan.maxActive;
  }
  void growWindows(const StepList &list, size_t before, unsigned rank,
                   unsigned phase);
  void giveBack(size_t before, unsigned phase);
  void takeDue(size_t before);
  /// Inserts a step before the one at this index, after those already inserted
  /// there.
  void put(size_t before, Step step) { added.push_back({before, step}); }

  Schedule &schedule;
  const Plan &plan;
  std::vector<StageState> stages;

  /// The window of stages that stay resident, and that of stages that are
  /// gathered.
  StageWindow resident, fetched;
  /// The number of the current compute step.
  uint64_t use = 0;
  /// The stages that left `resident` with the previous step.
  std::vector<unsigned> left;
  std::vector<Unshard> waiting;
  size_t firstWaiting = 0;

  /// The new steps, in order.
  std::vector<AddedStep> added;
};

} // namespace

void Injector::growWindows(const StepList &list, size_t before, unsigned rank,
                           unsigned phase) {
  auto gather = [&](Step step, uint64_t firstUse) {
    StageState &stage = stages[step.stage()];
    if (stage.unsharded)
      return;
    stage.unsharded = true;
    waiting.push_back(
        {Step(StepKind::Unshard, step.stage(), 0, step.phase(), step.source()),
         firstUse});
  };
  if (oneWindow(rank)) {
    resident.grow(list, plan.maxActive, gather);
    giveBack(before, phase);
  } else {
    resident.grow(list, plan.maxActive, [](Step, uint64_t) {});
    giveBack(before, phase);
    fetched.grow(list, plan.lookahead[rank], gather);
  }
  takeDue(before);
}

// Reshards the stages that left the window and did not re-enter it.
void Injector::giveBack(size_t before, unsigned phase) {
  llvm::sort(left);
  left.erase(llvm::unique(left), left.end());
  for (unsigned stage : left) {
    StageState &state = stages[stage];
    if (resident.holds(stage))
      continue;
    state.unsharded = false;
    put(before, Step(StepKind::Reshard, stage, 0, phase, state.lastUse));
  }
  left.clear();
}

// Inserts the UNSHARDs that are due directly before the current compute step.
void Injector::takeDue(size_t before) {
  while (firstWaiting != waiting.size() &&
         (!plan.prefetch || waiting[firstWaiting].use <= use + *plan.prefetch))
    put(before, waiting[firstWaiting++].step);
  if (firstWaiting == waiting.size()) {
    waiting.clear();
    firstWaiting = 0;
  }
}

void Injector::run(unsigned rank) {
  StepList &list = schedule.ranks[rank];
  for (Step step : list)
    stages[step.stage()].gradients += makesWeightGradient(step.kind());
  resident.restart();
  fetched.restart();
  use = 0;
  added.clear();
  Reductions reductions(plan.wait, added);
  unsigned phase = 0;
  // The index after the previous compute step, and whether a transfer is
  // between it and the current one.
  size_t after = 0;
  bool transfers = false;

  for (size_t begin = 0; begin != list.size();) {
    size_t end = Schedule::groupEnd(list, begin);
    StepKind kind = list[begin].kind();
    if (isCompute(kind)) {
      phase = list[begin].phase();
      growWindows(list, transfers ? after : begin, rank, phase);
      for (size_t i = begin; i != end; ++i) {
        StageState &stage = stages[list[i].stage()];
        stage.lastUse = list[i].source();
        if (makesWeightGradient(list[i].kind()) && --stage.gradients == 0 &&
            schedule.reduces(list[i].stage()))
          reductions.reduce(end, list[i]);
      }
      resident.pass(list, begin, end,
                    [&](unsigned stage) { left.push_back(stage); });
      if (!oneWindow(rank))
        fetched.pass(list, begin, end, [](unsigned) {});
      ++use;
      after = end;
      transfers = false;
    } else {
      transfers |= kind != StepKind::Bubble;
    }
    begin = end;
  }
  giveBack(transfers ? after : list.size(), phase);
  reductions.wait(list.size());
  insertSteps(schedule, rank, added);
}

static LogicalResult resolveLookahead(const Schedule &schedule,
                                      const UnshardLookahead &asked, Plan &plan,
                                      DiagEngine &diags) {
  plan.lookahead.assign(schedule.numRanks, plan.maxActive);
  if (!asked.value) {
    if (asked.choice == LookaheadPolicy::Auto)
      for (auto [rank, ahead] : enumerate(plan.lookahead))
        ahead = std::min<unsigned>(rank + 2, plan.maxActive);
    return success();
  }
  if (asked.value->size() != schedule.numRanks)
    return diags.report(schedule.source, diag::FsdpLookaheadRanks,
                        asked.value->size(), schedule.numRanks);
  for (auto [rank, ahead] : enumerate(*asked.value))
    if (ahead == 0 || ahead > plan.maxActive)
      return diags.report(schedule.source, diag::FsdpLookaheadRange, ahead,
                          rank, plan.maxActive);
  plan.lookahead = *asked.value;
  return success();
}

static LogicalResult makePlan(const Schedule &schedule,
                              const InjectFsdpOptions &options, Plan &plan,
                              DiagEngine &diags) {
  FsdpSettings settings = schedule.fsdp.value_or(FsdpSettings());
  if (options.maxActive)
    settings.maxActive = options.maxActive->value;
  if (options.prefetch)
    settings.prefetch = options.prefetch->value;
  if (options.stages)
    settings.stages = options.stages->value;

  plan.maxActive = settings.maxActive.value_or(plan.maxActive);
  plan.prefetch = settings.prefetch;
  plan.wait = options.wait;
  plan.managed.assign(schedule.numStages, !settings.stages);
  if (settings.stages)
    for (unsigned stage : *settings.stages) {
      if (stage >= schedule.numStages)
        return diags.report(schedule.source, diag::FsdpNoSuchStage, stage,
                            schedule.numStages);
      plan.managed[stage] = true;
    }
  return resolveLookahead(schedule, options.lookahead, plan, diags);
}

LogicalResult runInjectFsdp(Schedule &schedule,
                            const InjectFsdpOptions &options,
                            DiagEngine &diags) {
  if (options.when == FsdpWhen::Declared && !schedule.fsdp)
    return success();
  if (schedule.hasFsdp())
    return options.existing == IfThere::Keep
               ? success()
               : checkNone(schedule, Stream::Gather, "inject-fsdp", diags);
  Plan plan;
  std::optional<std::vector<unsigned>> reduced;
  if (options.reduce)
    reduced = options.reduce->value;
  if (failed(checkNone(schedule, Stream::Tied, "inject-fsdp", diags)) ||
      failed(makePlan(schedule, options, plan, diags)) ||
      failed(checkStages(schedule, reduced, diags)))
    return failure();
  if (reduced) {
    if (!schedule.fsdp && options.stages)
      schedule.fsdp.emplace().stages = options.stages->value;
    else if (!schedule.fsdp)
      schedule.fsdp.emplace();
    schedule.fsdp->reduced = std::move(reduced);
  }
  Injector injector(schedule, plan);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    injector.run(rank);
  return success();
}

} // namespace pipec
