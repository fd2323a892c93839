//===- InjectFsdp.cpp - Unsharding, resharding and reducing -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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
// With fully sharded data parallelism the parameters of a stage are gathered
// before they are used (UNSHARD), given back (RESHARD), and the gradients are
// reduced over the replicas once all micro-batches have added theirs
// (REDUCE_GRAD). The rule is PyTorch's `_add_unshard_reshard`: before each
// step, the stages that are resident are the first K distinct ones used from
// there on, where an overlap adds all of its stages before the count is looked
// at.
//
// PyTorch looks ahead from every step anew. Here the window that holds those K
// stages slides along: its end never moves back, since a window from a later
// step that ended earlier would hold fewer than K stages. A count of uses for
// each stage says when one enters and when one leaves, so each step is added
// and removed once, whatever K is:
//
//   K = 2    F0  F2  F4  F0      step F0 -> F2: s0 leaves the window, it has no
//           [------]             stage but s2, so it grows by F4 and s4 enters
//               [------]
//
// A stage that leaves and enters in one move (it is used again just behind the
// old end) stays resident.
//
// `prefetch=D` then only moves UNSHARDs, and only later: to directly before the
// D-th compute step ahead of the first use. They enter in the order of their
// first uses, so a queue of those that wait is enough.
//
// Needs: no FSDP steps. Ensures: level sharded; without its UNSHARDs the list
// is the same for every `prefetch`. Cost: linear in the steps for any window.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// What the pass does, options and the schedule's own settings put together.
struct Plan {
  /// By stage; whether it is unsharded and resharded at all.
  std::vector<bool> managed;
  unsigned maxActive = 3;
  /// Nothing: as early as the window allows.
  std::optional<unsigned> prefetch;
};

/// Rewrites one rank after another.
class Injector {
public:
  Injector(Schedule &schedule, const Plan &plan)
      : schedule(schedule), plan(plan), stages(schedule.numStages) {
    for (unsigned stage = 0; stage != schedule.numStages; ++stage)
      stages[stage].managed = plan.managed[stage];
  }

  void run(unsigned rank);

private:
  /// What is known about one stage of the rank at hand.
  struct StageState {
    /// Uses inside the window.
    uint32_t inWindow = 0;
    /// Weight gradients still to come.
    uint32_t gradients = 0;
    bool managed = false;
    bool resident = false;
    SourceLoc lastUse;
  };
  /// An UNSHARD that waits for its place.
  struct Unshard {
    Step step;
    /// The number of the compute step that uses the stage first.
    uint64_t use;
  };
  struct Added {
    size_t before;
    Step step;
  };

  void growWindow(const StepList &list);
  void leaveWindow(const StepList &list, size_t begin, size_t end);
  void giveBack(size_t before, unsigned phase);
  void takeDue(size_t before);
  /// Puts a step before the one of that index, behind those put there already.
  void put(size_t before, Step step) { added.push_back({before, step}); }
  template <typename T, typename Make>
  static std::vector<T> merge(const std::vector<T> &list, ArrayRef<Added> added,
                              Make make);

  Schedule &schedule;
  const Plan &plan;
  std::vector<StageState> stages;

  /// The window is [the step at hand, windowEnd); `windowUse` is the number of
  /// the first compute step behind it.
  size_t windowEnd = 0;
  uint64_t windowUse = 0;
  unsigned distinct = 0;
  /// The number of the compute step at hand.
  uint64_t use = 0;
  /// Stages that left the window with the step before.
  std::vector<unsigned> left;
  std::vector<Unshard> waiting;
  size_t firstWaiting = 0;

  /// The new steps, in order.
  std::vector<Added> added;
};

} // namespace

// Takes groups of compute steps into the window until it has enough stages.
void Injector::growWindow(const StepList &list) {
  while (distinct < plan.maxActive && windowEnd != list.size()) {
    size_t end = Schedule::groupEnd(list, windowEnd);
    bool computes = isCompute(list[windowEnd].kind());
    for (; windowEnd != end; ++windowEnd) {
      Step step = list[windowEnd];
      StageState &stage = stages[step.stage()];
      if (!computes || !stage.managed || stage.inWindow++ != 0)
        continue;
      ++distinct;
      if (stage.resident)
        continue;
      stage.resident = true;
      waiting.push_back({Step(StepKind::Unshard, step.stage(), 0, step.phase(),
                              step.source()),
                         windowUse});
    }
    windowUse += computes;
  }
}

void Injector::leaveWindow(const StepList &list, size_t begin, size_t end) {
  for (size_t i = begin; i != end; ++i) {
    StageState &stage = stages[list[i].stage()];
    if (!stage.managed)
      continue;
    stage.lastUse = list[i].source();
    if (--stage.inWindow == 0) {
      --distinct;
      left.push_back(list[i].stage());
    }
  }
}

// Reshards the stages that left the window and did not come back.
void Injector::giveBack(size_t before, unsigned phase) {
  llvm::sort(left);
  left.erase(llvm::unique(left), left.end());
  for (unsigned stage : left) {
    StageState &state = stages[stage];
    if (state.inWindow != 0)
      continue;
    state.resident = false;
    put(before, Step(StepKind::Reshard, stage, 0, phase, state.lastUse));
  }
  left.clear();
}

// Puts the UNSHARDs that belong directly before the compute step at hand.
void Injector::takeDue(size_t before) {
  while (firstWaiting != waiting.size() &&
         (!plan.prefetch || waiting[firstWaiting].use <= use + *plan.prefetch))
    put(before, waiting[firstWaiting++].step);
  if (firstWaiting == waiting.size()) {
    waiting.clear();
    firstWaiting = 0;
  }
}

/// `list` with what `make` gives for each of `added` in its place; as long as
/// it has to be.
template <typename T, typename Make>
std::vector<T> Injector::merge(const std::vector<T> &list,
                               ArrayRef<Added> added, Make make) {
  std::vector<T> result;
  result.reserve(list.size() + added.size());
  auto next = list.begin();
  for (const Added &one : added) {
    result.insert(result.end(), next, list.begin() + one.before);
    next = list.begin() + one.before;
    result.push_back(make(one));
  }
  result.insert(result.end(), next, list.end());
  return result;
}

void Injector::run(unsigned rank) {
  StepList &list = schedule.ranks[rank];
  for (Step step : list)
    stages[step.stage()].gradients += makesWeightGradient(step.kind());
  windowEnd = windowUse = use = 0;
  added.clear();
  unsigned phase = 0;

  for (size_t begin = 0; begin != list.size();) {
    size_t end = Schedule::groupEnd(list, begin);
    bool computes = isCompute(list[begin].kind());
    if (computes) {
      phase = list[begin].phase();
      growWindow(list);
      giveBack(begin, phase);
      takeDue(begin);
      for (size_t i = begin; i != end; ++i)
        if (makesWeightGradient(list[i].kind()) &&
            --stages[list[i].stage()].gradients == 0)
          put(end, Step(StepKind::ReduceGrad, list[i].stage(), 0, phase,
                        list[i].source()));
      leaveWindow(list, begin, end);
      ++use;
    } else {
      // The window may stand at what it does not count.
      windowEnd = std::max(windowEnd, end);
    }
    begin = end;
  }
  giveBack(list.size(), phase);

  list = merge(list, added, [](const Added &one) { return one.step; });
  if (!schedule.times.empty())
    schedule.times[rank] =
        merge(schedule.times[rank], added,
              [](const Added &) -> std::optional<Rational> { return {}; });
}

namespace {

class InjectFsdp : public Pass {
public:
  explicit InjectFsdp(const InjectFsdpOptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (options.when == FsdpWhen::Declared && !schedule.fsdp)
      return success();
    if (options.existing == IfThere::Keep && schedule.hasFsdp())
      return success();
    if (failed(checkNoFsdp(schedule, "inject-fsdp", diags)))
      return failure();
    Plan plan;
    if (failed(makePlan(schedule, plan, diags)))
      return failure();
    Injector injector(schedule, plan);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      injector.run(rank);
    return success();
  }

private:
  LogicalResult makePlan(const Schedule &schedule, Plan &plan,
                         DiagEngine &diags) const {
    FsdpSettings settings = schedule.fsdp.value_or(FsdpSettings());
    if (options.maxActive)
      settings.maxActive = options.maxActive->value;
    if (options.prefetch)
      settings.prefetch = options.prefetch->value;
    if (options.stages)
      settings.stages = options.stages->value;

    plan.maxActive = settings.maxActive.value_or(plan.maxActive);
    plan.prefetch = settings.prefetch;
    plan.managed.assign(schedule.numStages, !settings.stages);
    if (settings.stages)
      for (unsigned stage : *settings.stages) {
        if (stage >= schedule.numStages)
          return diags.report(schedule.source, diag::FsdpNoSuchStage, stage,
                              schedule.numStages);
        plan.managed[stage] = true;
      }
    return success();
  }

  InjectFsdpOptions options;
};

} // namespace

std::unique_ptr<Pass> makeInjectFsdp(const InjectFsdpOptions &options) {
  return std::make_unique<InjectFsdp>(options);
}

} // namespace pipec
