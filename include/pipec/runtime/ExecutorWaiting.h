//===- ExecutorWaiting.h - Waiting for transfers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORWAITING_H
#define PIPEC_RUNTIME_EXECUTORWAITING_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

/// Returns a complete transfer to its pool.
template <class M, class T>
void Executor<M, T>::endTransfer(Transfer *transfer) {
  if (transfer->sibling) [[unlikely]] {
    Transfer *before = transfer->sibling;
    while (before->sibling != transfer)
      before = before->sibling;
    before->sibling = before == transfer->sibling ? nullptr : transfer->sibling;
    transfer->sibling = nullptr;
  }
  transfers.release(transfer);
}

/// Links the transfers of a batch in a circle, so that the wait for one of its
/// sends waits for all of them.
template <class M, class T> void Executor<M, T>::joinBatch() {
  Transfer *first = nullptr, *last = nullptr;
  for (const Posted &posted : groupPosted) {
    if (!posted.transfer)
      continue;
    posted.transfer->step = posted.step;
    if (!first)
      first = posted.transfer;
    else
      last->sibling = posted.transfer;
    last = posted.transfer;
  }
  if (first != last)
    last->sibling = first;
}

/// Returns the transfer and the tensor of a complete send to their pools.
template <class M, class T> void Executor<M, T>::free(const Posted &posted) {
  endTransfer(posted.transfer);
  release(posted.tensor, transferList);
}

/// Returns the tensors of complete sends to their pool, oldest first.
template <class M, class T> void Executor<M, T>::reclaimSends() {
  while (!sends.empty() && transport.test(sends.front().transfer->request)) {
    free(sends.front());
    sends.pop();
  }
}

/// WAIT_SEND_F and WAIT_SEND_B: the tensor is free again after this.
template <class M, class T> void Executor<M, T>::waitSend(const Step &of) {
  enter(of.kind, of.stage, of.unit);
  bool isForward = of.kind == StepKind::WaitSendForward;
  if (!schedule->waitsForSends) [[unlikely]]
    failStep(of, "runs in a schedule whose waitsForSends is false");
  unsigned sent = isForward ? OutputSent : InputGradientSent;
  if ((isGraph() && portOf(of) < 0) || !(cellOf(of).flags & sent)) [[unlikely]]
    failStep(of, "comes before its send");
  Cell &cell = cellOf(of);
  unsigned freed = isForward ? OutputFreed : InputGradientFreed;
  if (cell.flags & freed) [[unlikely]]
    failStep(of, "comes twice");
  cell.flags |= freed;
  Transfer *&transfer =
      isForward ? cell.forwardTransfer : cell.backwardTransfer;
  Tensor *&tensor = isForward ? cell.output : cell.inputGradient;
  std::size_t index = 0;
  if (options.trace) [[unlikely]]
    index = record(RankState::Waiting, of);
  if (handled[int(of.kind)]) [[unlikely]] {
    Context step = contextOf(of);
    step.tensor = tensor;
    static constexpr typename Context::Actions actions = {
        proceedSendWait, isSendComplete, proceedSendWait, doNothing, doNothing};
    takeOver(step, actions, transfer);
  }
  if (transfer) {
    // After a handler, too: the transport may still use the tensor.
    awaitSend(*transfer, of);
    endTransfer(transfer);
    transfer = nullptr;
  }
  if (options.trace) [[unlikely]]
    options.trace->end(index);
  release(tensor, transferList);
  tensor = nullptr;
  --unwaited;
}

/// Waits for a send and for the rest of its batch, at the wait `step`.
template <class M, class T>
void Executor<M, T>::awaitSend(Transfer &transfer, const Step &step) {
  await(transfer.request, step);
  for (Transfer *other = transfer.sibling; other && other != &transfer;
       other = other->sibling)
    await(other->request, other->step);
}

template <class M, class T>
void Executor<M, T>::proceedSendWait(void *executor, Context &step) {
  // Null when a handler has moved the tensor.
  if (auto *transfer = static_cast<Transfer *>(step.state))
    static_cast<Executor *>(executor)->awaitSend(
        *transfer, {step.kind, step.stage, step.unit, 0, false, step.other});
}

template <class M, class T>
bool Executor<M, T>::isSendComplete(void *executor, Context &step) {
  Executor &self = *static_cast<Executor *>(executor);
  auto *transfer = static_cast<Transfer *>(step.state);
  if (!transfer)
    return true;
  bool complete = self.transport.test(transfer->request);
  for (Transfer *other = transfer->sibling;
       complete && other && other != transfer; other = other->sibling)
    complete = self.transport.test(other->request);
  return complete;
}

/// Waits for a receive, checks its message, and returns the transfer to its
/// pool.
template <class M, class T>
void Executor<M, T>::arrive(Transfer &transfer, Tensor &into,
                            const Step &step) {
  std::size_t index = 0;
  if (options.trace)
    index = record(RankState::Waiting, step);
  await(transfer.request, step);
  if (options.trace)
    options.trace->end(index);
  if constexpr (ModelTransfers<M>) {
    Header got = transport.header(transfer.request);
    Header wanted =
        expectedHeader(step, detail::sizeOfBytes(model.bytes(into)));
    if (!(got == wanted)) [[unlikely]]
      failMessage(step, wanted, got);
  }
  endTransfer(&transfer);
}

template <class M, class T>
void Executor<M, T>::failMessage(const Step &step, const Header &wanted,
                                 const Header &got) {
  if (got.lists != wanted.lists)
    fail<MessageError>("rank " + std::to_string(peerOf(step)) +
                       " runs other lists: their digest is " +
                       std::to_string(got.lists) + " there and " +
                       std::to_string(wanted.lists) + " here");
  if (got.order != wanted.order)
    fail<MessageError>("the order of the batch differs from that of rank " +
                       std::to_string(peerOf(step)));
  auto show = [this](const Header &header) {
    return "`" +
           stepText(header.kind, header.stage, header.unit, header.other,
                    schedule->slices) +
           "` of run " + std::to_string(header.run) + " with " +
           std::to_string(header.bytes) + " bytes";
  };
  fail<MessageError>("`" + textOf(step) + "` expects " + show(wanted) +
                     " from rank " + std::to_string(peerOf(step)) + ", and " +
                     show(got) + " came");
}

template <class M, class T>
void Executor<M, T>::await(Request &request, const Step &step) {
  if (!transport.test(request))
    awaitSlowly(request, step);
}

template <class M, class T>
void Executor<M, T>::awaitSlowly(Request &request, const Step &step) {
  using Clock = std::chrono::steady_clock;
  std::uint64_t before = status->state.load(std::memory_order_relaxed);
  status->waited.store(0, std::memory_order_relaxed);
  publish(RankState::Waiting, step.kind, step.stage, step.unit);
  std::chrono::nanoseconds slice = std::min<std::chrono::nanoseconds>(
      options.patience, std::chrono::milliseconds(20));
  // Most waits are short: the clock is read when one was not.
  Clock::time_point since = Clock::time_point::max();
  while (!transport.wait(request, slice)) {
    stopIfOthersFailed();
    Clock::time_point now = Clock::now();
    since = std::min(since, now - slice);
    std::chrono::nanoseconds waited = now - since;
    status->waited.store(waited.count(), std::memory_order_relaxed);
    if (waited >= options.patience)
      stall(waited);
  }
  status->state.store(before, std::memory_order_relaxed);
}

template <class M, class T> void Executor<M, T>::stopIfOthersFailed() {
  if constexpr (FailureTransport<T>)
    if (std::optional<std::string> message = transport.failure())
      throw StoppedError(*message);
}

/// Ends the run with what every rank is doing.
template <class M, class T>
void Executor<M, T>::stall(std::chrono::nanoseconds waited) {
  RankState own = RankState::unpack(status->state.load());
  std::string report = "no progress:\n  rank " + std::to_string(rank) +
                       " waits for " + describe(own, waited);
  if constexpr (StatusTransport<T>) {
    for (int other = 0; other != schedule->ranks; ++other) {
      if (other == rank)
        continue;
      std::optional<StatusView> view = transport.statusOf(other);
      if (!view)
        continue;
      report += "\n  rank " + std::to_string(other);
      switch (view->state.activity) {
      case RankState::Idle:
        report += " has not started";
        break;
      case RankState::Finished:
        report += " has finished its run";
        break;
      case RankState::Running:
        report += " runs " + describe(view->state, view->waited);
        break;
      case RankState::Waiting:
        report += " waits for " + describe(view->state, view->waited);
        break;
      }
    }
  }
  explained = true;
  throw StallError(report);
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORWAITING_H
