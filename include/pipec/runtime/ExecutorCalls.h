//===- ExecutorCalls.h - Calls of the model ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. The middle of a compute step, between its begin and its
// end (ExecutorSteps.h): the function of the model that does the work, with
// its arguments.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORCALLS_H
#define PIPEC_RUNTIME_EXECUTORCALLS_H

#include "pipec/runtime/Executor.h"

#include <algorithm>

namespace pipec::runtime {

/// Calls `call` with the number in the batch of a unit's micro-batch and, if
/// the model has slices, its slice.
template <class M, class T>
template <class Call>
decltype(auto) Executor<M, T>::withSlice(int unit, Call &&call) const {
  if constexpr (ModelSlices<M>)
    return call(inBatch(unit / schedule->slices), unit % schedule->slices);
  else
    return call(inBatch(unit));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The three lists of a unit on a stage.
template <class M, class T>
auto Executor<M, T>::listsOf(const Work &work) const -> Tensor ** {
  return work.books->lists + std::ptrdiff_t(3 * work.books->ports) * work.unit;
}

template <class M, class T>
auto Executor<M, T>::listInputs(const Work &work) const
    -> std::span<const Tensor *const> {
  Tensor **list = listsOf(work);
  // A part of the mini-batch is an input too.
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
// Functions
//===----------------------------------------------------------------------===//

template <class M, class T>
template <class Kept>
decltype(auto) Executor<M, T>::callForward(const Work &work, Kept &kept) {
  auto call = [&](auto input) -> decltype(auto) {
    return withSlice(
        work.unit, [&](int microbatch, auto... slice) -> decltype(auto) {
          return model.forward(work.stage, microbatch, slice..., input,
                               work.output, kept, contextFor(work, slice)...);
        });
  };
  if constexpr (!ModelForward<M>) {
    return call(work.inputs);
  } else {
    if constexpr (ModelGraphForward<M>)
      if (isGraph())
        return call(work.inputs);
    return call(work.input);
  }
}

template <class M, class T>
template <StepKind K>
void Executor<M, T>::callModel(const Work &work) {
  if constexpr (K == StepKind::Forward) {
    auto run = [&](auto &kept) {
      if constexpr (ModelReturnsLoss<M> && !ModelMinibatches<M>) {
        Loss loss = callForward(work, kept);
        if (isLast(work.stage))
          lossOf[unitInBatch(work.unit)] = std::move(loss);
      } else {
        (void)callForward(work, kept);
      }
    };
    if constexpr (ModelRecompute<M>)
      work.stash ? run(*work.stash) : run(*work.kept);
    else
      run(*work.kept);
    if constexpr (ModelMinibatches<M>)
      if (isLast(work.stage))
        takeLoss(*find(work.stage, work.unit), work.unit);
    return;
  }
  if constexpr (K == StepKind::Recompute) {
    if constexpr (ModelRecompute<M>)
      withSlice(work.unit, [&](int microbatch, auto... slice) {
        model.recompute(work.stage, microbatch, slice..., *work.stash,
                        *work.kept, contextFor(work, slice)...);
      });
    else
      (void)callForward(work, *work.kept);
    return;
  }
  if (givesLists()) {
    if constexpr (K == StepKind::Backward ? ModelGraphBackward<M>
                                          : ModelGraphSplitBackward<M>)
      return callBackward<K>(work, work.outputGradients, work.inputGradients);
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
      callBackward<K>(work, work.outputGradient, work.inputGradient);
    else
      fail<RefusedError>("the schedule has B steps, and the model has no "
                         "backward(" +
                         placeText() +
                         "const Tensor *outputGradient, Tensor "
                         "*inputGradient, " +
                         keptText());
  } else if constexpr (!ModelSplitBackward<M>) {
    fail<RefusedError>("the schedule has I and W steps, and the model has no "
                       "backwardInput and backwardWeight");
  } else {
    callBackward<K>(work, work.outputGradient, work.inputGradient);
  }
}

/// Calls the function of the model for a B, I or W, with tensors or with lists.
template <class M, class T>
template <StepKind K, class Output, class Input>
void Executor<M, T>::callBackward(const Work &work, Output outputGradient,
                                  Input inputGradient) {
  withSlice(work.unit, [&](int microbatch, auto... slice) {
    if constexpr (K == StepKind::Backward)
      model.backward(work.stage, microbatch, slice..., outputGradient,
                     inputGradient, *work.kept, contextFor(work, slice)...);
    else if constexpr (K == StepKind::BackwardInput)
      model.backwardInput(work.stage, microbatch, slice..., outputGradient,
                          inputGradient, *work.kept,
                          contextFor(work, slice)...);
    else
      model.backwardWeight(work.stage, microbatch, slice..., outputGradient,
                           *work.kept, contextFor(work, slice)...);
  });
}

/// The loss of a unit of a mini-batch, and the gradient for its B or I,
/// once: directly after the model's `forward`, or at the end of an F that a
/// handler has done.
template <class M, class T>
void Executor<M, T>::takeLoss(Cell &cell, int unit) {
  if constexpr (ModelMinibatches<M>) {
    if (cell.flags & LossTaken)
      return;
    cell.flags |= LossTaken;
    const Tensor &output = *cell.output;
    auto loss = [&](int microbatch, auto... slice) {
      return model.loss(*minibatch, microbatch, slice..., output,
                        cell.outputGradient);
    };
    if constexpr (hasLoss<M>)
      lossOf[unitInBatch(unit)] = withSlice(unit, loss);
    else
      withSlice(unit, loss);
    if constexpr (ModelOutputs<M>)
      if (outputs)
        withSlice(unit, [&](int microbatch, auto... slice) {
          model.merge(*outputs, microbatch, slice..., output);
        });
  }
}

template <class M, class T>
void Executor<M, T>::proceedCompute(void *executor, Context &step) {
  Work work{step, step.kind, step.stage, step.unit, nullptr, nullptr};
  Executor &self = *static_cast<Executor *>(executor);
  // Among the members of an overlap, an exception comes from this one.
  self.publish(RankState::Running, work.kind, work.stage, work.unit);
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
    index = record(RankState::Running, work.kind, work.stage, work.unit);
  Context step = contextOf(work);
  if (handled[int(work.kind)])
    handlers[int(work.kind)](step);
  else
    proceedCompute(this, step);
  if (options.trace)
    options.trace->end(index);
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORCALLS_H
