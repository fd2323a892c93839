//===- BatchP2P.cpp - Batches of a send and a receive ---------------------===//
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
// A send and an adjacent receive, in either order and with the same peer,
// become one batch (Megatron's send_forward_recv_backward and
// send_backward_recv_forward). The order of steps does not change. Pairs are
// formed greedily from the start of the list.
//
// A list that finishes with one queue per rank, or one per rank and peer, still
// finishes: there the second step of a pair could only start after the first,
// and now it can start together with it. With one queue per direction the two
// were independent. The batch completes as a whole, so each waits for the peer
// of the other, and a list that needs these queues may deadlock; such lists are
// refused.
//
// Needs: level placed; safe under stream or pair. Ensures: safe under the same
// models. Cost: linear in the steps, in place; 20 bytes per step for checking a
// list that does not finish with blocking sends and receives.
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"
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
    DataFlow flow(schedule);
    for (StepList &list : schedule.ranks)
      batch(flow, list);
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

  static void batch(const DataFlow &flow, StepList &list) {
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      if (end != i + 1 || end == list.size() || list[end].joined() ||
          !fit(flow, list[i], list[end]))
        continue;
      list[i].setJoined(true);
      ++end;
    }
  }

  static bool fit(const DataFlow &flow, Step a, Step b) {
    bool kinds = (isSend(a.kind()) && isRecv(b.kind())) ||
                 (isRecv(a.kind()) && isSend(b.kind()));
    if (!kinds)
      return false;
    const DataFlow::Port *portA = flow.transfer(a), *portB = flow.transfer(b);
    return portA && portB && portA->rank == portB->rank;
  }
};

} // namespace

std::unique_ptr<Pass> makeBatchP2P(const BatchP2POptions &) {
  return std::make_unique<BatchP2P>();
}

} // namespace pipec
