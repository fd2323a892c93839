//===- Model.h - What an executor asks of a model ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
//     // Transfers: give a tensor the size of what will be received, and return
//     // the memory of a tensor.
//     void prepareInput(int stage, int microbatch, Tensor &input);
//     void prepareGradient(int stage, int microbatch, Tensor &outputGradient);
//     std::span<std::byte> bytes(Tensor &tensor);
//   };
//
// A model needs only the functions of the steps that its schedules have.
// Optional: `overlapped` runs the members of an overlap together
// (StepContext.h); `unshard(stage)`, `reshard(stage)` and `reduceGrad(stage)`
// do the FSDP actions, and what `reduceGrad` returns may have a `wait()` for
// the reduction that it has started; `exportGradient(stage, Tensor &)` and
// `addGradient(stage, const Tensor &)` sum the gradients of a stage that two
// ranks hold (bidirectional schedules).
//
// Graphs. In a schedule whose stages form a graph, a stage has several inputs
// and several gradients of its one output, in ascending order of the stages
// that they come from. The functions are then given lists; stages that no other
// feeds are given empty ones and have the data. An input is const, because
// other stages may be given the same object.
//
//     void forward(int stage, int microbatch,
//                  std::span<const Tensor *const> inputs, Tensor *output,
//                  Activation &kept);
//     // `backwardInput` likewise; `backwardWeight` without `inputGradients`.
//     void backward(int stage, int microbatch,
//                   std::span<const Tensor *const> outputGradients,
//                   std::span<Tensor *const> inputGradients,
//                   Activation &kept);
//     // The input that comes from stage `source`. Optional where all inputs
//     // of a stage have the same size.
//     void prepareInput(int stage, int microbatch, int source, Tensor &input);
//
// A model that has these functions only can run chains too.
//
// Tied parameters. For schedules with REDUCE_TIED steps, a model shows what its
// stages on this rank add to the gradients that a group shares, and sets these
// to the sum over all ranks of the group. The parts are in the order of their
// ranks, so that every rank computes the same sum, bit for bit:
//
//     void exportTied(int group, Tensor &gradient);
//     void sumTied(int group, std::span<const Tensor *const> parts);
//
// Losses. If `forward` returns a value, that of the last stage is the loss of
// the micro-batch, and `run` returns the losses.
//
// Mini-batches. A model with a type `Minibatch`, the data of one training step,
// is given one by each run, and its stages are all alike: the first has an
// input, which the model cuts out of the mini-batch, and the last has an output
// and an output gradient, which come from the model's `loss`:
//
//     using Minibatch = ...;
//     void split(const Minibatch &all, int stage, int microbatch,
//                Tensor &input);
//     // `gradient` is null in a schedule without backwards.
//     Loss loss(const Minibatch &all, int microbatch, const Tensor &output,
//               Tensor *gradient);
//
//     // Optional: what the outputs of a run are put together in.
//     using Outputs = ...;
//     void merge(Outputs &all, int microbatch, const Tensor &output);
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_MODEL_H
#define PIPEC_RUNTIME_MODEL_H

#include "pipec/runtime/Steps.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
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

/// The functions with lists, for graphs of stages.
template <class M>
concept ModelGraphForward =
    requires(M &model, std::span<const typename M::Tensor *const> inputs,
             typename M::Tensor *output, typename M::Activation &kept) {
      model.forward(0, 0, inputs, output, kept);
    };
template <class M>
concept ModelGraphBackward =
    requires(M &model,
             std::span<const typename M::Tensor *const> outputGradients,
             std::span<typename M::Tensor *const> inputGradients,
             typename M::Activation &kept) {
      model.backward(0, 0, outputGradients, inputGradients, kept);
    };
template <class M>
concept ModelGraphSplitBackward =
    requires(M &model,
             std::span<const typename M::Tensor *const> outputGradients,
             std::span<typename M::Tensor *const> inputGradients,
             typename M::Activation &kept) {
      model.backwardInput(0, 0, outputGradients, inputGradients, kept);
      model.backwardWeight(0, 0, outputGradients, kept);
    };
template <class M>
concept ModelGraphInputs = requires(M &model, typename M::Tensor &tensor) {
  model.prepareInput(0, 0, /*source=*/0, tensor);
};

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
  requires ModelGraphInputs<M> ||
               requires { model.prepareInput(0, 0, tensor); };
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

/// Needed by schedules that sum the gradients of tied stages.
template <class M>
concept ModelTies = ModelTransfers<M> &&
                    requires(M &model, typename M::Tensor &tensor,
                             std::span<const typename M::Tensor *const> parts) {
                      model.exportTied(0, tensor);
                      model.sumTied(0, parts);
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

/// A model that is given a mini-batch by each run.
template <class M>
concept ModelMinibatches =
    requires(M &model, const typename M::Minibatch &all,
             typename M::Tensor &tensor, const typename M::Tensor &output) {
      model.split(all, 0, 0, tensor);
      model.loss(all, 0, output, &tensor);
    };

/// A model that puts the outputs of its last stage together.
template <class M>
concept ModelOutputs =
    ModelMinibatches<M> &&
    requires(M &model, typename M::Outputs &all,
             const typename M::Tensor &output) { model.merge(all, 0, output); };

namespace detail {
/// What the model's `forward` returns.
template <class M> struct ForwardResult {
  using type = void;
};
template <ModelForward M> struct ForwardResult<M> {
  using type = decltype(std::declval<M &>().forward(
      0, 0, std::declval<typename M::Tensor *>(),
      std::declval<typename M::Tensor *>(),
      std::declval<typename M::Activation &>()));
};
template <ModelGraphForward M>
  requires(!ModelForward<M>)
struct ForwardResult<M> {
  using type = decltype(std::declval<M &>().forward(
      0, 0, std::declval<std::span<const typename M::Tensor *const>>(),
      std::declval<typename M::Tensor *>(),
      std::declval<typename M::Activation &>()));
};
} // namespace detail

/// A model whose `forward` returns something.
template <class M>
concept ModelReturnsLoss =
    !std::is_void_v<typename detail::ForwardResult<M>::type>;

/// The rows of a micro-batch in its mini-batch.
struct Rows {
  std::size_t begin;
  std::size_t end;
  constexpr std::size_t size() const { return end - begin; }
};

/// Splits `rows` rows as evenly as possible over the micro-batches; the first
/// ones have one row more where there is a remainder.
constexpr Rows rowsOf(std::size_t rows, int microbatch, int microbatches) {
  std::size_t count = std::size_t(microbatches),
              index = std::size_t(microbatch);
  auto begin = [&](std::size_t i) {
    return i * (rows / count) + std::min(i, rows % count);
  };
  return {begin(index), begin(index + 1)};
}

/// The loss of a model that returns none, the mini-batch of one that takes
/// none, the outputs of one that merges none.
struct Nothing {};

namespace detail {
template <class M> struct LossType {
  using type = Nothing;
};
template <ModelReturnsLoss M>
  requires(!ModelMinibatches<M>)
struct LossType<M> {
  using type = std::remove_cvref_t<typename ForwardResult<M>::type>;
};
template <ModelMinibatches M> struct LossType<M> {
  using returned = decltype(std::declval<M &>().loss(
      std::declval<const typename M::Minibatch &>(), 0,
      std::declval<const typename M::Tensor &>(),
      std::declval<typename M::Tensor *>()));
  using type = std::conditional_t<std::is_void_v<returned>, Nothing,
                                  std::remove_cvref_t<returned>>;
};

template <class M> struct MinibatchType {
  using type = Nothing;
};
template <ModelMinibatches M> struct MinibatchType<M> {
  using type = typename M::Minibatch;
};
template <class M> struct OutputsType {
  using type = Nothing;
};
template <ModelOutputs M> struct OutputsType<M> {
  using type = typename M::Outputs;
};

template <class M> struct ReductionType {
  struct type {};
};
template <ModelReductions M> struct ReductionType<M> {
  using type = decltype(std::declval<M &>().reduceGrad(0));
};
} // namespace detail

/// The loss of a micro-batch, or `Nothing`.
template <class M> using LossOf = typename detail::LossType<M>::type;
template <class M> using MinibatchOf = typename detail::MinibatchType<M>::type;
template <class M> using OutputsOf = typename detail::OutputsType<M>::type;
template <class M>
inline constexpr bool hasLoss = !std::is_same_v<LossOf<M>, Nothing>;

/// What the model's `reduceGrad` returns, or an empty type.
template <class M> using ReductionOf = typename detail::ReductionType<M>::type;

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_MODEL_H
