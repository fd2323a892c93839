//===- ModelResults.h - Types that follow from a model ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Model.h. The types of the values that a model returns, and of the
// objects that the executor keeps for it. They are empty where a model has
// none.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_MODELRESULTS_H
#define PIPEC_RUNTIME_MODELRESULTS_H

#include "pipec/runtime/Model.h"

#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace pipec::runtime {

namespace detail {
/// The result of the model's `forward`, as a std::type_identity.
template <class M, class... Slice> auto forwardResult() {
  auto with = [](auto input) {
    return std::type_identity<decltype(std::declval<M &>().forward(
        0, 0, std::declval<Slice>()..., input,
        std::declval<typename M::Tensor *>(),
        std::declval<typename M::Activation &>(),
        std::declval<typename ContextWith<M, Slice>::type &>()...))>();
  };
  if constexpr (ForwardForm<M, Slice...>)
    return with(static_cast<typename M::Tensor *>(nullptr));
  else if constexpr (GraphForwardForm<M, Slice...>)
    return with(GradientsOf<M>());
  else
    return std::type_identity<void>();
}
/// The result of the model's `loss`, as well.
template <class M, class... Slice> auto lossResult() {
  return std::type_identity<decltype(std::declval<M &>().loss(
      std::declval<const typename M::Minibatch &>(), 0,
      std::declval<Slice>()..., std::declval<const typename M::Tensor &>(),
      std::declval<typename M::Tensor *>()))>();
}

template <class M> struct ForwardResult {
  using type = typename decltype(forwardResult<M>())::type;
};
template <ModelSlices M> struct ForwardResult<M> {
  using type = typename decltype(forwardResult<M, int>())::type;
};
template <class M> struct LossResult {
  using type = typename decltype(lossResult<M>())::type;
};
template <ModelSlices M> struct LossResult<M> {
  using type = typename decltype(lossResult<M, int>())::type;
};
} // namespace detail

/// A model whose `forward` returns something.
template <class M>
concept ModelReturnsLoss =
    !std::is_void_v<typename detail::ForwardResult<M>::type>;

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
  using returned = typename LossResult<M>::type;
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

template <class M> struct EventType {
  using type = Nothing;
};
template <ModelEvents M> struct EventType<M> {
  using type = decltype(std::declval<M &>().record(0));
};

template <class M> struct StashType {
  using type = Nothing;
};
template <ModelRecompute M> struct StashType<M> {
  using type = typename M::Stash;
};

template <class M, class... Slice> struct CopyTypes {
  using Offload = decltype(std::declval<M &>().offload(
      0, 0, std::declval<Slice>()...,
      std::declval<typename M::Activation &>()));
  using Reload = decltype(std::declval<M &>().reload(
      0, 0, std::declval<Slice>()...,
      std::declval<typename M::Activation &>()));
};
template <class M> struct CopiesType {
  struct type {};
};
template <ModelCopies M> struct CopiesType<M> {
  using Types =
      std::conditional_t<ModelSlices<M>, CopyTypes<M, int>, CopyTypes<M>>;
  struct type {
    std::optional<typename Types::Offload> out;
    std::optional<typename Types::Reload> in;
  };
};
} // namespace detail

/// The loss of a unit, or `Nothing`.
template <class M> using LossOf = typename detail::LossType<M>::type;
template <class M> using MinibatchOf = typename detail::MinibatchType<M>::type;
template <class M> using OutputsOf = typename detail::OutputsType<M>::type;
template <class M>
inline constexpr bool hasLoss = !std::is_same_v<LossOf<M>, Nothing>;

/// Kept by a model with slices from one slice to the next, or `Nothing`.
template <class M>
using SliceContextOf = typename detail::SliceContextType<M>::type;

/// The copies that are under way for a unit, or an empty type.
template <class M> using CopiesOf = typename detail::CopiesType<M>::type;

/// Kept by a forward for an R, or `Nothing`.
template <class M> using StashOf = typename detail::StashType<M>::type;

/// The result of the model's `record`, or `Nothing`.
template <class M> using EventOf = typename detail::EventType<M>::type;

/// The result of the model's `reduceGrad`, or an empty type.
template <class M> using ReductionOf = typename detail::ReductionType<M>::type;

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_MODELRESULTS_H
