//===- ExecutorFsdp.h - FSDP actions -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Executor.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORFSDP_H
#define PIPEC_RUNTIME_EXECUTORFSDP_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

template <class M, class T>
auto Executor<M, T>::enterFsdp(StepKind kind, int stage) -> StageBooks & {
  publish(RankState::Running, kind, stage, 0);
  for (StageBooks &one : books)
    if (one.stage == stage)
      return one;
  failStep(kind, stage, 0, "does not belong on this rank");
}

template <class M, class T>
void Executor<M, T>::proceedFsdp(void *executor, Context &step) {
  M &model = static_cast<Executor *>(executor)->model;
  (void)model;
  if (step.kind == StepKind::Unshard) {
    if constexpr (requires { model.unshard(step.stage); })
      model.unshard(step.stage);
  } else if (step.kind == StepKind::Reshard) {
    if constexpr (requires { model.reshard(step.stage); })
      model.reshard(step.stage);
  } else {
    if constexpr (requires { model.reduceGrad(step.stage); })
      model.reduceGrad(step.stage);
  }
}

template <class M, class T>
void Executor<M, T>::fsdp(StepKind kind, int stage) {
  Context step;
  step.kind = kind;
  step.rank = rank;
  step.stage = stage;
  step.microbatch = 0;
  std::size_t index = 0;
  if (options.trace)
    index = record(RankState::Running, kind, stage, 0);
  if (handled[int(kind)])
    takeOver(step, proceedFsdp);
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
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORFSDP_H
