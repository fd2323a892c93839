//===- ExecutorContexts.h - What handlers are given -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORCONTEXTS_H
#define PIPEC_RUNTIME_EXECUTORCONTEXTS_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

template <class M, class T>
auto Executor<M, T>::contextOf(const Step &of) -> Context {
  Context step;
  step.kind = of.kind;
  step.rank = rank;
  step.stage = of.stage;
  step.microbatch = inBatch(of.unit / schedule->slices);
  step.slice = of.unit % schedule->slices;
  step.unit = of.unit;
  if (isTransfer(of.kind) || isSendWait(of.kind)) {
    step.peer = peerOf(of);
    step.other = otherOf(of);
  }
  step.losses = lossOf;
  step.executor = this;
  return step;
}

template <class M, class T>
auto Executor<M, T>::contextOf(const Work &work) -> Context {
  static constexpr typename Context::Actions actions = {
      proceedCompute, isReady, doNothing, doNothing, doNothing};
  Context step = contextOf(Step{work.kind, work.stage, work.unit});
  step.firstForward = work.firstForward;
  step.lastForward = work.lastForward;
  step.firstBackward = work.firstBackward;
  step.lastBackward = work.lastBackward;
  if constexpr (hasLoss<M>)
    if (work.kind == StepKind::Forward && isLast(work.stage))
      step.loss = &lossOf[unitInBatch(work.unit)];
  step.actions = &actions;
  static_cast<StepData<M> &>(step) = work;
  return step;
}

/// Calls the handler of the step.
template <class M, class T>
void Executor<M, T>::takeOver(Context &step,
                              const typename Context::Actions &actions,
                              void *state) {
  step.actions = &actions;
  step.state = state;
  handlers[int(step.kind)](step);
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORCONTEXTS_H
