//===- ExecutorSteps.h - Compute steps --------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Executor.h. Every compute step has three parts: find its inputs and
// allocate its results (begin), call the model (compute), and return to the
// pools what is not needed any more (end).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORSTEPS_H
#define PIPEC_RUNTIME_EXECUTORSTEPS_H

#include "pipec/runtime/Executor.h"

#include <type_traits>

namespace pipec::runtime {

/// Calls `work` with the kind as a constant.
template <class F> decltype(auto) withComputeKind(StepKind kind, F &&work) {
  using enum StepKind;
  switch (kind) {
  case Forward:
    return work(std::integral_constant<StepKind, Forward>());
  case BackwardInput:
    return work(std::integral_constant<StepKind, BackwardInput>());
  case BackwardWeight:
    return work(std::integral_constant<StepKind, BackwardWeight>());
  default:
    return work(std::integral_constant<StepKind, Backward>());
  }
}

template <class M, class T>
auto Executor<M, T>::enter(StepKind kind, int stage, int microbatch)
    -> const Place & {
  publish(RankState::Running, kind, stage, microbatch);
  if (unsigned(stage) < unsigned(numStages) &&
      unsigned(microbatch) < unsigned(schedule->microbatches)) [[likely]] {
    const Place &place = placeOf(stage, microbatch);
    if (place.cells) [[likely]]
      return place;
  }
  failStep(kind, stage, microbatch, "does not belong on this rank");
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::runCompute(int stage, int microbatch) {
  Work work = enterCompute<K>(stage, microbatch);
  begin<K>(work);
  compute<K>(work);
  end<K>(work);
}

/// Each micro-batch has one F, and one B or one I and W, so the first and the
/// last of a stage are found by counting.
template <class M, class T>
template <StepKind K>
auto Executor<M, T>::enterCompute(int stage, int microbatch) -> Work {
  const Place &place = enter(K, stage, microbatch);
  StageBooks &books = *place.books;
  Work work{K, stage, microbatch, place.cells + microbatch, &books};
  if constexpr (K == StepKind::Forward) {
    work.firstForward = books.forwards++ == 0;
    work.lastForward = books.forwards == books.expected;
  } else {
    if constexpr (K != StepKind::BackwardWeight)
      work.firstBackward = books.gradients++ == 0;
    if constexpr (K != StepKind::BackwardInput)
      work.lastBackward = ++books.weights == books.expected;
  }
  return work;
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::begin(Work &work) {
  if (work.books->managed && !work.books->unsharded) [[unlikely]]
    failStep(K, work.stage, work.microbatch, "runs while its stage is sharded");
  if constexpr (K == StepKind::Forward)
    beginForward(work);
  else if constexpr (K == StepKind::BackwardWeight)
    beginWeight(work);
  else
    beginBackward(work);
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::end(const Work &work) {
  if constexpr (K == StepKind::Forward)
    endForward(work);
  else if constexpr (K != StepKind::BackwardWeight)
    endBackward(work);
  if constexpr (K == StepKind::Backward || K == StepKind::BackwardWeight)
    endGradient(*work.cell);
}

//===----------------------------------------------------------------------===//
// F
//===----------------------------------------------------------------------===//

template <class M, class T>
inline void Executor<M, T>::beginForward(Work &work) {
  Cell &cell = *work.cell;
  if (cell.flags & ForwardBegun) [[unlikely]]
    failStep(work.kind, work.stage, work.microbatch, "runs twice");
  cell.flags |= ForwardBegun;
  if (work.stage > 0) {
    if (cell.forwardTransfer) {
      arrive(*cell.forwardTransfer, *cell.input,
             {StepKind::RecvForward, work.stage, work.microbatch});
      cell.forwardTransfer = nullptr;
      cell.flags |= InputReady;
    }
    if (!(cell.flags & InputReady)) [[unlikely]]
      failStep(work.kind, work.stage, work.microbatch,
               "runs before its input is there");
    work.input = cell.input;
  } else if constexpr (ModelMinibatches<M>) {
    work.input = cell.input = acquireTensor();
    model.split(*minibatch, work.stage, work.microbatch, *cell.input);
  }
  work.kept = cell.kept = activations.acquire();
  if (!isLast(work.stage)) {
    work.output = acquireTensor();
    if (Cell *next = find(work.stage + 1, work.microbatch))
      next->input = work.output;
    else
      cell.output = work.output;
  } else if constexpr (ModelMinibatches<M>) {
    work.output = cell.output = acquireTensor();
    if (!schedule->forwardOnly)
      cell.outputGradient = acquireTensor();
  }
}

template <class M, class T>
inline void Executor<M, T>::endForward(const Work &work) {
  Cell &cell = *work.cell;
  if (cell.input) {
    if (cell.flags & InputPosted)
      --received;
    tensors.release(cell.input);
    cell.input = nullptr;
  }
  if (!isLast(work.stage)) {
    if (cell.output)
      ++unsent;
    else
      find(work.stage + 1, work.microbatch)->flags |= InputReady;
  } else if constexpr (ModelMinibatches<M>) {
    takeLoss(cell, work.microbatch);
    tensors.release(cell.output);
    cell.output = nullptr;
  }
  cell.flags |= ForwardDone;
  if (schedule->forwardOnly) {
    activations.release(cell.kept);
    cell.kept = nullptr;
  }
}

//===----------------------------------------------------------------------===//
// B, I and W
//===----------------------------------------------------------------------===//

template <class M, class T>
inline void Executor<M, T>::beginBackward(Work &work) {
  Cell &cell = *work.cell;
  if (cell.flags & GradientBegun) [[unlikely]]
    failStep(work.kind, work.stage, work.microbatch,
             "runs twice, as B or as I");
  // Inside an overlap the last stage may feed itself.
  if (!(cell.flags & (isLast(work.stage) ? ForwardBegun : ForwardDone)) ||
      !cell.kept) [[unlikely]]
    failStep(work.kind, work.stage, work.microbatch, "runs before its F");
  cell.flags |= GradientBegun;
  if (work.kind == StepKind::Backward)
    cell.flags |= WeightBegun;
  if (!isLast(work.stage)) {
    if (cell.backwardTransfer) {
      arrive(*cell.backwardTransfer, *cell.outputGradient,
             {StepKind::RecvBackward, work.stage, work.microbatch});
      cell.backwardTransfer = nullptr;
      cell.flags |= GradientReady;
    }
    if (!(cell.flags & GradientReady)) [[unlikely]]
      failStep(work.kind, work.stage, work.microbatch,
               "runs before its gradient is there");
    work.outputGradient = cell.outputGradient;
  } else if constexpr (ModelMinibatches<M>) {
    work.outputGradient = cell.outputGradient;
  }
  work.kept = cell.kept;
  if (work.stage > 0) {
    work.inputGradient = acquireTensor();
    if (Cell *before = find(work.stage - 1, work.microbatch))
      before->outputGradient = work.inputGradient;
    else
      cell.inputGradient = work.inputGradient;
  }
}

template <class M, class T>
inline void Executor<M, T>::endBackward(const Work &work) {
  if (work.stage > 0) {
    if (work.cell->inputGradient)
      ++unsent;
    else
      find(work.stage - 1, work.microbatch)->flags |= GradientReady;
  }
  work.cell->flags |= GradientDone;
}

template <class M, class T>
inline void Executor<M, T>::beginWeight(Work &work) {
  Cell &cell = *work.cell;
  if (cell.flags & WeightBegun) [[unlikely]]
    failStep(work.kind, work.stage, work.microbatch,
             "runs twice, as W or in a B");
  if (!(cell.flags & GradientDone)) [[unlikely]]
    failStep(work.kind, work.stage, work.microbatch, "runs before its I");
  cell.flags |= WeightBegun;
  work.outputGradient = cell.outputGradient;
  work.kept = cell.kept;
}

/// The last use of the gradient and of what the forward kept.
template <class M, class T>
inline void Executor<M, T>::endGradient(Cell &cell) {
  cell.flags |= WeightDone;
  if (cell.outputGradient) {
    if (cell.flags & GradientPosted)
      --received;
    tensors.release(cell.outputGradient);
    cell.outputGradient = nullptr;
  }
  activations.release(cell.kept);
  cell.kept = nullptr;
}

//===----------------------------------------------------------------------===//
// The work itself
//===----------------------------------------------------------------------===//

template <class M, class T>
template <StepKind K>
void Executor<M, T>::callModel(const Work &work) {
  if constexpr (K == StepKind::Forward) {
    if constexpr (ModelReturnsLoss<M> && !ModelMinibatches<M>) {
      Loss loss = model.forward(work.stage, work.microbatch, work.input,
                                work.output, *work.kept);
      if (isLast(work.stage))
        lossOf[std::size_t(work.microbatch)] = std::move(loss);
    } else {
      (void)model.forward(work.stage, work.microbatch, work.input, work.output,
                          *work.kept);
      if constexpr (ModelMinibatches<M>)
        if (isLast(work.stage))
          takeLoss(*find(work.stage, work.microbatch), work.microbatch);
    }
  } else if constexpr (K == StepKind::Backward) {
    if constexpr (ModelBackward<M>)
      model.backward(work.stage, work.microbatch, work.outputGradient,
                     work.inputGradient, *work.kept);
    else
      fail<RefusedError>("the schedule has B steps, and the model has no "
                         "backward(int stage, int microbatch, const Tensor "
                         "*outputGradient, Tensor *inputGradient, Activation "
                         "&kept)");
  } else if constexpr (!ModelSplitBackward<M>) {
    fail<RefusedError>("the schedule has I and W steps, and the model has no "
                       "backwardInput and backwardWeight");
  } else if constexpr (K == StepKind::BackwardInput) {
    model.backwardInput(work.stage, work.microbatch, work.outputGradient,
                        work.inputGradient, *work.kept);
  } else {
    model.backwardWeight(work.stage, work.microbatch, work.outputGradient,
                         *work.kept);
  }
}

/// The loss of a mini-batch's micro-batch, and the gradient for its B or I,
/// once: directly after the model's `forward`, or at the end of an F that a
/// handler has done.
template <class M, class T>
void Executor<M, T>::takeLoss(Cell &cell, int microbatch) {
  if constexpr (ModelMinibatches<M>) {
    if (cell.flags & LossTaken)
      return;
    cell.flags |= LossTaken;
    const Tensor &output = *cell.output;
    if constexpr (hasLoss<M>)
      lossOf[std::size_t(microbatch)] =
          model.loss(*minibatch, microbatch, output, cell.outputGradient);
    else
      model.loss(*minibatch, microbatch, output, cell.outputGradient);
    if constexpr (ModelOutputs<M>)
      if (outputs)
        model.merge(*outputs, microbatch, output);
  }
}

template <class M, class T>
void Executor<M, T>::proceedCompute(void *executor, Context &step) {
  Work work{step.kind, step.stage, step.microbatch, nullptr, nullptr};
  work.input = step.input;
  work.output = step.output;
  work.outputGradient = step.outputGradient;
  work.inputGradient = step.inputGradient;
  work.kept = step.kept;
  Executor &self = *static_cast<Executor *>(executor);
  // Among the members of an overlap, an exception comes from this one.
  self.publish(RankState::Running, work.kind, work.stage, work.microbatch);
  withComputeKind(step.kind,
                  [&](auto kind) { self.template callModel<kind>(work); });
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::compute(const Work &work) {
  if (observed[int(K)]) [[unlikely]]
    computeObserved(work);
  else
    callModel<K>(work);
}

/// With a handler, a trace or both.
template <class M, class T>
void Executor<M, T>::computeObserved(const Work &work) {
  std::size_t index = 0;
  if (options.trace)
    index = record(RankState::Running, work.kind, work.stage, work.microbatch);
  Context step = contextOf(work);
  if (handled[int(work.kind)])
    handlers[int(work.kind)](step);
  else
    proceedCompute(this, step);
  if (options.trace)
    options.trace->end(index);
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORSTEPS_H
