//===- ExecutorCopies.h - Copies and optimizer steps ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. The activation of a unit is on the device, on its way to
// the host (Leaving) or on the host; the first step that uses it waits for the
// copy back. A unit that is copied between its F and its R has a stash and no
// activation: the stash is copied if the model has functions for that, and
// otherwise it remains on the device.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORCOPIES_H
#define PIPEC_RUNTIME_EXECUTORCOPIES_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

/// OFFLOAD, WAIT_OFFLOAD and RELOAD.
template <class M, class T>
void Executor<M, T>::copy(StepKind kind, int stage, int unit) {
  Cell &cell = enter(kind, stage, unit).cells[unit];
  bool leaves = kind == StepKind::Offload;
  unsigned from = leaves                          ? 0
                  : kind == StepKind::WaitOffload ? unsigned(Leaving)
                                                  : unsigned(OnHost);
  if ((cell.flags & (Leaving | OnHost)) != from) [[unlikely]]
    failStep(kind, stage, unit,
             leaves ? "runs while it is not on the device"
             : kind == StepKind::WaitOffload ? "comes before its OFFLOAD"
                                             : "comes before its WAIT_OFFLOAD");
  if (leaves && !(cell.flags & ForwardDone)) [[unlikely]]
    failStep(kind, stage, unit, "comes before its F");
  if (leaves && ((cell.flags & WeightDone) || schedule->forwardOnly))
      [[unlikely]]
    failStep(kind, stage, unit, "comes after the last step that uses it");
  if (leaves) {
    useKept(kind, stage, unit, cell);
    cell.copies = copies.acquire();
    cell.flags |= Leaving;
  } else if (kind == StepKind::WaitOffload) {
    cell.flags ^= Leaving | OnHost;
  } else {
    cell.flags &= ~unsigned(OnHost);
    countKept(cell.kept ? 1 : 0);
  }

  std::size_t index = 0;
  if (options.trace) [[unlikely]]
    index = record(kind == StepKind::WaitOffload ? RankState::Waiting
                                                 : RankState::Running,
                   kind, stage, unit);
  Context step = contextOf(Step{kind, stage, unit});
  step.kept = cell.kept;
  step.stash = cell.kept ? nullptr : cell.stash;
  waitForUses(rankStream, cell.kept);
  waitForUses(rankStream, cell.stash);
  static constexpr typename Context::Actions actions = {
      proceedCopy, isReady, doNothing, doNothing, doNothing};
  if (handled[int(kind)]) [[unlikely]]
    takeOver(step, actions);
  else
    proceedCopy(this, step);
  if (options.trace) [[unlikely]]
    options.trace->end(index);

  if (kind == StepKind::WaitOffload) {
    if constexpr (ModelCopies<M>)
      cell.copies->out.reset();
    countKept(cell.kept ? -1 : 0);
  }
}

template <class M, class T>
void Executor<M, T>::proceedCopy(void *executor, Context &step) {
  Executor &self = *static_cast<Executor *>(executor);
  if constexpr (!ModelCopies<M>) {
    self.fail<RefusedError>("the schedule copies activations to the host, and "
                            "the model has no offload(" +
                            placeText() + "Activation &kept) and reload");
  } else {
    Copies &copies = *self.find(step.stage, step.unit)->copies;
    [[maybe_unused]] auto start = [&](auto &kept) {
      self.withSlice(step.unit, [&](int microbatch, auto... slice) {
        if (step.kind == StepKind::Offload)
          copies.out.emplace(
              self.model.offload(step.stage, microbatch, slice..., kept));
        else
          copies.in.emplace(
              self.model.reload(step.stage, microbatch, slice..., kept));
      });
    };
    if (step.kind == StepKind::WaitOffload) {
      // Empty where a handler has made the copy itself.
      if (copies.out)
        copies.out->wait();
    } else if (step.kept) {
      start(*step.kept);
    } else if constexpr (ModelStashCopies<M>) {
      start(*step.stash);
    }
  }
}

/// Before a step that uses the activation or the stash of a unit, which must be
/// on the device, or on its way there.
template <class M, class T>
void Executor<M, T>::useKept(StepKind kind, int stage, int unit, Cell &cell) {
  if (cell.flags & (Leaving | OnHost)) [[unlikely]]
    failStep(kind, stage, unit,
             "runs while what is kept for it is not on the device");
  if (!cell.copies) [[likely]]
    return;
  if constexpr (ModelCopies<M>) {
    if (cell.copies->in)
      cell.copies->in->wait();
    cell.copies->in.reset();
  }
  copies.release(cell.copies);
  cell.copies = nullptr;
}

//===----------------------------------------------------------------------===//
// UPDATE
//===----------------------------------------------------------------------===//

/// Gradients that several ranks share are summed at the end of the run, and the
/// steps that need these sums run after that.
template <class M, class T> void Executor<M, T>::update(int stage) {
  StageBooks &state = enterFsdp(StepKind::Update, stage);
  std::string name = "UPDATE s" + std::to_string(stage);
  if (!schedule->updates)
    fail(name + " runs in a schedule whose updates is false");
  if (state.updated)
    fail(name + " comes twice");
  if (state.weights != state.expected)
    fail(name + " comes after " + std::to_string(state.weights) + " of " +
         std::to_string(state.expected) + " weight gradients");
  if (reduces(stage) && !state.reduced)
    fail(name + " comes before its REDUCE_GRAD");
  bool deferred =
      schedule->directions == 2 &&
      schedule->rankOfStage[stage] != schedule->rankOfStage[numStages + stage];
  for (int group = 0; group != int(schedule->ties.size()); ++group) {
    std::span<const int> stages = schedule->ties[std::size_t(group)];
    if (std::find(stages.begin(), stages.end(), stage) == stages.end())
      continue;
    if (std::find(tied.begin(), tied.end(), group) == tied.end())
      fail(name + " comes before " + stepText(StepKind::ReduceTied, group, 0));
    deferred |=
        std::find(unsummed.begin(), unsummed.end(), group) != unsummed.end();
  }
  state.updated = true;
  // A WAIT_REDUCE_GRAD after this has nothing left to wait for.
  if constexpr (ModelReductions<M>)
    if (state.reduction) {
      state.reduction->wait();
      state.reduction.reset();
    }
  if (deferred)
    laterUpdates.push_back(stage);
  else
    fsdp(StepKind::Update, stage);
}

/// At the end of the run, when all gradients are sums over all ranks.
template <class M, class T> void Executor<M, T>::runLaterUpdates() {
  for (int stage : laterUpdates) {
    publish(RankState::Running, StepKind::Update, stage, 0);
    fsdp(StepKind::Update, stage);
  }
}

//===----------------------------------------------------------------------===//
// Functions that a schedule requires of a model
//===----------------------------------------------------------------------===//

// Generated code calls these with its worker, for a schedule with an R, with
// copies or with optimizer steps: where that is an executor whose model lacks
// a function for them, the program does not compile.

/// An executor must be able to run a forward again.
template <class Worker> constexpr void needRecompute(Worker &worker) {
  if constexpr (requires { worker.copyInputs(); })
    worker.copyInputs();
}

/// A model must copy activations to the host and back.
template <class Worker> constexpr void needCopies(const Worker &) {}
template <class M, class T> constexpr void needCopies(const Executor<M, T> &) {
  static_assert(
      ModelCopies<M> || ModelSlices<M>,
      "pipec: the schedule has OFFLOAD and RELOAD steps, so the model must "
      "have offload(int stage, int microbatch, Activation &kept) and "
      "reload(int stage, int microbatch, Activation &kept), which return an "
      "object with wait()");
  static_assert(
      ModelCopies<M> || !ModelSlices<M>,
      "pipec: the schedule has OFFLOAD and RELOAD steps, so the model must "
      "have offload(int stage, int microbatch, int slice, Activation &kept) "
      "and reload(int stage, int microbatch, int slice, Activation &kept), "
      "which return an object with wait()");
}

/// A model must have an optimizer step for each stage.
template <class Worker> constexpr void needUpdates(const Worker &) {}
template <class M, class T> constexpr void needUpdates(const Executor<M, T> &) {
  static_assert(ModelUpdates<M>, "pipec: the schedule has UPDATE steps, so the "
                                 "model must have update(int stage)");
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORCOPIES_H
