//===- ExecutorSteps.h - Compute steps --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. Every compute step has three parts: find its inputs and
// allocate its results (begin), call the model (compute), and return to the
// pools what is not needed any more (end).
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
  Work work{{}, K, stage, microbatch, place.cells + microbatch, &books};
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
    endGradient(work);
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
  StageBooks &stage = *work.books;
  for (int i = 0; i != stage.inputs; ++i) {
    Cell &port = portOf(cell, i);
    if (port.forwardTransfer) {
      arrive(*port.forwardTransfer, *port.input,
             {StepKind::RecvForward, work.stage, work.microbatch, 0, false,
              sourceOf(work.stage, i).stage});
      port.forwardTransfer = nullptr;
      port.flags |= InputReady;
    }
    if (!(port.flags & InputReady)) [[unlikely]]
      failStep(work.kind, work.stage, work.microbatch,
               "runs before its input is there");
    work.input = port.input;
  }
  if constexpr (ModelMinibatches<M>)
    if (stage.inputs == 0) {
      work.input = cell.input = acquireTensor();
      model.split(*minibatch, work.stage, work.microbatch, *cell.input);
    }
  work.kept = cell.kept = activations.acquire();
  if (!isLast(work.stage)) {
    work.output = acquireTensor();
    if (stage.targets > 1)
      uses.push_back({work.output, stage.targets});
    for (int i = 0; i != stage.targets; ++i)
      if (Cell *next = find(targetOf(work.stage, i), work.microbatch))
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
  // A stage without inputs may have one that was cut out of the mini-batch.
  for (int i = 0; i != std::max(work.books->inputs, 1); ++i) {
    Cell &port = portOf(cell, i);
    if (!port.input)
      continue;
    if (port.flags & InputPosted)
      --received;
    release(port.input);
    port.input = nullptr;
  }
  if (!isLast(work.stage)) {
    for (int i = 0; i != work.books->targets; ++i)
      if (portOf(cell, i).output)
        ++unsent;
      else
        find(targetOf(work.stage, i), work.microbatch)->flags |= InputReady;
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
  StageBooks &stage = *work.books;
  for (int i = 0; i != stage.targets; ++i) {
    Cell &port = portOf(cell, i);
    if (port.backwardTransfer) {
      arrive(*port.backwardTransfer, *port.outputGradient,
             {StepKind::RecvBackward, work.stage, work.microbatch, 0, false,
              targetOf(work.stage, i).stage});
      port.backwardTransfer = nullptr;
      port.flags |= GradientReady;
    }
    if (!(port.flags & GradientReady)) [[unlikely]]
      failStep(work.kind, work.stage, work.microbatch,
               "runs before its gradient is there");
  }
  // That of the first target, or of the loss of a mini-batch.
  work.outputGradient = cell.outputGradient;
  work.kept = cell.kept;
  for (int i = 0; i != stage.inputs; ++i) {
    work.inputGradient = acquireTensor();
    if (Cell *before = find(sourceOf(work.stage, i), work.microbatch))
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
      find(sourceOf(work.stage, i), work.microbatch)->flags |= GradientReady;
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
  if (givesLists())
    work.outputGradients = listOutputGradients(work);
}

/// The last use of the gradient and of what the forward kept.
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
    tensors.release(port.outputGradient);
    port.outputGradient = nullptr;
  }
  activations.release(cell.kept);
  cell.kept = nullptr;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The three lists of a micro-batch on a stage.
template <class M, class T>
auto Executor<M, T>::listsOf(const Work &work) const -> Tensor ** {
  return work.books->lists +
         std::ptrdiff_t(3 * work.books->ports) * work.microbatch;
}

template <class M, class T>
auto Executor<M, T>::listInputs(const Work &work) const
    -> std::span<const Tensor *const> {
  Tensor **list = listsOf(work);
  // What was cut out of the mini-batch is an input too.
  int count = std::max(work.books->inputs, work.cell->input ? 1 : 0);
  for (int i = 0; i != count; ++i)
    list[i] = portOf(*work.cell, i).input;
  return {list, std::size_t(count)};
}

template <class M, class T>
auto Executor<M, T>::listOutputGradients(const Work &work) const
    -> std::span<const Tensor *const> {
  Tensor **list = listsOf(work) + work.books->ports;
  // So is the gradient of the loss.
  int count = std::max(work.books->targets, work.cell->outputGradient ? 1 : 0);
  for (int i = 0; i != count; ++i)
    list[i] = portOf(*work.cell, i).outputGradient;
  return {list, std::size_t(count)};
}

//===----------------------------------------------------------------------===//
// The work itself
//===----------------------------------------------------------------------===//

template <class M, class T>
decltype(auto) Executor<M, T>::callForward(const Work &work) {
  if constexpr (!ModelForward<M>) {
    return model.forward(work.stage, work.microbatch, work.inputs, work.output,
                         *work.kept);
  } else {
    if constexpr (ModelGraphForward<M>)
      if (isGraph())
        return model.forward(work.stage, work.microbatch, work.inputs,
                             work.output, *work.kept);
    return model.forward(work.stage, work.microbatch, work.input, work.output,
                         *work.kept);
  }
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::callModel(const Work &work) {
  if constexpr (K == StepKind::Forward) {
    if constexpr (ModelReturnsLoss<M> && !ModelMinibatches<M>) {
      Loss loss = callForward(work);
      if (isLast(work.stage))
        lossOf[std::size_t(work.microbatch)] = std::move(loss);
    } else {
      (void)callForward(work);
      if constexpr (ModelMinibatches<M>)
        if (isLast(work.stage))
          takeLoss(*find(work.stage, work.microbatch), work.microbatch);
    }
    return;
  }
  if (givesLists()) {
    if constexpr (K == StepKind::Backward && ModelGraphBackward<M>)
      return model.backward(work.stage, work.microbatch, work.outputGradients,
                            work.inputGradients, *work.kept);
    if constexpr (ModelGraphSplitBackward<M> && K == StepKind::BackwardInput)
      return model.backwardInput(work.stage, work.microbatch,
                                 work.outputGradients, work.inputGradients,
                                 *work.kept);
    if constexpr (ModelGraphSplitBackward<M> && K == StepKind::BackwardWeight)
      return model.backwardWeight(work.stage, work.microbatch,
                                  work.outputGradients, *work.kept);
    fail<RefusedError>(
        std::string("the schedule has ") + stepName(K) +
        " steps of a graph of stages, and the model does not have " +
        (K == StepKind::Backward        ? "backward"
         : K == StepKind::BackwardInput ? "backwardInput"
                                        : "backwardWeight") +
        " with std::span<const Tensor *const> outputGradients");
  }
  if constexpr (K == StepKind::Backward) {
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
  } else if constexpr (K == StepKind::BackwardWeight) {
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
  Work work{step, step.kind, step.stage, step.microbatch, nullptr, nullptr};
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
