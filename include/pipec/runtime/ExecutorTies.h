//===- ExecutorTies.h - Sums of tied gradients ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. A REDUCE_TIED must not hold up its rank, and a transport
// has no tags: a message of a sum that was sent among the transfers would have
// to be in the same place in the lists of both ranks. So the step only posts
// its group, and the sums run when all transfers of the rank are posted, in the
// order of the steps, which is the same on all ranks. On each directed pair of
// ranks, the messages of the sums then follow all others.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORTIES_H
#define PIPEC_RUNTIME_EXECUTORTIES_H

#include "pipec/runtime/Executor.h"

#include <algorithm>

namespace pipec::runtime {

template <class M, class T> void Executor<M, T>::reduceTied(int group) {
  publish(RankState::Running, StepKind::ReduceTied, group, 0);
  auto name = [&] { return stepText(StepKind::ReduceTied, group, 0); };
  if (group < 0 || group >= int(schedule->ties.size()))
    fail(name() + " of a schedule with " +
         std::to_string(schedule->ties.size()) + " groups of tied stages");
  bool held = false;
  for (int stage : schedule->ties[std::size_t(group)]) {
    const StageBooks *own = booksOf(stage);
    if (!own)
      continue;
    held = true;
    if (own->weights != own->expected)
      fail(name() + " comes after " + std::to_string(own->weights) + " of " +
           std::to_string(own->expected) + " weight gradients of stage " +
           std::to_string(stage));
    if (reduces(stage) && !own->reduced)
      fail(name() + " comes before REDUCE_GRAD s" + std::to_string(stage));
  }
  if (!held)
    fail(name() + " does not belong on this rank");
  if (std::find(tied.begin(), tied.end(), group) != tied.end())
    fail(name() + " comes twice");
  tied.push_back(group);
  Context step = contextOf(Step{StepKind::ReduceTied, group, 0});
  static constexpr typename Context::Actions actions = {
      proceedTied, isReady, doNothing, doNothing, doNothing};
  if (handled[int(StepKind::ReduceTied)])
    takeOver(step, actions);
  else
    proceedTied(this, step);
}

template <class M, class T>
void Executor<M, T>::proceedTied(void *executor, Context &step) {
  static_cast<Executor *>(executor)->unsummed.push_back(step.stage);
}

template <class M, class T> void Executor<M, T>::sumTies() {
  for (int group : unsummed) {
    std::size_t index = 0;
    publish(RankState::Running, StepKind::ReduceTied, group, 0);
    if (options.trace)
      index = record(RankState::Running, StepKind::ReduceTied, group, 0);
    sumTied(group);
    if (options.trace)
      options.trace->end(index);
  }
}

/// Exchanges the gradients of a group with its other ranks and has the model
/// sum them.
template <class M, class T> void Executor<M, T>::sumTied(int group) {
  if constexpr (!ModelTies<M>) {
    fail<RefusedError>("the schedule has REDUCE_TIED steps, and the model has "
                       "no exportTied(int group, Tensor &) and sumTied(int "
                       "group, std::span<const Tensor *const>)");
  } else {
    tiedParts.clear();
    for (int holder : tiedHolders[std::size_t(group)])
      tiedParts.push_back({holder, acquireTensor(transferList)});
    Tensor *mine = nullptr;
    for (TiedPart &part : tiedParts) {
      beginReceive(part.tensor);
      // The gradient of another rank has the same size.
      model.exportTied(group, *part.tensor);
      if (part.rank == rank)
        mine = part.tensor;
    }
    Step step = {StepKind::ReduceTied, group, 0};
    for (TiedPart &part : tiedParts) {
      if (part.rank == rank)
        continue;
      auto &&out = model.bytes(*mine);
      auto &&in = model.bytes(*part.tensor);
      part.sending = transfers.acquire();
      part.receiving = transfers.acquire();
      startMessage(/*sends=*/true, part.rank,
                   expectedHeader(step, detail::sizeOfBytes(out)), out,
                   part.sending->request);
      startMessage(/*sends=*/false, part.rank,
                   expectedHeader(step, detail::sizeOfBytes(in)), in,
                   part.receiving->request);
    }
    tiedTensors.clear();
    for (TiedPart &part : tiedParts) {
      tiedTensors.push_back(part.tensor);
      if (!part.receiving)
        continue;
      await(part.receiving->request, step);
      Header wanted =
          expectedHeader(step, detail::sizeOfBytes(model.bytes(*part.tensor)));
      if (!(transport.header(part.receiving->request) == wanted))
        fail<MessageError>("the gradient of group " + std::to_string(group) +
                           " of tied stages from rank " +
                           std::to_string(part.rank) + " is not what came");
    }
    model.sumTied(group, std::span<const Tensor *const>(tiedTensors));
    for (TiedPart &part : tiedParts) {
      if (part.sending) {
        await(part.sending->request, step);
        endTransfer(part.sending);
        endTransfer(part.receiving);
      }
      tensors.release(part.tensor, transferList);
    }
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORTIES_H
