//===- ExecutorSteps.h - Compute steps --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. Every compute step has three parts: find its inputs and
// allocate its results (begin), call the model (compute, in ExecutorCalls.h),
// and return to the pools the objects that no later step needs (end). The begin
// and the end of an R are in ExecutorRecompute.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORSTEPS_H
#define PIPEC_RUNTIME_EXECUTORSTEPS_H

#include "pipec/runtime/Executor.h"

#include <algorithm>
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
  case Recompute:
    return work(std::integral_constant<StepKind, Recompute>());
  default:
    return work(std::integral_constant<StepKind, Backward>());
  }
}

template <class M, class T>
auto Executor<M, T>::enter(StepKind kind, int stage, int unit)
    -> const Place & {
  publish(RankState::Running, kind, stage, unit);
  if (unsigned(stage) < unsigned(numStages) &&
      unsigned(unit) < unsigned(numUnits)) [[likely]] {
    const Place &place = placeOf(stage, unit);
    if (place.cells) [[likely]]
      return place;
  }
  failStep(kind, stage, unit, "does not belong on this rank");
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::runCompute(int stage, int unit) {
  Work work = enterCompute<K>(stage, unit);
  begin<K>(work);
  compute<K>(work);
  end<K>(work);
}

/// Each unit has one F, and one B or one I and W, so the first and the
/// last of a stage are found by counting.
template <class M, class T>
template <StepKind K>
auto Executor<M, T>::enterCompute(int stage, int unit) -> Work {
  const Place &place = enter(K, stage, unit);
  StageBooks &books = *place.books;
  Work work{{}, K, stage, unit, place.cells + unit, &books};
  if constexpr (K == StepKind::Forward) {
    work.firstForward = books.forwards++ == 0;
    work.lastForward = books.forwards == books.expected;
  } else if constexpr (K != StepKind::Recompute) {
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
  enterStream(work.stage);
  if (work.books->managed && !work.books->unsharded) [[unlikely]]
    failStep(K, work.stage, work.unit, "runs while its stage is sharded");
  if constexpr (K == StepKind::Forward)
    beginForward(work);
  else if constexpr (K == StepKind::BackwardWeight)
    beginWeight(work);
  else if constexpr (K == StepKind::Recompute)
    beginRecompute(work);
  else
    beginBackward(work);
  waitForOperands(work);
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::end(const Work &work) {
  markOperands(work);
  if constexpr (K == StepKind::Forward)
    endForward(work);
  else if constexpr (K == StepKind::Recompute)
    endRecompute(work);
  else if constexpr (K != StepKind::BackwardWeight)
    endBackward(work);
  if constexpr (K == StepKind::Backward || K == StepKind::BackwardWeight)
    endGradient(work);
}

//===----------------------------------------------------------------------===//
// F
//===----------------------------------------------------------------------===//

template <class M, class T>
inline void Executor<M, T>::beginForward(Work &work) {
  Cell &cell = *work.cell;
  if (cell.flags & ForwardBegun) [[unlikely]]
    failStep(work.kind, work.stage, work.unit, "runs twice");
  cell.flags |= ForwardBegun;
  StageBooks &stage = *work.books;
  for (int i = 0; i != stage.inputs; ++i) {
    Cell &port = portOf(cell, i);
    if (port.forwardTransfer) {
      arrive(*port.forwardTransfer, *port.input,
             {StepKind::RecvForward, work.stage, work.unit, 0, false,
              sourceOf(work.stage, i).stage});
      port.forwardTransfer = nullptr;
      port.flags |= InputReady;
    }
    if (!(port.flags & InputReady)) [[unlikely]]
      failStep(work.kind, work.stage, work.unit,
               "runs before its input is there");
    work.input = port.input;
  }
  if constexpr (ModelMinibatches<M>)
    if (stage.inputs == 0) {
      work.input = cell.input = acquireTensor();
      withSlice(work.unit, [&](int microbatch, auto... slice) {
        model.split(*minibatch, work.stage, microbatch, slice..., *cell.input);
      });
    }
  if (!(cell.flags & Recomputed)) {
    work.kept = cell.kept = activations.acquire(ownList());
    countKept(1);
  } else if constexpr (ModelRecompute<M>) {
    work.stash = cell.stash = stashes.acquire(ownList());
  } else {
    work.kept = scratch.acquire(ownList());
    copyInput(work);
  }
  if constexpr (ModelSlices<M>) {
    HeldContext &of = contextHeldBy(work);
    if (work.unit % schedule->slices == 0)
      of.context = contexts.acquire(ownList());
    else if (!(find(work.stage, work.unit - 1)->flags & ForwardDone))
        [[unlikely]]
      failStep(work.kind, work.stage, work.unit,
               "runs before the F of the slice before it");
    work.context = of.context;
  }
  if (!isLast(work.stage)) {
    work.output = acquireTensor();
    if (stage.targets > 1)
      uses.push_back({work.output, stage.targets});
    for (int i = 0; i != stage.targets; ++i)
      if (Cell *next = find(targetOf(work.stage, i), work.unit))
        next->input = work.output;
      else
        portOf(cell, i).output = work.output;
  } else if constexpr (ModelMinibatches<M>) {
    work.output = cell.output = acquireTensor();
    if (!schedule->forwardOnly)
      cell.outputGradient = acquireTensor();
  }
  if (givesLists())
    work.inputs = listInputs(work);
}

template <class M, class T>
inline void Executor<M, T>::endForward(const Work &work) {
  Cell &cell = *work.cell;
  for (int i = 0; i != work.books->inputs; ++i)
    if (portOf(cell, i).flags & InputPosted)
      --received;
  if (!ModelRecompute<M> && (cell.flags & Recomputed)) [[unlikely]] {
    scratch.release(work.kept, ownList());
    if (work.copied)
      tensors.release(work.copied, ownList());
  } else {
    releaseInputs(work);
  }
  if (!isLast(work.stage)) {
    for (int i = 0; i != work.books->targets; ++i)
      if (portOf(cell, i).output)
        ++unsent;
      else
        find(targetOf(work.stage, i), work.unit)->flags |= InputReady;
  } else if constexpr (ModelMinibatches<M>) {
    takeLoss(cell, work.unit);
    tensors.release(cell.output, ownList());
    cell.output = nullptr;
  }
  cell.flags |= ForwardDone;
  if (schedule->forwardOnly)
    dropKept(work);
}

/// The last use of the inputs.
template <class M, class T>
inline void Executor<M, T>::releaseInputs(const Work &work) {
  // A stage without inputs may have one that was cut out of the mini-batch.
  for (int i = 0; i != std::max(work.books->inputs, 1); ++i) {
    Cell &port = portOf(*work.cell, i);
    if (!port.input)
      continue;
    release(port.input, ownList());
    port.input = nullptr;
  }
}

/// The last use of the activation.
template <class M, class T>
inline void Executor<M, T>::dropKept(const Work &work) {
  activations.release(work.cell->kept, ownList());
  countKept(-1);
  work.cell->kept = nullptr;
  releaseContext(work);
}

//===----------------------------------------------------------------------===//
// B, I and W
//===----------------------------------------------------------------------===//

template <class M, class T>
inline void Executor<M, T>::beginBackward(Work &work) {
  Cell &cell = *work.cell;
  if (cell.flags & GradientBegun) [[unlikely]]
    failStep(work.kind, work.stage, work.unit, "runs twice, as B or as I");
  // Inside an overlap the last stage may feed itself.
  if (!(cell.flags & (isLast(work.stage) ? ForwardBegun : ForwardDone)) ||
      !cell.kept) [[unlikely]]
    failStep(work.kind, work.stage, work.unit,
             cell.flags & ForwardDone ? "runs before its R"
                                      : "runs before its F");
  useKept(work.kind, work.stage, work.unit, cell);
  if constexpr (ModelSlices<M>) {
    if ((work.unit + 1) % schedule->slices != 0 &&
        !(find(work.stage, work.unit + 1)->flags & GradientDone)) [[unlikely]]
      failStep(work.kind, work.stage, work.unit,
               "runs before the B or I of the slice after it");
    work.context = contextHeldBy(work).context;
  }
  cell.flags |= GradientBegun;
  if (work.kind == StepKind::Backward)
    cell.flags |= WeightBegun;
  StageBooks &stage = *work.books;
  for (int i = 0; i != stage.targets; ++i) {
    Cell &port = portOf(cell, i);
    if (port.backwardTransfer) {
      arrive(*port.backwardTransfer, *port.outputGradient,
             {StepKind::RecvBackward, work.stage, work.unit, 0, false,
              targetOf(work.stage, i).stage});
      port.backwardTransfer = nullptr;
      port.flags |= GradientReady;
    }
    if (!(port.flags & GradientReady)) [[unlikely]]
      failStep(work.kind, work.stage, work.unit,
               "runs before its gradient is there");
  }
  // From the first target, or from the loss of a mini-batch.
  work.outputGradient = cell.outputGradient;
  work.kept = cell.kept;
  for (int i = 0; i != stage.inputs; ++i) {
    work.inputGradient = acquireTensor();
    if (Cell *before = find(sourceOf(work.stage, i), work.unit))
      before->outputGradient = work.inputGradient;
    else
      portOf(cell, i).inputGradient = work.inputGradient;
    if (givesLists())
      listsOf(work)[2 * stage.ports + i] = work.inputGradient;
  }
  if (givesLists()) {
    work.outputGradients = listOutputGradients(work);
    work.inputGradients = {listsOf(work) + 2 * stage.ports,
                           std::size_t(stage.inputs)};
  }
}

template <class M, class T>
inline void Executor<M, T>::endBackward(const Work &work) {
  for (int i = 0; i != work.books->inputs; ++i)
    if (portOf(*work.cell, i).inputGradient)
      ++unsent;
    else
      find(sourceOf(work.stage, i), work.unit)->flags |= GradientReady;
  work.cell->flags |= GradientDone;
}

template <class M, class T>
inline void Executor<M, T>::beginWeight(Work &work) {
  Cell &cell = *work.cell;
  if (cell.flags & WeightBegun) [[unlikely]]
    failStep(work.kind, work.stage, work.unit, "runs twice, as W or in a B");
  if (!(cell.flags & GradientDone)) [[unlikely]]
    failStep(work.kind, work.stage, work.unit, "runs before its I");
  useKept(work.kind, work.stage, work.unit, cell);
  cell.flags |= WeightBegun;
  work.outputGradient = cell.outputGradient;
  work.kept = cell.kept;
  if constexpr (ModelSlices<M>)
    work.context = contextHeldBy(work).context;
  if (givesLists())
    work.outputGradients = listOutputGradients(work);
}

/// The last use of the gradient and of the activation.
template <class M, class T>
inline void Executor<M, T>::endGradient(const Work &work) {
  Cell &cell = *work.cell;
  cell.flags |= WeightDone;
  for (int i = 0; i != std::max(work.books->targets, 1); ++i) {
    Cell &port = portOf(cell, i);
    if (!port.outputGradient)
      continue;
    if (port.flags & GradientPosted)
      --received;
    tensors.release(port.outputGradient, ownList());
    port.outputGradient = nullptr;
  }
  dropKept(work);
}

//===----------------------------------------------------------------------===//
// Contexts of slices
//===----------------------------------------------------------------------===//

template <class M, class T>
auto Executor<M, T>::contextHeldBy(const Work &work) const -> HeldContext & {
  return work.books->contexts[work.unit / schedule->slices];
}

/// At the last use of the context by a slice: after the last slice it goes back
/// to its pool.
template <class M, class T>
inline void Executor<M, T>::releaseContext(const Work &work) {
  if constexpr (ModelSlices<M>) {
    HeldContext &of = contextHeldBy(work);
    if (++of.done != schedule->slices)
      return;
    contexts.release(of.context, ownList());
    of = {};
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORSTEPS_H
