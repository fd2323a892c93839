//===- ExecutorSteps.h - Compute steps --------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Executor.h. Every compute step has three parts: find its inputs and
// allocate its results (begin), call the model (compute), and return to the
// pools what is not needed any more (end). An overlap runs the first part of
// all its members, then the calls of the model, then the last part of all.
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
  Work work = begin<K>(stage, microbatch);
  compute<K>(work);
  end<K>(work);
}

template <class M, class T>
template <StepKind K>
auto Executor<M, T>::begin(int stage, int microbatch) -> Work {
  const Place &place = enter(K, stage, microbatch);
  Work work{K, stage, microbatch, place.cells + microbatch, place.books};
  if (place.books->managed && !place.books->unsharded) [[unlikely]]
    failStep(K, stage, microbatch, "runs while its stage is sharded");
  if constexpr (K == StepKind::Forward)
    beginForward(work);
  else if constexpr (K == StepKind::BackwardWeight)
    beginWeight(work);
  else
    beginBackward(work);
  return work;
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::end(const Work &work) {
  if constexpr (K == StepKind::Forward)
    endForward(work);
  else if constexpr (K != StepKind::BackwardWeight)
    endBackward(work);
  if constexpr (K == StepKind::Backward || K == StepKind::BackwardWeight) {
    ++work.books->weights;
    endGradient(*work.cell);
  }
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
  }
  work.kept = cell.kept = activations.acquire();
  if (!isLast(work.stage)) {
    work.output = acquireTensor();
    if (Cell *next = find(work.stage + 1, work.microbatch))
      next->input = work.output;
    else
      cell.output = work.output;
  }
}

template <class M, class T>
inline void Executor<M, T>::endForward(const Work &work) {
  Cell &cell = *work.cell;
  if (work.stage > 0) {
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
  }
  cell.flags |= ForwardDone;
  ++work.books->forwards;
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
  ++work.books->gradients;
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
  if (!isLast(work.stage))
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
    model.forward(work.stage, work.microbatch, work.input, work.output,
                  *work.kept);
  } else if constexpr (K == StepKind::Backward) {
    if constexpr (ModelBackward<M>)
      model.backward(work.stage, work.microbatch, work.outputGradient,
                     work.inputGradient, *work.kept);
    else
      throw RefusedError("the schedule has B steps, and the model has no "
                         "backward(int stage, int microbatch, const Tensor "
                         "*outputGradient, Tensor *inputGradient, Activation "
                         "&kept)");
  } else if constexpr (!ModelSplitBackward<M>) {
    throw RefusedError("the schedule has I and W steps, and the model has no "
                       "backwardInput and backwardWeight");
  } else if constexpr (K == StepKind::BackwardInput) {
    model.backwardInput(work.stage, work.microbatch, work.outputGradient,
                        work.inputGradient, *work.kept);
  } else {
    model.backwardWeight(work.stage, work.microbatch, work.outputGradient,
                         *work.kept);
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
  withComputeKind(step.kind, [&](auto kind) {
    static_cast<Executor *>(executor)->template callModel<kind>(work);
  });
}

template <class M, class T>
auto Executor<M, T>::contextOf(const Work &work) -> Context {
  Context step;
  step.kind = work.kind;
  step.rank = rank;
  step.stage = work.stage;
  step.microbatch = work.microbatch;
  step.input = work.input;
  step.output = work.output;
  step.outputGradient = work.outputGradient;
  step.inputGradient = work.inputGradient;
  step.kept = work.kept;
  step.executor = this;
  step.action = proceedCompute;
  return step;
}

template <class M, class T>
void Executor<M, T>::takeOver(Context &step,
                              void (*action)(void *, Context &)) {
  step.executor = this;
  step.action = action;
  handlers[int(step.kind)](step);
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

template <class M, class T>
void Executor<M, T>::runOverlap(std::span<const Step> members) {
  group.clear();
  for (const Step &member : members) {
    if (!isCompute(member.kind)) [[unlikely]]
      failStep(member.kind, member.stage, member.microbatch,
               "is in an overlap and not a compute step");
    withComputeKind(member.kind, [&](auto kind) {
      group.push_back(begin<kind>(member.stage, member.microbatch));
    });
  }
  if constexpr (requires(std::span<Context> steps) {
                  model.overlapped(steps);
                }) {
    // The records of the members follow each other.
    std::size_t first = options.trace ? options.trace->all().size() : 0;
    groupContexts.clear();
    for (const Work &work : group) {
      groupContexts.push_back(contextOf(work));
      if (options.trace)
        record(RankState::Running, work.kind, work.stage, work.microbatch);
    }
    model.overlapped(std::span<Context>(groupContexts));
    // The first to begin is the last to end, so that slices nest.
    if (options.trace)
      for (std::size_t i = group.size(); i-- != 0;)
        options.trace->end(first + i);
  } else {
    for (const Work &work : group)
      withComputeKind(work.kind, [&](auto kind) { compute<kind>(work); });
  }
  for (const Work &work : group)
    withComputeKind(work.kind, [&](auto kind) { end<kind>(work); });
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORSTEPS_H
