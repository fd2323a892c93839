//===- Model.h - What an executor asks of a model ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model owns parameters, data and arithmetic; the executor owns the tensors
// that flow between stages and the activations that a stage keeps from a
// forward for its backward, so that it can count them and free them at their
// last use. Both come from pools:
// a function of the model writes into objects that may have been used before
// and keeps their memory, so that training allocates nothing once it runs.
//
//   struct Model {
//     using Tensor = ...;      // flows between stages
//     using Activation = ...;  // kept by a stage for its backward
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
// `bytes` may return a range of such spans, in which a tensor is in several
// places: a tuple of tensors. Where the receiver cannot know the size of an
// input, in place of `prepareInput`
//
//     void resizeInput(int stage, int microbatch, std::size_t bytes,
//                      Tensor &input);
//
// is given the number of bytes, which the sender announces; the rank waits for
// that at the receive. With slices, `int slice` comes after `int microbatch`.
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
// Tied parameters. For schedules with REDUCE_TIED steps, a model exports the
// part of its stages on this rank in the gradients that a group shares, and
// sets these gradients to the sum over all ranks of the group. The parts are in
// the order of their ranks, so that every rank computes the same sum, bit for
// bit:
//
//     void exportTied(int group, Tensor &gradient);
//     void sumTied(int group, std::span<const Tensor *const> parts);
//
// Slices. In a schedule with slices, a micro-batch passes the pipeline in parts
// of its sequence, and later parts depend on earlier ones. The model has the
// number of slices, and a type for the data that a stage keeps of a micro-batch
// from one slice to the next: keys and values, and the gradients that later
// slices leave for them. In each function the slice follows the micro-batch,
// and the context is the last argument of the functions that compute:
//
//     using Context = ...;
//     int slices() const;
//     void forward(int stage, int microbatch, int slice, Tensor *input,
//                  Tensor *output, Activation &kept, Context &context);
//     // `backwardInput` likewise; `backwardWeight` without `inputGradient`.
//     void backward(int stage, int microbatch, int slice,
//                   const Tensor *outputGradient, Tensor *inputGradient,
//                   Activation &kept, Context &context);
//     void prepareInput(int stage, int microbatch, int slice, Tensor &input);
//
// The forwards of a stage run in the order of the slices, its backwards in the
// opposite order. A context is taken from a pool before the forward of slice 0,
// and returned after the last B or W of the micro-batch, usually that for slice
// 0. Such a model runs only schedules with this number of slices.
//
// Recomputation. The list of a rank may have an R of a unit, which makes its
// activations again, so that its forward need not keep them. Without further
// functions, the executor keeps the input and calls `forward` twice: at the F
// with an activation that nothing reads, and at the R with the activation that
// the backward is given. The value that the second call returns is not a loss.
// If `forward` has a `const Tensor *input`, or lists, the executor keeps the
// input itself; otherwise `forward` may change its input and is given a copy,
// so `Tensor` must be copyable. A model can keep something else than its input:
//
//     using Stash = ...;
//     void forward(int stage, int microbatch, Tensor *input, Tensor *output,
//                  Stash &stash);
//     void recompute(int stage, int microbatch, Stash &stash,
//                    Activation &kept);
//
// With slices, both have the slice and the context too. A second forward must
// not change the data that the first has left in the context for later slices,
// so a model writes contexts by slice number.
//
// Copies to the host. For OFFLOAD and RELOAD steps, a model starts to copy the
// activation of a unit, and returns an object with a `wait()`. The executor
// calls `wait` for an `offload` at the WAIT_OFFLOAD, which is the last use of
// the memory of the device, and for a `reload` before the first step that uses
// the activation. With slices, `int slice` comes after `int microbatch`. A
// model with a type `Stash` may have the same functions for stashes:
//
//     Copy offload(int stage, int microbatch, Activation &kept);
//     Copy reload(int stage, int microbatch, Activation &kept);
//
// Optimizer steps. `void update(int stage)` is called at an UPDATE, when the
// gradients of the stage are complete.
//
// Streams. In a schedule with stages on streams of their own,
// `void onStream(int stream)` is called before a compute step that runs on
// another stream than the compute step before it, and at the end of a run with
// 0. Stream 0 is that of stages without a stream of their own, and n that of
// the n-th name in `streams` of the generated source. With two more functions
// the computes of a model, in any schedule, may return before their work is
// done:
//
//     using Event = ...; // copyable
//     Event record(int stream);
//     void wait(int stream, const Event &event);
//
// `record` is called after each compute step; the event occurs when what has
// been started on the stream so far is done. `wait` makes the stream wait for
// an event of another one before its next compute step; with -1, `rankStream`,
// it makes the transfer, the copy, the FSDP action, the UPDATE or the sum that
// follows wait, or at the end of a run the caller.
//
// Losses. If `forward` returns a value, the value at the last stage is the loss
// of the micro-batch, or of the slice, and `run` returns the losses.
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
//     // Optional: the outputs of a run are put together in one of these.
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

/// A model whose micro-batches are cut into slices.
template <class M>
concept ModelSlices = requires(const M &model) {
  { model.slices() } -> std::convertible_to<int>;
  requires std::default_initializable<typename M::Context>;
};

/// The context of a model without slices, and the loss, the mini-batch and the
/// outputs of a model that has none.
struct Nothing {};

namespace detail {
template <class M> struct SliceContextType {
  using type = Nothing;
};
template <ModelSlices M> struct SliceContextType<M> {
  using type = typename M::Context;
};
/// The context, for a function with a slice.
template <class M, class Slice> struct ContextWith : SliceContextType<M> {};

// The functions of a model. `Slice` is one `int` for a model with slices, and
// nothing for others.
/// `Input` is a tensor or a list of them, `Kept` an activation or a stash.
template <class M, class Input, class Kept, class... Slice>
concept KeepingForm =
    requires(M &model, Slice... slice, Input input, typename M::Tensor *output,
             Kept &kept, typename ContextWith<M, Slice>::type &...context) {
      model.forward(0, 0, slice..., input, output, kept, context...);
    };
template <class M, class... Slice>
concept ForwardForm =
    KeepingForm<M, typename M::Tensor *, typename M::Activation, Slice...>;
template <class M, class... Slice>
concept GraphForwardForm =
    KeepingForm<M, std::span<const typename M::Tensor *const>,
                typename M::Activation, Slice...>;
template <class M, class... Slice>
concept ConstForwardForm = KeepingForm<M, const typename M::Tensor *,
                                       typename M::Activation, Slice...>;
template <class M, class... Slice>
concept RecomputeForm =
    requires(M &model, Slice... slice, typename M::Stash &stash,
             typename M::Activation &kept,
             typename ContextWith<M, Slice>::type &...context) {
      model.recompute(0, 0, slice..., stash, kept, context...);
    };
template <class M, class... Slice>
concept StashForwardForm =
    (!ForwardForm<M, Slice...> ||
     KeepingForm<M, typename M::Tensor *, typename M::Stash, Slice...>) &&
    (!GraphForwardForm<M, Slice...> ||
     KeepingForm<M, std::span<const typename M::Tensor *const>,
                 typename M::Stash, Slice...>);
template <class M, class... Slice>
concept StashCopyForm =
    requires(M &model, Slice... slice, typename M::Stash &stash,
             typename M::Activation &kept) {
      {
        model.offload(0, 0, slice..., stash)
      } -> std::same_as<decltype(model.offload(0, 0, slice..., kept))>;
      {
        model.reload(0, 0, slice..., stash)
      } -> std::same_as<decltype(model.reload(0, 0, slice..., kept))>;
    };
template <class M, class Kept, class... Slice>
concept CopyForm = requires(M &model, Slice... slice, Kept &kept) {
  model.offload(0, 0, slice..., kept).wait();
  model.reload(0, 0, slice..., kept).wait();
  requires std::movable<decltype(model.offload(0, 0, slice..., kept))>;
  requires std::movable<decltype(model.reload(0, 0, slice..., kept))>;
};
/// `backward`, or with `Split` its two halves; with tensors, or with lists of
/// them.
template <class M, bool Split, class Output, class Input, class... Slice>
concept BackwardForm =
    requires(M &model, Slice... slice, Output outputGradient,
             Input inputGradient, typename M::Activation &kept,
             typename ContextWith<M, Slice>::type &...context) {
      requires Split || requires {
        model.backward(0, 0, slice..., outputGradient, inputGradient, kept,
                       context...);
      };
      requires !Split || requires {
        model.backwardInput(0, 0, slice..., outputGradient, inputGradient, kept,
                            context...);
        model.backwardWeight(0, 0, slice..., outputGradient, kept, context...);
      };
    };
template <class M, class... Slice>
concept InputForm =
    requires(M &model, Slice... slice, typename M::Tensor &tensor) {
      model.prepareInput(0, 0, slice..., tensor);
    };
template <class M, class... Slice>
concept GraphInputForm =
    requires(M &model, Slice... slice, typename M::Tensor &tensor) {
      model.prepareInput(0, 0, slice..., /*source=*/0, tensor);
    };
template <class M, class... Slice>
concept ResizeForm =
    requires(M &model, Slice... slice, typename M::Tensor &tensor) {
      model.resizeInput(0, 0, slice..., std::size_t(0), tensor);
    };
/// What `bytes` returns: one place, or a range of them.
template <class Bytes>
concept OneSpan = std::convertible_to<Bytes, std::span<std::byte>>;
template <class Bytes>
concept SeveralSpans = !OneSpan<Bytes> && requires(Bytes &bytes) {
  requires OneSpan<decltype(*std::begin(bytes))>;
  std::end(bytes);
};
template <class M>
concept BytesForm = requires(M &model, typename M::Tensor &tensor) {
  requires OneSpan<decltype(model.bytes(tensor))> ||
               SeveralSpans<decltype(model.bytes(tensor))>;
};
template <class M, class... Slice>
concept GradientForm =
    requires(M &model, Slice... slice, typename M::Tensor &tensor) {
      model.prepareGradient(0, 0, slice..., tensor);
    };
template <class M, class... Slice>
concept MinibatchForm =
    requires(M &model, Slice... slice, const typename M::Minibatch &all,
             typename M::Tensor &tensor, const typename M::Tensor &output) {
      model.split(all, 0, 0, slice..., tensor);
      model.loss(all, 0, slice..., output, &tensor);
    };
template <class M, class... Slice>
concept OutputForm =
    requires(M &model, Slice... slice, typename M::Outputs &all,
             const typename M::Tensor &output) {
      model.merge(all, 0, slice..., output);
    };

template <class M>
using GradientsOf = std::span<const typename M::Tensor *const>;
template <class M, bool Split, class Output, class Input>
concept AnyBackward =
    (ModelSlices<M> ? BackwardForm<M, Split, Output, Input, int>
                    : BackwardForm<M, Split, Output, Input>);
template <class M, bool Split>
concept ChainBackward =
    AnyBackward<M, Split, const typename M::Tensor *, typename M::Tensor *>;
template <class M, bool Split>
concept GraphBackward =
    AnyBackward<M, Split, GradientsOf<M>, std::span<typename M::Tensor *const>>;
} // namespace detail

template <class M>
concept ModelForward =
    (ModelSlices<M> ? detail::ForwardForm<M, int> : detail::ForwardForm<M>);

/// The functions with lists, for graphs of stages.
template <class M>
concept ModelGraphForward = (ModelSlices<M> ? detail::GraphForwardForm<M, int>
                                            : detail::GraphForwardForm<M>);
template <class M>
concept ModelGraphBackward = detail::GraphBackward<M, false>;
template <class M>
concept ModelGraphSplitBackward = detail::GraphBackward<M, true>;
template <class M>
concept ModelGraphInputs = (ModelSlices<M> ? detail::GraphInputForm<M, int>
                                           : detail::GraphInputForm<M>);

template <class M>
concept ModelBackward = detail::ChainBackward<M, false>;
template <class M>
concept ModelSplitBackward = detail::ChainBackward<M, true>;

template <class M>
concept ModelInputs =
    (ModelSlices<M> ? detail::InputForm<M, int> : detail::InputForm<M>);

/// A model whose inputs have sizes that only the sender knows.
template <class M>
concept ModelResizes =
    (ModelSlices<M> ? detail::ResizeForm<M, int> : detail::ResizeForm<M>);

/// Needed as soon as a tensor crosses ranks.
template <class M>
concept ModelTransfers =
    (ModelGraphInputs<M> || ModelInputs<M> || ModelResizes<M>) &&
    detail::BytesForm<M>;

/// A model whose transfers may need several messages.
template <class M>
concept ModelParts =
    ModelTransfers<M> &&
    (ModelResizes<M> || !requires(M &model, typename M::Tensor &tensor) {
      requires detail::OneSpan<decltype(model.bytes(tensor))>;
    });

/// Needed as soon as a gradient crosses ranks.
template <class M>
concept ModelGradientTransfers =
    ModelTransfers<M> &&
    (ModelSlices<M> ? detail::GradientForm<M, int> : detail::GradientForm<M>);

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

/// A model that makes the activations of a unit with an R from a `Stash`.
template <class M>
concept ModelRecompute =
    std::default_initializable<typename M::Stash> &&
    (ModelSlices<M> ? detail::RecomputeForm<M, int> : detail::RecomputeForm<M>);

/// Such a model must have a `forward` that keeps a `Stash`, with tensors, with
/// lists or with both, as it has that which keeps an `Activation`.
template <class M>
concept ModelStashForward = (ModelSlices<M> ? detail::StashForwardForm<M, int>
                                            : detail::StashForwardForm<M>);

/// A model whose `forward` cannot change its input.
template <class M>
concept ModelConstForward = (ModelSlices<M> ? detail::ConstForwardForm<M, int>
                                            : detail::ConstForwardForm<M>);

/// Needed by schedules with copies to the host. What `offload` and `reload`
/// return has a `wait()`, which the executor calls once.
template <class M>
concept ModelCopies =
    (ModelSlices<M> ? detail::CopyForm<M, typename M::Activation, int>
                    : detail::CopyForm<M, typename M::Activation>);

/// A model that copies stashes too, with functions of the same results.
template <class M>
concept ModelStashCopies =
    ModelCopies<M> && ModelRecompute<M> &&
    (ModelSlices<M> ? detail::StashCopyForm<M, int> : detail::StashCopyForm<M>);

/// Needed by schedules with optimizer steps.
template <class M>
concept ModelUpdates = requires(M &model) { model.update(0); };

/// A model that runs the computes of stages on several streams.
template <class M>
concept ModelStreams = requires(M &model) { model.onStream(0); };

/// A model whose computes may return before their work is done, and whose
/// streams can wait for each other.
template <class M>
concept ModelEvents = requires(M &model) {
  requires std::copyable<decltype(model.record(0))>;
  model.wait(0, model.record(0));
};

/// The stream in a call of `wait` before what is not a compute step.
inline constexpr int rankStream = -1;

/// A model that is given a mini-batch by each run.
template <class M>
concept ModelMinibatches =
    (ModelSlices<M> ? detail::MinibatchForm<M, int> : detail::MinibatchForm<M>);

/// A model that puts the outputs of its last stage together.
template <class M>
concept ModelOutputs =
    ModelMinibatches<M> &&
    (ModelSlices<M> ? detail::OutputForm<M, int> : detail::OutputForm<M>);

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

} // namespace pipec::runtime

#include "pipec/runtime/ModelResults.h"

#endif // PIPEC_RUNTIME_MODEL_H
