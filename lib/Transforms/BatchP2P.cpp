//===- BatchP2P.cpp - One operation for a send and a receive --------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   SEND_F s0 m1 -> r1
//   RECV_B s0 m0 <- r1      ->   batch SEND_F s0 m1 -> r1, RECV_B s0 m0 <- r1
//   B s0 m0                      B s0 m0
//
// A send and the receive next to it, in either order and with the same peer,
// become one batch (Megatron's send_forward_recv_backward and
// send_backward_recv_forward); nothing moves. Pairs are taken greedily from the
// front.
//
// A list that ends with one queue a rank, or one a rank and peer, still does:
// there the second step of a pair could start only behind the first, and now it
// can start with it. With a queue for each direction the two were independent,
// and the batch, which completes as a whole, makes each wait for the other's
// peer; a list that needs those queues can be made to wait for ever, and is
// refused.
//
// Needs: level placed; safe under stream or pair. Ensures: the same models.
// Cost: linear in the steps, in place; 20 bytes a step for the check of a list
// that does not end with plain blocking sends and receives.
//
//===----------------------------------------------------------------------===//

#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Passes.h"
#include "Waiting/BlockingRun.h"
#include "Waiting/Waiting.h"

using namespace llvm;

namespace pipec {

namespace {

class BatchP2P : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (!schedule.hasP2P())
      return success();
    if (!endsWithBlockingTransfers(schedule) &&
        failed(checkWaits(schedule, diags)))
      return failure();
    for (StepList &list : schedule.ranks)
      batch(schedule, list);
    return success();
  }

  static LogicalResult checkWaits(const Schedule &schedule, DiagEngine &diags) {
    Transfers transfers(schedule);
    if (Waiting(schedule, transfers, WaitModel::Stream).ends() ||
        Waiting(schedule, transfers, WaitModel::Pair).ends())
      return success();
    auto diagnostic = diags.report(schedule.source, diag::BatchUnsafe);
    for (WaitModel model : {WaitModel::Edge, WaitModel::Buffered})
      if (Waiting(schedule, transfers, model).ends()) {
        diagnostic.note(schedule.source, diag::NoteEndsUnder,
                        waitModelPhrase(model));
        break;
      }
    return diagnostic;
  }

  static void batch(const Schedule &schedule, StepList &list) {
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      if (end != i + 1 || end == list.size() || list[end].joined() ||
          !fit(schedule, list[i], list[end]))
        continue;
      list[i].setJoined(true);
      ++end;
    }
  }

  static bool fit(const Schedule &schedule, Step a, Step b) {
    bool kinds = (isSend(a.kind()) && isRecv(b.kind())) ||
                 (isRecv(a.kind()) && isSend(b.kind()));
    return kinds && schedule.hasPeer(a) && schedule.hasPeer(b) &&
           schedule.peerOf(a) == schedule.peerOf(b);
  }
};

} // namespace

std::unique_ptr<Pass> makeBatchP2P(const BatchP2POptions &) {
  return std::make_unique<BatchP2P>();
}

} // namespace pipec
