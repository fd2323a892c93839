//===- Model.h - What an executor asks of a model ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model owns parameters, data and arithmetic; the executor owns what flows
// between stages and what a stage keeps from a forward for its backward, so
// that it can count them and free them at their last use. Both come from pools:
// a function of the model writes into objects that may have been used before
// and keeps their memory, so that training allocates nothing once it runs.
//
//   struct Model {
//     using Tensor = ...;      // what flows between stages
//     using Activation = ...;  // what a stage keeps for its backward
//
//     int stages() const;
//     int microbatches() const;
//
//     // `input` is null at the first stage, which has its own data; `output`
//     // is null at the last, which computes the loss. This is the last use of
//     // `input`: a model that needs it later may swap it into `kept`.
//     void forward(int stage, int microbatch, Tensor *input, Tensor *output,
//                  Activation &kept);
//
//     // `outputGradient` is null at the last stage, `inputGradient` at the
//     // first. `backward` is `backwardInput` and `backwardWeight` in one;
//     // gradients of the parameters are added up over micro-batches.
//     void backward(int stage, int microbatch, const Tensor *outputGradient,
//                   Tensor *inputGradient, Activation &kept);
//     void backwardInput(int stage, int microbatch,
//                        const Tensor *outputGradient, Tensor *inputGradient,
//                        Activation &kept);
//     void backwardWeight(int stage, int microbatch,
//                         const Tensor *outputGradient, Activation &kept);
//
//     // Transfers: size a tensor for what will be received, and show its
//     bytes. void prepareInput(int stage, int microbatch, Tensor &input); void
//     prepareGradient(int stage, int microbatch, Tensor &outputGradient);
//     std::span<std::byte> bytes(Tensor &tensor);
//   };
//
// A model needs only the functions of the steps that its schedules have.
// Optional: `overlapped(std::span<StepContext<Model>>)` runs the members of an
// overlap together; `unshard(stage)`, `reshard(stage)` and `reduceGrad(stage)`
// do the FSDP actions, and what `reduceGrad` returns may have a `wait()` for
// the reduction that it has started; `exportGradient(stage, Tensor &)` and
// `addGradient(stage, const Tensor &)` sum the gradients of a stage that two
// ranks hold (bidirectional schedules).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_MODEL_H
#define PIPEC_RUNTIME_MODEL_H

#include "pipec/runtime/Steps.h"

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

namespace pipec::runtime {

/// The types of a model: both are made empty and are moved, never copied.
template <class M>
concept ModelTypes = std::default_initializable<typename M::Tensor> &&
                     std::default_initializable<typename M::Activation>;

template <class M>
concept ModelSizes = requires(const M &model) {
  { model.stages() } -> std::convertible_to<int>;
  { model.microbatches() } -> std::convertible_to<int>;
};

template <class M>
concept ModelForward = requires(
    M &model, typename M::Tensor *input, typename M::Tensor *output,
    typename M::Activation &kept) { model.forward(0, 0, input, output, kept); };

template <class M>
concept ModelBackward =
    requires(M &model, const typename M::Tensor *outputGradient,
             typename M::Tensor *inputGradient, typename M::Activation &kept) {
      model.backward(0, 0, outputGradient, inputGradient, kept);
    };

template <class M>
concept ModelSplitBackward =
    requires(M &model, const typename M::Tensor *outputGradient,
             typename M::Tensor *inputGradient, typename M::Activation &kept) {
      model.backwardInput(0, 0, outputGradient, inputGradient, kept);
      model.backwardWeight(0, 0, outputGradient, kept);
    };

/// Needed as soon as a tensor crosses ranks.
template <class M>
concept ModelTransfers = requires(M &model, typename M::Tensor &tensor) {
  model.prepareInput(0, 0, tensor);
  { model.bytes(tensor) } -> std::convertible_to<std::span<std::byte>>;
};

/// Needed as soon as a gradient crosses ranks.
template <class M>
concept ModelGradientTransfers =
    ModelTransfers<M> && requires(M &model, typename M::Tensor &tensor) {
      model.prepareGradient(0, 0, tensor);
    };

/// Needed by schedules in which two ranks hold a stage.
template <class M>
concept ModelReplicas =
    ModelTransfers<M> && requires(M &model, typename M::Tensor &tensor) {
      model.exportGradient(0, tensor);
      model.addGradient(0, tensor);
    };

/// A model whose `reduceGrad` only starts a reduction, and returns an object
/// whose `wait()` waits for it. The executor calls that once: at the
/// WAIT_REDUCE_GRAD of the stage, or directly after `reduceGrad` in a schedule
/// without these.
template <class M>
concept ModelReductions = requires(M &model) {
  model.reduceGrad(0).wait();
  requires std::movable<decltype(model.reduceGrad(0))>;
};

namespace detail {
template <class M> struct ReductionType {
  struct type {};
};
template <ModelReductions M> struct ReductionType<M> {
  using type = decltype(std::declval<M &>().reduceGrad(0));
};
} // namespace detail

/// What the model's `reduceGrad` returns, or an empty type.
template <class M> using ReductionOf = typename detail::ReductionType<M>::type;

/// One step with all that it works on: what a handler and the overlap hook get.
/// Pointers are null where the step has no such operand.
template <class Model> struct StepContext {
  StepKind kind;
  int rank;
  int stage;
  int microbatch;
  /// The rank at the other end of a transfer, else -1.
  int peer = -1;

  typename Model::Tensor *input = nullptr;
  typename Model::Tensor *output = nullptr;
  const typename Model::Tensor *outputGradient = nullptr;
  typename Model::Tensor *inputGradient = nullptr;
  typename Model::Activation *kept = nullptr;
  /// What a transfer sends or receives into.
  typename Model::Tensor *tensor = nullptr;

  /// Does what the executor would have done without the handler. A handler of
  /// a compute step or an FSDP action that does not call it has done the work
  /// itself; one of a transfer has moved `tensor` itself.
  void proceed() {
    proceeded = true;
    action(executor, *this);
  }

  void *executor = nullptr;
  void (*action)(void *executor, StepContext &context) = nullptr;
  bool proceeded = false;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_MODEL_H
