//===- WaitState.h - State of a run of the communication model --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A P2P step passes through these states:
//
//   posted     its rank has reached it
//   at head    all earlier steps of its queue are complete (a batch: of all
//              queues that it is in)
//   started    posted and at head
//   met        started, and the step at the other end has started too
//   complete   met; for a batch, all its members are
//
// A queue is a linked list through the list of its rank: each step has the
// index of the next one in its queue. A batch has one entry in every queue that
// its members use, which is its first member in that queue. Every step changes
// its state a fixed number of times, so a run is linear. It takes 5 bytes per
// step in addition to `Transfers` (13 with times), and 4 more if there are
// batches.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Waiting/Communicators.h"
#include "Waiting/Transfers.h"

#include "llvm/Support/ErrorHandling.h"

#include <vector>

namespace pipec {

/// The state of every step and rank when no further event can happen.
struct WaitState {
  WaitState() = default;
  /// Creates the initial state: the queues of all ranks under `model`, and the
  /// batches.
  WaitState(const Schedule &schedule, const Transfers &transfers,
            const CommModel &model);

  static constexpr uint32_t none = StepNumbers::none;
  enum Flag : uint8_t {
    Posted = 1,
    AtHead = 2,
    Started = 4,
    Met = 8,
    Complete = 16,
    /// Represents its batch in one queue (always set without a batch).
    Entry = 32,
  };
  struct Batch {
    uint32_t begin;
    uint32_t end;
    /// The number of queues in which it is not at the head, plus one until it
    /// is posted.
    uint32_t behind;
    /// The number of members whose other end has not been met.
    uint32_t open;
    /// With times: when the last member that has met was complete.
    int64_t time = 0;
  };

  std::vector<uint8_t> flags;
  /// The next step of the same queue.
  std::vector<uint32_t> next;
  /// The index in `batches` of each step; empty if there are no batches.
  std::vector<uint32_t> batchOf;
  std::vector<Batch> batches;
  /// The index of the current step of each rank; the length of its list at the
  /// end.
  std::vector<uint32_t> at;
  /// The number of P2P steps that are not complete.
  uint64_t incomplete = 0;
  /// With times, if sends are buffered or ranks wait for sends: when each
  /// receive was posted.
  std::vector<int64_t> postTimes;

  bool has(uint32_t step, Flag flag) const { return flags[step] & flag; }
  const Batch *batch(uint32_t step) const {
    if (batchOf.empty() || batchOf[step] == none)
      return nullptr;
    return &batches[batchOf[step]];
  }
  /// The range [first, second) of the members of the batch of a P2P step, or of
  /// the step alone.
  std::pair<uint32_t, uint32_t> members(uint32_t step) const {
    const Batch *group = batch(step);
    return group ? std::pair(group->begin, group->end)
                 : std::pair(step, step + 1);
  }

private:
  class Chainer;
};

/// The queue, on its rank, of a P2P step of `rank` that transfers the data of
/// `port`. Edges without a communicator have queues of their own.
inline unsigned queueOf(const CommModel &model, unsigned rank, Step step,
                        const DataFlow::Port &port) {
  unsigned first = 0;
  if (const Communicators *groups = model.communicators()) {
    unsigned number = isSend(step.kind()) ? groups->find(rank, port.rank)
                                          : groups->find(port.rank, rank);
    if (number != Communicators::none)
      return number;
    first = unsigned(groups->size());
  }
  switch (waitModelInfo(model.kind()).queues) {
  case WaitQueues::Rank:
    return 0;
  case WaitQueues::Peer:
    return port.rank;
  case WaitQueues::Edge:
    return first + 2 * port.rank + isSend(step.kind());
  }
  llvm_unreachable("every kind of queue is listed");
}
/// True if a rank passes the P2P step at `index` of its list, or the batch of
/// that step, only when it is complete.
inline bool holdsRank(WaitHolds holds, llvm::ArrayRef<Step> list,
                      size_t index) {
  switch (holds) {
  case WaitHolds::None:
    return false;
  case WaitHolds::Receives:
    return isRecv(list[index].kind()) || list[index].joined() ||
           (index != 0 && list[index - 1].joined());
  case WaitHolds::All:
    return true;
  }
  llvm_unreachable("every kind of step is listed");
}
/// The maximum number of queues per rank.
inline size_t maxQueues(const Schedule &schedule, const CommModel &model) {
  size_t groups = model.communicators() ? model.communicators()->size() : 0;
  return groups + 2 * size_t(schedule.numRanks);
}

} // namespace pipec
