//===- WaitState.h - The state of a run of the waiting model ----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A P2P step goes through these states:
//
//   posted     its rank has reached it
//   at head    all earlier steps of its queue are complete (a batch: in each of
//              the queues that it stands in)
//   started    posted and at head
//   met        started, and so is the step at the other end
//   complete   met; a batch: all its members are
//
// A queue is a chain through the list of its rank: each step names the next of
// its queue. A batch stands once in every queue that its members use, with its
// first member of that queue as its entry there. Every step changes its state a
// fixed number of times, so a run is linear; it takes 5 bytes a step beside
// `Transfers` (13 with times), and 4 more when there are batches.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_WAITING_WAITSTATE_H
#define PIPEC_WAITING_WAITSTATE_H

#include "Waiting/Transfers.h"
#include "Waiting/WaitModel.h"

#include <vector>

namespace pipec {

/// Where every step and rank stands when nothing more can happen.
struct WaitState {
  WaitState() = default;
  /// The state before anything has happened: the queues of all ranks under
  /// `model`, and the batches.
  WaitState(const Schedule &schedule, const Transfers &transfers,
            WaitModel model);

  static constexpr uint32_t none = StepNumbers::none;
  enum Flag : uint8_t {
    Posted = 1,
    AtHead = 2,
    Started = 4,
    Met = 8,
    Complete = 16,
    /// Stands for its batch in one queue (always set without a batch).
    Entry = 32,
  };
  struct Batch {
    uint32_t begin;
    uint32_t end;
    /// Queues in which it is not at the head, plus one until it is posted.
    uint32_t behind;
    /// Members that have not met their other side.
    uint32_t open;
    /// With times: when the last member that has met was complete.
    int64_t time = 0;
  };

  std::vector<uint8_t> flags;
  /// The next step of the same queue.
  std::vector<uint32_t> next;
  /// Index into `batches` of each step, empty when there are none.
  std::vector<uint32_t> batchOf;
  std::vector<Batch> batches;
  /// The index of the step that each rank stands at, its length at the end.
  std::vector<uint32_t> at;
  /// P2P steps that are not complete.
  uint64_t incomplete = 0;
  /// With times, under buffered sends and where ranks wait for sends: when each
  /// receive was posted.
  std::vector<int64_t> postTimes;

  bool has(uint32_t step, Flag flag) const { return flags[step] & flag; }
  const Batch *batch(uint32_t step) const {
    if (batchOf.empty() || batchOf[step] == none)
      return nullptr;
    return &batches[batchOf[step]];
  }
  /// The first and the last plus one of the members of the batch of a P2P step,
  /// or of the step alone.
  std::pair<uint32_t, uint32_t> members(uint32_t step) const {
    const Batch *group = batch(step);
    return group ? std::pair(group->begin, group->end)
                 : std::pair(step, step + 1);
  }

private:
  class Chainer;
};

/// The queue of its rank that a P2P step is in, which moves the data of `port`.
inline unsigned queueOf(WaitModel model, Step step,
                        const DataFlow::Port &port) {
  if (model == WaitModel::Stream)
    return 0;
  return model == WaitModel::Pair ? port.rank
                                  : 2 * port.rank + isSend(step.kind());
}
/// How many queues a rank can have.
inline size_t maxQueues(const Schedule &schedule) {
  return 2 * size_t(schedule.numRanks);
}

} // namespace pipec

#endif // PIPEC_WAITING_WAITSTATE_H
