//===- ExecutorTransfers.h - Sends, receives and waiting --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Executor.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORTRANSFERS_H
#define PIPEC_RUNTIME_EXECUTORTRANSFERS_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

/// The rank at the other end of a transfer, -1 when the model ends there.
template <class M, class T>
int Executor<M, T>::peerOf(StepKind kind, int stage, int microbatch) const {
  bool next = kind == StepKind::SendForward || kind == StepKind::RecvBackward ||
              kind == StepKind::WaitSendForward;
  int other = stage + (next ? 1 : -1);
  if (other < 0 || other >= schedule->stages)
    return -1;
  return schedule->rankOf(other, microbatch);
}

/// What a message must say of itself so that `step` can take it. For a send,
/// what the message says.
template <class M, class T>
Header Executor<M, T>::expectedHeader(const Step &step,
                                      std::size_t bytes) const {
  Header header;
  header.kind = step.kind;
  header.stage = step.stage;
  header.microbatch = step.microbatch;
  header.run = runNumber;
  header.bytes = bytes;
  if (step.kind == StepKind::RecvForward) {
    header.kind = StepKind::SendForward;
    --header.stage;
  } else if (step.kind == StepKind::RecvBackward) {
    header.kind = StepKind::SendBackward;
    ++header.stage;
  }
  return header;
}

//===----------------------------------------------------------------------===//
// Posting
//===----------------------------------------------------------------------===//

template <class M, class T>
auto Executor<M, T>::send(StepKind kind, int stage, int microbatch) -> Posted {
  Cell &cell = enter(kind, stage, microbatch).cells[microbatch];
  int peer = peerOf(kind, stage, microbatch);
  if (peer < 0 || peer == rank) [[unlikely]]
    failStep(kind, stage, microbatch, "has no other rank to go to");
  bool isForward = kind == StepKind::SendForward;
  unsigned sent = isForward ? OutputSent : InputGradientSent;
  if (cell.flags & sent) [[unlikely]]
    failStep(kind, stage, microbatch, "comes twice");
  if (!(cell.flags & (isForward ? ForwardDone : GradientDone))) [[unlikely]]
    failStep(kind, stage, microbatch, "comes before what it sends is made");
  cell.flags |= sent;
  Tensor *&slot = isForward ? cell.output : cell.inputGradient;
  Posted posted{{kind, stage, microbatch}, nullptr, slot};
  --unsent;
  if constexpr (!ModelTransfers<M>) {
    throw RefusedError("the schedule has transfers, and the model has no "
                       "prepareInput(int stage, int microbatch, Tensor &) and "
                       "std::span<std::byte> bytes(Tensor &)");
  } else {
    std::size_t index = 0;
    if (options.trace) [[unlikely]]
      index = record(RankState::Running, kind, stage, microbatch);
    if (!handled[int(kind)] || handTransfer(posted, peer)) [[likely]] {
      std::span<std::byte> bytes = model.bytes(*posted.tensor);
      posted.transfer = transfers.acquire();
      transport.isend(peer, expectedHeader(posted.step, bytes.size()),
                      std::span<const std::byte>(bytes),
                      posted.transfer->request);
    }
    if (options.trace) [[unlikely]]
      options.trace->end(index);
  }
  if (schedule->waitsForSends) {
    // The tensor stays in its slot until the wait.
    (isForward ? cell.forwardTransfer : cell.backwardTransfer) =
        posted.transfer;
    peakSends = std::max(peakSends, ++unwaited);
  } else {
    slot = nullptr;
    if (!posted.transfer)
      tensors.release(posted.tensor);
  }
  return posted;
}

template <class M, class T>
auto Executor<M, T>::recv(StepKind kind, int stage, int microbatch) -> Posted {
  Cell &cell = enter(kind, stage, microbatch).cells[microbatch];
  int peer = peerOf(kind, stage, microbatch);
  if (peer < 0 || peer == rank) [[unlikely]]
    failStep(kind, stage, microbatch, "has no other rank to come from");
  bool isForward = kind == StepKind::RecvForward;
  if (cell.flags & (isForward ? InputPosted : GradientPosted)) [[unlikely]]
    failStep(kind, stage, microbatch, "comes twice");
  if (cell.flags & (isForward ? ForwardBegun : GradientBegun)) [[unlikely]]
    failStep(kind, stage, microbatch, "comes after the step that needs it");
  cell.flags |= isForward ? InputPosted : GradientPosted;
  Posted posted{{kind, stage, microbatch}, nullptr, acquireTensor()};
  (isForward ? cell.input : cell.outputGradient) = posted.tensor;
  peakReceived = std::max(peakReceived, ++received);
  if constexpr (!ModelTransfers<M>) {
    throw RefusedError("the schedule has transfers, and the model has no "
                       "prepareInput(int stage, int microbatch, Tensor &) and "
                       "std::span<std::byte> bytes(Tensor &)");
  } else {
    if (isForward) {
      model.prepareInput(stage, microbatch, *posted.tensor);
    } else {
      if constexpr (ModelGradientTransfers<M>)
        model.prepareGradient(stage, microbatch, *posted.tensor);
      else
        throw RefusedError("the schedule has RECV_B steps, and the model has "
                           "no prepareGradient(int stage, int microbatch, "
                           "Tensor &)");
    }
    if (handled[int(kind)] && !handTransfer(posted, peer)) [[unlikely]] {
      cell.flags |= isForward ? InputReady : GradientReady;
      return {};
    }
    std::span<std::byte> bytes = model.bytes(*posted.tensor);
    posted.transfer = transfers.acquire();
    (isForward ? cell.forwardTransfer : cell.backwardTransfer) =
        posted.transfer;
    transport.irecv(peer, expectedHeader(posted.step, bytes.size()), bytes,
                    posted.transfer->request);
  }
  return posted;
}

/// Lets the handler see a transfer; false when it has moved the tensor itself.
template <class M, class T>
bool Executor<M, T>::handTransfer(const Posted &posted, int peer) {
  Context step;
  step.kind = posted.step.kind;
  step.rank = rank;
  step.stage = posted.step.stage;
  step.microbatch = posted.step.microbatch;
  step.peer = peer;
  step.tensor = posted.tensor;
  // `proceed` does nothing by itself: the post follows.
  takeOver(step, [](void *, Context &) {});
  return step.proceeded;
}

/// What follows a post: nothing more than remembering a send, or in blocking
/// mode the wait.
template <class M, class T> void Executor<M, T>::settle(const Posted &posted) {
  if (!posted.transfer)
    return;
  const Step &step = posted.step;
  if (isSend(step.kind)) {
    if (options.blocking)
      await(posted.transfer->request, step);
    // A send that a step waits for keeps its tensor until then.
    if (schedule->waitsForSends)
      return;
    if (options.blocking) {
      free(posted);
      return;
    }
    sends.push(posted);
    peakSends = std::max(peakSends, int(sends.size()));
    return;
  }
  if (!options.blocking)
    return;
  arrive(*posted.transfer, *posted.tensor, step);
  Cell &cell = *find(step.stage, step.microbatch);
  if (step.kind == StepKind::RecvForward) {
    cell.forwardTransfer = nullptr;
    cell.flags |= InputReady;
  } else {
    cell.backwardTransfer = nullptr;
    cell.flags |= GradientReady;
  }
}

template <class M, class T>
auto Executor<M, T>::post(const Step &step) -> Posted {
  switch (step.kind) {
  case StepKind::SendForward:
  case StepKind::SendBackward:
    return send(step.kind, step.stage, step.microbatch);
  case StepKind::RecvForward:
  case StepKind::RecvBackward:
    return recv(step.kind, step.stage, step.microbatch);
  default:
    failStep(step.kind, step.stage, step.microbatch,
             "is in a batch and not a transfer");
  }
}

template <class M, class T>
void Executor<M, T>::runBatch(std::span<const Step> members) {
  groupPosted.clear();
  if constexpr (BatchTransport<T>)
    transport.beginBatch();
  for (const Step &member : members)
    groupPosted.push_back(post(member));
  if constexpr (BatchTransport<T>)
    transport.endBatch();
  if (schedule->waitsForSends)
    joinBatch();
  for (const Posted &posted : groupPosted)
    settle(posted);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

/// Gives back a transfer that is complete.
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

/// Gives back all that a complete send has.
template <class M, class T> void Executor<M, T>::free(const Posted &posted) {
  endTransfer(posted.transfer);
  tensors.release(posted.tensor);
}

/// Gives back the tensors of sends that are complete, oldest first.
template <class M, class T> void Executor<M, T>::reclaimSends() {
  while (!sends.empty() && transport.test(sends.front().transfer->request)) {
    free(sends.front());
    sends.pop();
  }
}

/// WAIT_SEND_F and WAIT_SEND_B: the tensor is free again after this.
template <class M, class T>
void Executor<M, T>::waitSend(StepKind kind, int stage, int microbatch) {
  Cell &cell = enter(kind, stage, microbatch).cells[microbatch];
  bool isForward = kind == StepKind::WaitSendForward;
  if (!schedule->waitsForSends) [[unlikely]]
    failStep(kind, stage, microbatch,
             "runs in a schedule whose waitsForSends is false");
  unsigned sent = isForward ? OutputSent : InputGradientSent;
  if (!(cell.flags & sent)) [[unlikely]]
    failStep(kind, stage, microbatch, "comes before its send");
  unsigned freed = isForward ? OutputFreed : InputGradientFreed;
  if (cell.flags & freed) [[unlikely]]
    failStep(kind, stage, microbatch, "comes twice");
  cell.flags |= freed;
  Transfer *&transfer =
      isForward ? cell.forwardTransfer : cell.backwardTransfer;
  Tensor *&tensor = isForward ? cell.output : cell.inputGradient;
  std::size_t index = 0;
  if (options.trace) [[unlikely]]
    index = record(RankState::Waiting, kind, stage, microbatch);
  if (handled[int(kind)]) [[unlikely]] {
    Context step;
    step.kind = kind;
    step.rank = rank;
    step.stage = stage;
    step.microbatch = microbatch;
    step.peer = peerOf(kind, stage, microbatch);
    step.tensor = tensor;
    takeOver(step, proceedSendWait);
  }
  if (transfer) {
    // After a handler, too: the transport may still use the tensor.
    awaitSend(*transfer, {kind, stage, microbatch});
    endTransfer(transfer);
    transfer = nullptr;
  }
  if (options.trace) [[unlikely]]
    options.trace->end(index);
  tensors.release(tensor);
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
  Executor &self = *static_cast<Executor *>(executor);
  Cell &cell = *self.find(step.stage, step.microbatch);
  Transfer *transfer = step.kind == StepKind::WaitSendForward
                           ? cell.forwardTransfer
                           : cell.backwardTransfer;
  if (transfer)
    self.awaitSend(*transfer, {step.kind, step.stage, step.microbatch});
}

/// Waits for a receive, checks that it brought what was expected, and gives the
/// transfer back.
template <class M, class T>
void Executor<M, T>::arrive(Transfer &transfer, Tensor &into,
                            const Step &step) {
  std::size_t index = 0;
  if (options.trace)
    index = record(RankState::Waiting, step.kind, step.stage, step.microbatch);
  await(transfer.request, step);
  if (options.trace)
    options.trace->end(index);
  if constexpr (ModelTransfers<M>) {
    Header got = transport.header(transfer.request);
    Header wanted = expectedHeader(step, model.bytes(into).size());
    if (!(got == wanted)) [[unlikely]]
      failMessage(step, wanted, got);
  }
  endTransfer(&transfer);
}

template <class M, class T>
void Executor<M, T>::failMessage(const Step &step, const Header &wanted,
                                 const Header &got) {
  auto show = [](const Header &header) {
    return "`" + stepText(header.kind, header.stage, header.microbatch) +
           "` of run " + std::to_string(header.run) + " with " +
           std::to_string(header.bytes) + " bytes";
  };
  fail<MessageError>(
      "`" + stepText(step.kind, step.stage, step.microbatch) + "` expects " +
      show(wanted) + " from rank " +
      std::to_string(peerOf(step.kind, step.stage, step.microbatch)) +
      ", and " + show(got) + " came");
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
  publish(RankState::Waiting, step.kind, step.stage, step.microbatch);
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
  throw StallError(report);
}

//===----------------------------------------------------------------------===//
// Replicas
//===----------------------------------------------------------------------===//

/// In a bidirectional schedule a stage is on two ranks, each with the gradient
/// of its half of the micro-batches. Each sends its gradient to the other, in
/// the order of the stages, after all other messages, and adds the received
/// one, so that both have the same sum.
template <class M, class T> template <int> void Executor<M, T>::sumReplicas() {
  static_assert(ModelReplicas<M>,
                "pipec: two ranks hold each stage of this schedule, so the "
                "model must have exportGradient(int stage, Tensor &) and "
                "addGradient(int stage, const Tensor &)");
  line = 0;
  checkComplete();
  for (const StageBooks &stage : books) {
    int other = schedule->rankOfStage[stage.stage];
    if (other == rank)
      other = schedule->rankOfStage[schedule->stages + stage.stage];
    if (other == rank)
      continue;
    Tensor *mine = acquireTensor();
    Tensor *theirs = acquireTensor();
    model.exportGradient(stage.stage, *mine);
    model.exportGradient(stage.stage, *theirs); // for its size
    Step step = {StepKind::ReduceGrad, stage.stage, 0};
    std::span<std::byte> out = model.bytes(*mine);
    std::span<std::byte> in = model.bytes(*theirs);
    Transfer *sending = transfers.acquire();
    Transfer *receiving = transfers.acquire();
    transport.isend(other, expectedHeader(step, out.size()),
                    std::span<const std::byte>(out), sending->request);
    transport.irecv(other, expectedHeader(step, in.size()), in,
                    receiving->request);
    await(receiving->request, step);
    if (!(transport.header(receiving->request) ==
          expectedHeader(step, in.size())))
      fail<MessageError>("the gradient of stage " +
                         std::to_string(stage.stage) + " from rank " +
                         std::to_string(other) + " is not what came");
    model.addGradient(stage.stage, *theirs);
    await(sending->request, step);
    endTransfer(sending);
    endTransfer(receiving);
    tensors.release(mine);
    tensors.release(theirs);
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORTRANSFERS_H
