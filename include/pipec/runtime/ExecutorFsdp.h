//===- ExecutorFsdp.h - FSDP actions ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. When the model's `reduceGrad` returns an object with a
// `wait()`, the executor calls that at WAIT_REDUCE_GRAD, and in a schedule
// without these directly after `reduceGrad`.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORFSDP_H
#define PIPEC_RUNTIME_EXECUTORFSDP_H

#include "pipec/runtime/Executor.h"

#include <utility>

namespace pipec::runtime {

template <class M, class T>
auto Executor<M, T>::enterFsdp(StepKind kind, int stage) -> StageBooks & {
  publish(RankState::Running, kind, stage, 0);
  if (StageBooks *own = booksOf(stage))
    return *own;
  failStep(kind, stage, 0, "does not belong on this rank");
}

template <class M, class T>
auto Executor<M, T>::booksOf(int stage) -> StageBooks * {
  for (StageBooks &one : books)
    if (one.stage == stage)
      return &one;
  return nullptr;
}

template <class M, class T>
void Executor<M, T>::proceedFsdp(void *executor, Context &step) {
  Executor &self = *static_cast<Executor *>(executor);
  M &model = self.model;
  (void)model;
  if (step.kind == StepKind::Unshard) {
    if constexpr (requires { model.unshard(step.stage); })
      model.unshard(step.stage);
  } else if (step.kind == StepKind::Reshard) {
    if constexpr (requires { model.reshard(step.stage); })
      model.reshard(step.stage);
  } else if (step.kind == StepKind::ReduceGrad) {
    if constexpr (ModelReductions<M>) {
      Reduction reduction = model.reduceGrad(step.stage);
      if (self.schedule->waitsForReductions)
        self.booksOf(step.stage)->reduction.emplace(std::move(reduction));
      else
        reduction.wait();
    } else if constexpr (requires { model.reduceGrad(step.stage); }) {
      model.reduceGrad(step.stage);
    }
  } else if (step.kind == StepKind::Update) {
    if constexpr (ModelUpdates<M>)
      model.update(step.stage);
    else
      self.fail<RefusedError>("the schedule has UPDATE steps, and the model "
                              "has no update(int stage)");
  } else {
    // A handler may have done the reduction itself.
    if constexpr (ModelReductions<M>)
      if (std::optional<Reduction> &started =
              self.booksOf(step.stage)->reduction)
        started->wait();
  }
}

template <class M, class T>
void Executor<M, T>::fsdp(StepKind kind, int stage) {
  Context step = contextOf(Step{kind, stage, 0});
  if constexpr (ModelEvents<M>)
    waitForUses(rankStream, booksOf(stage));
  std::size_t index = 0;
  if (options.trace)
    index = record(RankState::Running, kind, stage, 0);
  static constexpr typename Context::Actions actions = {
      proceedFsdp, isReady, doNothing, doNothing, doNothing};
  if (handled[int(kind)])
    takeOver(step, actions);
  else
    proceedFsdp(this, step);
  if (options.trace)
    options.trace->end(index);
}

template <class M, class T> void Executor<M, T>::unshard(int stage) {
  StageBooks &state = enterFsdp(StepKind::Unshard, stage);
  if (state.unsharded)
    fail("UNSHARD s" + std::to_string(stage) + " of a stage that is unsharded");
  fsdp(StepKind::Unshard, stage);
  state.unsharded = true;
}

template <class M, class T> void Executor<M, T>::reshard(int stage) {
  StageBooks &state = enterFsdp(StepKind::Reshard, stage);
  if (!state.unsharded)
    fail("RESHARD s" + std::to_string(stage) + " of a stage that is sharded");
  fsdp(StepKind::Reshard, stage);
  state.unsharded = false;
}

template <class M, class T> void Executor<M, T>::reduceGrad(int stage) {
  StageBooks &state = enterFsdp(StepKind::ReduceGrad, stage);
  if (state.reduced)
    fail("REDUCE_GRAD s" + std::to_string(stage) + " comes twice");
  if (state.weights != state.expected)
    fail("REDUCE_GRAD s" + std::to_string(stage) + " comes after " +
         std::to_string(state.weights) + " of " +
         std::to_string(state.expected) + " weight gradients");
  if (state.managed && !state.unsharded)
    fail("REDUCE_GRAD s" + std::to_string(stage) +
         " of a stage that is sharded");
  fsdp(StepKind::ReduceGrad, stage);
  state.reduced = true;
  state.reducing = schedule->waitsForReductions;
}

template <class M, class T> void Executor<M, T>::waitReduceGrad(int stage) {
  StageBooks &state = enterFsdp(StepKind::WaitReduceGrad, stage);
  if (!schedule->waitsForReductions)
    failStep(StepKind::WaitReduceGrad, stage, 0,
             "runs in a schedule whose waitsForReductions is false");
  if (!state.reducing)
    fail("WAIT_REDUCE_GRAD s" + std::to_string(stage) + " comes " +
         (state.reduced ? "twice" : "before its REDUCE_GRAD"));
  fsdp(StepKind::WaitReduceGrad, stage);
  state.reducing = false;
  state.reduction.reset();
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORFSDP_H
