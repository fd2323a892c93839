//===- BatchP2P.cpp - Batches of transfers --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
// With `receives=late`, a receive moves down to the next transfer in the queue
// if that is a send to the same peer and the data is not needed before. The
// order of the queue does not change, but the peer's send is complete only when
// the rank comes to its own. That is safe if on the peer the receive of that
// own send is next in the queue after its send: what follows it there waits for
// the rank's send anyway.
//
// Checking a list that does not finish with blocking sends and receives takes
// 20 bytes per step, and so does `receives=late`.
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Passes.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static bool samePeer(const DataFlow &flow, Step a, Step b) {
  const DataFlow::Port *portA = flow.transfer(a), *portB = flow.transfer(b);
  return portA && portB && portA->rank == portB->rank;
}

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

  /// The batches of a rank, in the order of its list.
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
              samePeer(flow, list[i - 1], list[i])))
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

private:
  /// True if the partners follow each other in the queue of the peer.
  bool fit(uint32_t receive, Step receiving, uint32_t send,
           Step sending) const {
    if (!samePeer(flow, receiving, sending))
      return false;
    uint32_t sent = transfers.other(receive), received = transfers.other(send);
    if (sent == Transfers::none || received == Transfers::none ||
        sent >= received)
      return false;
    StepRef at = transfers.numbers().at(sent);
    const StepList &list = schedule.ranks[at.rank];
    // Each transfer is visited once.
    size_t next = at.index + 1;
    while (next != list.size() && !isP2P(list[next].kind()))
      ++next;
    return next - at.index == received - sent;
  }

  const Schedule &schedule;
  Transfers transfers;
  const DataFlow &flow;
};

} // namespace

static void moveReceives(Schedule &schedule, unsigned rank,
                         ArrayRef<Move> moves) {
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

static bool mayBatch(const DataFlow &flow, BatchPeers peers, Step a, Step b) {
  if (peers == BatchPeers::Any)
    return isP2P(a.kind()) && isP2P(b.kind());
  bool kinds = (isSend(a.kind()) && isRecv(b.kind())) ||
               (isRecv(a.kind()) && isSend(b.kind()));
  return kinds && samePeer(flow, a, b);
}

static void batchOnRank(const DataFlow &flow, BatchPeers peers,
                        StepList &list) {
  for (size_t i = 0, end; i != list.size(); i = end) {
    end = Schedule::groupEnd(list, i);
    if (end != i + 1 || !isP2P(list[i].kind()))
      continue;
    while (end != list.size() && !list[end].joined() &&
           mayBatch(flow, peers, list[end - 1], list[end])) {
      list[end - 1].setJoined(true);
      ++end;
      if (peers == BatchPeers::One)
        break;
    }
  }
}

static void batchTransfers(Schedule &schedule, const BatchP2POptions &options) {
  if (options.receives == BatchReceives::Late) {
    LateReceives late(schedule);
    std::vector<std::vector<Move>> moves;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      moves.push_back(late.of(rank));
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      moveReceives(schedule, rank, moves[rank]);
  }
  DataFlow flow(schedule);
  for (StepList &list : schedule.ranks)
    batchOnRank(flow, options.peers, list);
}

LogicalResult runBatchP2P(Schedule &schedule, const BatchP2POptions &options,
                          DiagEngine &diags) {
  if (!schedule.hasP2P())
    return success();
  std::optional<Transfers> transfers;
  auto ends = [&](WaitModel model) {
    if (!transfers)
      transfers.emplace(schedule);
    return Waiting(schedule, *transfers, model).ends();
  };
  if (endsWithBlockingTransfers(schedule) || ends(WaitModel::Stream)) {
    batchTransfers(schedule, options);
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
  batchTransfers(batched, options);
  if (!Waiting(batched, Transfers(batched), WaitModel::Pair).ends())
    return diags.report(schedule.source, diag::BatchDeadlocks,
                        waitModelPhrase(WaitModel::Pair));
  schedule = std::move(batched);
  return success();
}

} // namespace pipec
