//===- ExecutorRecompute.h - Forwards that run again ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. From its F to its R, a unit has a stash, if the model has
// a type for it; otherwise it has its input, and the F writes an activation
// that nothing reads.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORRECOMPUTE_H
#define PIPEC_RUNTIME_EXECUTORRECOMPUTE_H

#include "pipec/runtime/Executor.h"

#include <type_traits>

namespace pipec::runtime {

/// Called by generated code of schedules with an R: only then need a `Tensor`
/// be copyable, and only where a forward may change its input.
template <class M, class T> template <int> void Executor<M, T>::copyInputs() {
  constexpr bool copies =
      !ModelRecompute<M> && ModelForward<M> && !ModelConstForward<M>;
  static_assert(
      !copies || std::is_copy_assignable_v<Tensor>,
      "pipec: the schedule has R steps, so the model must have a type Stash "
      "and recompute(int stage, int microbatch, Stash &, Activation &), or a "
      "forward that takes a const Tensor *input, or a copyable Tensor");
  if constexpr (copies && std::is_copy_assignable_v<Tensor>)
    copyTensor = [](Tensor &to, const Tensor &from) { to = from; };
}

/// Before an F whose input is kept for an R: a forward that may change its
/// input is given a copy.
template <class M, class T> void Executor<M, T>::copyInput(Work &work) {
  if constexpr (ModelForward<M> && !ModelConstForward<M>) {
    if (!work.input || givesLists())
      return;
    if (!copyTensor)
      fail<RefusedError>(
          "the schedule has R steps, the model has neither a "
          "type Stash and recompute(" +
          placeText() +
          "Stash &, Activation &) nor a forward that takes a "
          "const Tensor *input, and copyInputs() was not called");
    work.copied = acquireTensor();
    copyTensor(*work.copied, *work.input);
    work.input = work.copied;
  }
}

template <class M, class T>
inline void Executor<M, T>::beginRecompute(Work &work) {
  Cell &cell = *work.cell;
  if (!(cell.flags & ForwardDone)) [[unlikely]]
    failStep(work.kind, work.stage, work.unit, "runs before its F");
  if (!(cell.flags & Recomputed)) [[unlikely]]
    failStep(work.kind, work.stage, work.unit,
             "runs in a schedule that does not name it as recomputed");
  if (cell.flags & RecomputeBegun) [[unlikely]]
    failStep(work.kind, work.stage, work.unit, "runs twice");
  useKept(work.kind, work.stage, work.unit, cell);
  cell.flags |= RecomputeBegun;
  work.kept = cell.kept = activations.acquire(ownList());
  countKept(1);
  if constexpr (ModelSlices<M>)
    work.context = contextHeldBy(work).context;
  if constexpr (ModelRecompute<M>) {
    work.stash = cell.stash;
  } else {
    work.input = cell.input;
    if (!isLast(work.stage) || ModelMinibatches<M>)
      work.output = acquireTensor();
    if (givesLists())
      work.inputs = listInputs(work);
  }
}

template <class M, class T>
inline void Executor<M, T>::endRecompute(const Work &work) {
  if constexpr (ModelRecompute<M>) {
    stashes.release(work.cell->stash, ownList());
    work.cell->stash = nullptr;
  } else {
    if (work.output)
      tensors.release(work.output, ownList());
    releaseInputs(work);
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORRECOMPUTE_H
