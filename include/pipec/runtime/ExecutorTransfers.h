//===- ExecutorTransfers.h - Sends and receives -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORTRANSFERS_H
#define PIPEC_RUNTIME_EXECUTORTRANSFERS_H

#include "pipec/runtime/Executor.h"

#include <algorithm>

namespace pipec::runtime {

/// The rank at the other end of a transfer, -1 when the model ends there.
template <class M, class T> int Executor<M, T>::peerOf(const Step &step) const {
  int other = otherOf(step);
  if (other < 0 || other >= schedule->stages)
    return -1;
  return schedule->rankOf(other, step.unit);
}

/// The port of a transfer in a graph, -1 when there is no such edge.
template <class M, class T> int Executor<M, T>::portOf(const Step &step) const {
  const StageEnds &of = ends[std::size_t(step.stage)];
  bool isSource = step.kind == StepKind::RecvForward ||
                  step.kind == StepKind::SendBackward ||
                  step.kind == StepKind::WaitSendBackward;
  const std::vector<EdgeEnd> &list = isSource ? of.sources : of.targets;
  int other = otherOf(step);
  auto at = std::lower_bound(
      list.begin(), list.end(), other,
      [](const EdgeEnd &end, int stage) { return end.stage < stage; });
  return at != list.end() && at->stage == other ? int(at - list.begin()) : -1;
}

/// The header of the message that a receive expects. For a send, the header of
/// its message.
template <class M, class T>
Header Executor<M, T>::expectedHeader(const Step &step,
                                      std::size_t bytes) const {
  Header header;
  header.kind = step.kind;
  header.stage = step.stage;
  header.unit = step.unit;
  header.run = runNumber;
  header.order = orderHash;
  header.lists = schedule->digest;
  header.bytes = bytes;
  bool isReceive = isTransfer(step.kind) && !isSend(step.kind);
  if (isReceive) {
    header.kind = step.kind == StepKind::RecvForward ? StepKind::SendForward
                                                     : StepKind::SendBackward;
    header.stage = otherOf(step);
  }
  if (isGraph() && isTransfer(step.kind))
    header.other = isReceive ? step.stage : otherOf(step);
  return header;
}

//===----------------------------------------------------------------------===//
// Posting
//===----------------------------------------------------------------------===//

template <class M, class T>
auto Executor<M, T>::send(const Step &step) -> Posted {
  enter(step.kind, step.stage, step.unit);
  int peer = peerOf(step);
  if (peer < 0 || peer == rank || (isGraph() && portOf(step) < 0)) [[unlikely]]
    failStep(step, "has no other rank to go to");
  if (!early.empty() && passEarly(step, peer)) [[unlikely]]
    return {};
  return sendNow(step, peer);
}

template <class M, class T>
auto Executor<M, T>::sendNow(const Step &step, int peer) -> Posted {
  Cell &cell = cellOf(step);
  bool isForward = step.kind == StepKind::SendForward;
  unsigned sent = isForward ? OutputSent : InputGradientSent;
  if (cell.flags & sent) [[unlikely]]
    failStep(step, "comes twice");
  if (!(find(step.stage, step.unit)->flags &
        (isForward ? ForwardDone : GradientDone))) [[unlikely]]
    failStep(step, "comes before what it sends is made");
  cell.flags |= sent;
  Tensor *&slot = isForward ? cell.output : cell.inputGradient;
  Posted posted{step, nullptr, slot};
  waitForUses(rankStream, slot);
  --unsent;
  std::size_t index = 0;
  if (options.trace) [[unlikely]]
    index = record(RankState::Running, step);
  startTransfer(posted, peer);
  if (options.trace) [[unlikely]]
    options.trace->end(index);
  if (schedule->waitsForSends) {
    // The tensor stays in its slot until the wait.
    (isForward ? cell.forwardTransfer : cell.backwardTransfer) =
        posted.transfer;
    peakSends = std::max(peakSends, ++unwaited);
  } else {
    slot = nullptr;
    if (!posted.transfer)
      release(posted.tensor, transferList);
  }
  return posted;
}

template <class M, class T>
auto Executor<M, T>::recv(const Step &step) -> Posted {
  enter(step.kind, step.stage, step.unit);
  int peer = peerOf(step);
  if (peer < 0 || peer == rank || (isGraph() && portOf(step) < 0)) [[unlikely]]
    failStep(step, "has no other rank to come from");
  Cell &cell = cellOf(step);
  bool isForward = step.kind == StepKind::RecvForward;
  if (cell.flags & (isForward ? InputPosted : GradientPosted)) [[unlikely]]
    failStep(step, "comes twice");
  if (find(step.stage, step.unit)->flags &
      (isForward ? ForwardBegun : GradientBegun)) [[unlikely]]
    failStep(step, "comes after the step that needs it");
  cell.flags |= isForward ? InputPosted : GradientPosted;
  Posted posted{step, nullptr, acquireTensor(transferList)};
  (isForward ? cell.input : cell.outputGradient) = posted.tensor;
  peakReceived = std::max(peakReceived, ++received);
  beginReceive(posted.tensor);
  if (ModelResizes<M> && isForward && !handled[int(step.kind)])
    resize(step, *posted.tensor, peer);
  else
    prepare(step, *posted.tensor);
  startTransfer(posted, peer);
  if (posted.transfer)
    (isForward ? cell.forwardTransfer : cell.backwardTransfer) =
        posted.transfer;
  else
    cell.flags |= isForward ? InputReady : GradientReady;
  return posted;
}

/// Gives the tensor of a receive its size.
template <class M, class T>
void Executor<M, T>::prepare(const Step &step, Tensor &tensor) {
  if constexpr (ModelTransfers<M>) {
    if (step.kind == StepKind::RecvForward) {
      if constexpr (ModelGraphInputs<M>)
        if (givesLists())
          return withSlice(step.unit, [&](int microbatch, auto... slice) {
            model.prepareInput(step.stage, microbatch, slice..., otherOf(step),
                               tensor);
          });
      if constexpr (ModelInputs<M>)
        return withSlice(step.unit, [&](int microbatch, auto... slice) {
          model.prepareInput(step.stage, microbatch, slice..., tensor);
        });
    } else if constexpr (ModelGradientTransfers<M>) {
      return withSlice(step.unit, [&](int microbatch, auto... slice) {
        model.prepareGradient(step.stage, microbatch, slice..., tensor);
      });
    } else {
      fail<RefusedError>("the schedule has RECV_B steps, and the model has no "
                         "prepareGradient(" +
                         placeText() + "Tensor &)");
    }
  }
}

/// Posts a transfer, unless a handler moves the tensor itself.
template <class M, class T>
void Executor<M, T>::startTransfer(Posted &posted, int peer) {
  if (!handled[int(posted.step.kind)]) [[likely]]
    return postTransfer(posted, peer);
  Context step = contextOf(posted.step);
  step.tensor = posted.tensor;
  static constexpr typename Context::Actions actions = {
      proceedTransfer, isTransferReady, waitForTransfer, doNothing, doNothing};
  takeOver(step, actions, &posted);
}

template <class M, class T>
void Executor<M, T>::postTransfer(Posted &posted, int peer) {
  if constexpr (!ModelTransfers<M>) {
    fail<RefusedError>("the schedule has transfers, and the model has no "
                       "prepareInput(" +
                       placeText() +
                       "Tensor &) and std::span<std::byte> bytes(Tensor &)");
  } else {
    auto &&bytes = model.bytes(*posted.tensor);
    posted.transfer = transfers.acquire();
    Header header = expectedHeader(posted.step, detail::sizeOfBytes(bytes));
    if constexpr (ModelResizes<M>)
      if (posted.step.kind == StepKind::SendForward) {
        transport.announce(peer, header, posted.transfer->request);
        return transport.isend(peer, header, bytes, posted.transfer->request);
      }
    startMessage(isSend(posted.step.kind), peer, header, bytes,
                 posted.transfer->request);
  }
}

/// Starts to send or receive what is in `bytes`.
template <class M, class T>
template <class Bytes>
void Executor<M, T>::startMessage(bool sends, int peer, const Header &header,
                                  Bytes &&bytes, Request &request) {
  if constexpr (ModelParts<M>)
    transport.begin(request);
  if (!sends)
    transport.irecv(peer, header, bytes, request);
  else if constexpr (ModelParts<M>)
    transport.isend(peer, header, bytes, request);
  else
    transport.isend(peer, header,
                    std::span<const std::byte>(std::span<std::byte>(bytes)),
                    request);
}

/// Waits for the size of an input and gives it to the model.
template <class M, class T>
void Executor<M, T>::resize(const Step &step, Tensor &tensor, int peer) {
  if constexpr (ModelResizes<M>) {
    std::uint64_t size = 0;
    auto bytes = std::as_writable_bytes(std::span(&size, 1));
    Transfer *transfer = transfers.acquire();
    Header wanted = expectedHeader(step, bytes.size());
    startMessage(/*sends=*/false, peer, wanted, std::span<std::byte>(bytes),
                 transfer->request);
    await(transfer->request, step);
    Header got = transport.header(transfer->request);
    if (!(got == wanted)) [[unlikely]]
      failMessage(step, wanted, got);
    endTransfer(transfer);
    withSlice(step.unit, [&](int microbatch, auto... slice) {
      model.resizeInput(step.stage, microbatch, slice..., std::size_t(size),
                        tensor);
    });
  }
}

template <class M, class T>
void Executor<M, T>::proceedTransfer(void *executor, Context &step) {
  auto &posted = *static_cast<Posted *>(step.state);
  if (!posted.transfer)
    static_cast<Executor *>(executor)->postTransfer(posted, step.peer);
}

template <class M, class T>
bool Executor<M, T>::isTransferReady(void *executor, Context &step) {
  Transfer *transfer = static_cast<Posted *>(step.state)->transfer;
  return transfer &&
         static_cast<Executor *>(executor)->transport.test(transfer->request);
}

template <class M, class T>
void Executor<M, T>::waitForTransfer(void *executor, Context &step) {
  step.proceed();
  auto &posted = *static_cast<Posted *>(step.state);
  static_cast<Executor *>(executor)->await(posted.transfer->request,
                                           posted.step);
}

/// After a post: remembers a send, or waits where the options say so.
template <class M, class T>
void Executor<M, T>::settle(const Posted &posted, bool isBatch) {
  if (!posted.transfer)
    return;
  const Step &step = posted.step;
  bool waits = options.blocking ||
               (options.blockingReceives && (isBatch || !isSend(step.kind)));
  if (isSend(step.kind)) {
    if (waits)
      await(posted.transfer->request, step);
    // A send that a step waits for keeps its tensor until then.
    if (schedule->waitsForSends)
      return;
    if (waits) {
      free(posted);
      return;
    }
    sends.push(posted);
    peakSends = std::max(peakSends, int(sends.size()));
    return;
  }
  if (!waits)
    return;
  arrive(*posted.transfer, *posted.tensor, step);
  Cell &cell = cellOf(step);
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
    return send(step);
  case StepKind::RecvForward:
  case StepKind::RecvBackward:
    return recv(step);
  default:
    failStep(step.kind, step.stage, step.unit,
             "is in a batch and not a transfer");
  }
}

template <class M, class T>
void Executor<M, T>::runBatch(std::span<const Step> members) {
  groupPosted.clear();
  if constexpr (ModelResizes<M>)
    for (const Step &member : members)
      if (member.kind == StepKind::RecvForward)
        failStep(member, "is in a batch, and the model has resizeInput, for "
                         "which the rank waits at the receive");
  if constexpr (BatchTransport<T>)
    transport.beginBatch();
  for (const Step &member : members)
    groupPosted.push_back(post(member));
  if constexpr (BatchTransport<T>)
    transport.endBatch();
  if (schedule->waitsForSends)
    joinBatch();
  for (const Posted &posted : groupPosted)
    settle(posted, /*isBatch=*/true);
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
    publish(RankState::Running, StepKind::ReduceGrad, stage.stage, 0);
    Tensor *mine = acquireTensor(transferList);
    Tensor *theirs = acquireTensor(transferList);
    waitForUses(rankStream, &stage);
    beginReceive(mine);
    beginReceive(theirs);
    model.exportGradient(stage.stage, *mine);
    model.exportGradient(stage.stage, *theirs); // for its size
    Step step = {StepKind::ReduceGrad, stage.stage, 0};
    auto &&out = model.bytes(*mine);
    auto &&in = model.bytes(*theirs);
    Header wanted = expectedHeader(step, detail::sizeOfBytes(in));
    Transfer *sending = transfers.acquire();
    Transfer *receiving = transfers.acquire();
    startMessage(/*sends=*/true, other,
                 expectedHeader(step, detail::sizeOfBytes(out)), out,
                 sending->request);
    startMessage(/*sends=*/false, other, wanted, in, receiving->request);
    await(receiving->request, step);
    if (!(transport.header(receiving->request) == wanted))
      fail<MessageError>("the gradient of stage " +
                         std::to_string(stage.stage) + " from rank " +
                         std::to_string(other) + " is not what came");
    model.addGradient(stage.stage, *theirs);
    await(sending->request, step);
    endTransfer(sending);
    endTransfer(receiving);
    tensors.release(mine, transferList);
    tensors.release(theirs, transferList);
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORTRANSFERS_H
