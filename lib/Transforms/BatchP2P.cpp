//===- BatchP2P.cpp - Batches of transfers --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   SEND_F s0 m1 -> r1
//   RECV_B s0 m0 <- r1      ->   batch SEND_F s0 m1 -> r1, RECV_B s0 m0 <- r1
//   B s0 m0                      B s0 m0
//
// A send and an adjacent receive, in either order and with the same peer,
// become one batch (Megatron's send_forward_recv_backward and
// send_backward_recv_forward). Pairs are formed greedily from the start of the
// list. With `peers=any`, all adjacent transfers become one batch.
//
// Safety. With one queue per rank, a batch of adjacent transfers starts when
// its first member could, and completes no later than its last one would have:
// the members only meet their partners earlier. What is new is that a step
// which needs one member waits for the partners of all. But whatever this rank
// makes after the batch reaches other ranks through its queue, after the last
// member, so no partner can depend on it. A list that finishes under `stream`
// therefore still does, for any peers, and then also under the other models.
// With one queue per rank and peer, other ranks can hear of the rank through
// another queue; such a list is checked with its batches.
//
//   RECV_F s1 m1 <- r0
//   B s1 m0                      B s1 m0
//   SEND_B s1 m0 -> r0      ->   batch RECV_F s1 m1 <- r0, SEND_B s1 m0 -> r0
//   F s1 m1                      F s1 m1
//
// With `receives=late`, a receive moves down to the next transfer in the queue
// if that is a send to the same peer and the data is not needed before. The
// order of the queue does not change, but the peer's send is complete only when
// the rank comes to its own. That is safe if on the peer the receive of that
// own send is next in the queue after its send: what follows it there waits for
// the rank's send anyway.
//
// Needs: level placed; safe under stream or pair. Ensures: safe under the same
// models. Cost: linear in the steps; 20 bytes per step for checking a list that
// does not finish with blocking sends and receives, and for `receives=late`.
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Passes.h"
#include "Waiting/BlockingRun.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// A receive that moves to directly before a send of its list.
struct Move {
  size_t receive;
  size_t send;
};

/// Finds the receives that can move.
class LateReceives {
public:
  explicit LateReceives(const Schedule &schedule)
      : schedule(schedule), transfers(schedule), flow(transfers.flow()) {}

  /// Those of a rank, in the order of its list.
  std::vector<Move> of(unsigned rank) const {
    const StepList &list = schedule.ranks[rank];
    uint32_t base = transfers.numbers().begin(rank);
    std::vector<Move> moves;
    // The last transfer, if it is a receive that may still move.
    std::optional<size_t> receive;
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      StepKind kind = list[i].kind();
      if (isP2P(kind)) {
        if (receive && end == i + 1 && *receive + 1 != i && isSend(kind) &&
            fit(base + *receive, list[*receive], base + i, list[i])) {
          moves.push_back({*receive, i});
          receive.reset();
          continue;
        }
        receive.reset();
        // One that directly follows a send to its peer makes a batch there.
        if (end == i + 1 && isRecv(kind) &&
            !(i != 0 && isSend(list[i - 1].kind()) &&
              samePeer(list[i - 1], list[i])))
          receive = i;
      } else if (receive && isCompute(kind)) {
        for (size_t member = i; member != end; ++member)
          if (receive &&
              is_contained(transfers.receives(base + member), base + *receive))
            receive.reset();
      }
    }
    return moves;
  }

  bool samePeer(Step a, Step b) const {
    const DataFlow::Port *portA = flow.transfer(a), *portB = flow.transfer(b);
    return portA && portB && portA->rank == portB->rank;
  }

private:
  /// True if the partners follow each other in the queue of the peer.
  bool fit(uint32_t receive, Step receiving, uint32_t send,
           Step sending) const {
    if (!samePeer(receiving, sending))
      return false;
    uint32_t sent = transfers.other(receive), received = transfers.other(send);
    if (sent == Transfers::none || received == Transfers::none ||
        sent >= received)
      return false;
    StepRef at = transfers.numbers().at(sent);
    const StepList &list = schedule.ranks[at.rank];
    // Each send is looked at once, and no transfer twice.
    size_t next = at.index + 1;
    while (next != list.size() && !isP2P(list[next].kind()))
      ++next;
    return next - at.index == received - sent;
  }

  const Schedule &schedule;
  Transfers transfers;
  const DataFlow &flow;
};

class BatchP2P : public Pass {
public:
  explicit BatchP2P(const BatchP2POptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (!schedule.hasP2P())
      return success();
    if (endsWithBlockingTransfers(schedule)) {
      batch(schedule);
      return success();
    }
    Transfers transfers(schedule);
    auto ends = [&](WaitModel model) {
      return Waiting(schedule, transfers, model).ends();
    };
    if (ends(WaitModel::Stream)) {
      batch(schedule);
      return success();
    }
    if (!ends(WaitModel::Pair)) {
      auto diagnostic = diags.report(schedule.source, diag::BatchUnsafe);
      for (WaitModel model : {WaitModel::Edge, WaitModel::Buffered})
        if (ends(model)) {
          diagnostic.note(schedule.source, diag::NoteEndsUnder,
                          waitModelPhrase(model));
          break;
        }
      return diagnostic;
    }
    Schedule batched = schedule;
    batch(batched);
    if (!Waiting(batched, Transfers(batched), WaitModel::Pair).ends())
      return diags.report(schedule.source, diag::BatchDeadlocks,
                          waitModelPhrase(WaitModel::Pair));
    schedule = std::move(batched);
    return success();
  }

private:
  void batch(Schedule &schedule) const {
    if (options.receives == BatchReceives::Late) {
      LateReceives late(schedule);
      std::vector<std::vector<Move>> moves;
      for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
        moves.push_back(late.of(rank));
      for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
        move(schedule, rank, moves[rank]);
    }
    DataFlow flow(schedule);
    for (StepList &list : schedule.ranks)
      batch(flow, list);
  }

  static void move(Schedule &schedule, unsigned rank, ArrayRef<Move> moves) {
    StepList &list = schedule.ranks[rank];
    for (const Move &move : moves) {
      auto begin = list.begin() + move.receive;
      std::rotate(begin, begin + 1, list.begin() + move.send);
      list[move.send - 1].setPhase(list[move.send].phase());
      list[move.send - 1].setJoined(true);
    }
    if (!moves.empty() && !schedule.times.empty())
      schedule.times.clear();
  }

  void batch(const DataFlow &flow, StepList &list) const {
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      if (end != i + 1 || !isP2P(list[i].kind()))
        continue;
      while (end != list.size() && !list[end].joined() &&
             fit(flow, list[end - 1], list[end])) {
        list[end - 1].setJoined(true);
        ++end;
        if (options.peers == BatchPeers::One)
          break;
      }
    }
  }

  bool fit(const DataFlow &flow, Step a, Step b) const {
    if (options.peers == BatchPeers::Any)
      return isP2P(a.kind()) && isP2P(b.kind());
    bool kinds = (isSend(a.kind()) && isRecv(b.kind())) ||
                 (isRecv(a.kind()) && isSend(b.kind()));
    if (!kinds)
      return false;
    const DataFlow::Port *portA = flow.transfer(a), *portB = flow.transfer(b);
    return portA && portB && portA->rank == portB->rank;
  }

  BatchP2POptions options;
};

} // namespace

std::unique_ptr<Pass> makeBatchP2P(const BatchP2POptions &options) {
  return std::make_unique<BatchP2P>(options);
}

} // namespace pipec
