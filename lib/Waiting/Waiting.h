//===- Waiting.h - Does a schedule end, and who waits for what --*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The waiting model, without time. Each rank goes through its list in order.
// A compute step runs when the rank reaches it; there the rank waits until the
// receives that it consumes are complete, as it does at a wait for a send until
// the send is complete (a buffered one: until the other rank has posted the
// receive). A P2P step is posted when the rank
// reaches it, and the rank goes on. A posted step starts when all earlier steps
// of its queue are complete; a send and the receive that it meets complete
// together, once both have started. At the end a rank waits for all that it has
// posted. docs/Rationale/Waiting.md has the whole definition and the reasons.
//
// What can happen, happens, and enables more: so every schedule has one outcome
// under a model. It is found in time linear in the steps.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_WAITING_WAITING_H
#define PIPEC_WAITING_WAITING_H

#include "Waiting/Transfers.h"
#include "Waiting/WaitEngine.h"
#include "Waiting/WaitModel.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <array>

namespace pipec {

/// Why one step waits for another.
enum class WaitReason : uint8_t {
  /// A compute step for the receive of its input.
  Input,
  /// A compute step for a receive, or a wait for a send, that comes after it in
  /// its own list.
  Later,
  /// A P2P step for the head of its queue.
  Queue,
  /// A started P2P step for the other rank to reach the step that it meets;
  /// the other rank stands at a compute step.
  Reach,
  /// A started P2P step for the step that it meets, posted but not started.
  Start,
  /// A member of a batch that has met its other side, for a member that has
  /// not.
  Batch,
  /// A wait for a send, for that send to be complete.
  Send,
  /// A wait for a buffered send, for the other rank to reach the receive.
  Post,
};

/// `step` waits for `target` to get on. `what` is the step that it wants to see
/// (for `Reach` and `Post` the P2P step after the target), else the target.
struct WaitEdge {
  uint32_t step = StepNumbers::none;
  WaitReason reason = WaitReason::Input;
  uint32_t target = StepNumbers::none;
  uint32_t what = StepNumbers::none;
};

/// The outcome of a schedule under one model. The schedule and its transfers
/// must outlive it.
class Waiting {
public:
  static constexpr uint32_t none = StepNumbers::none;

  Waiting(const Schedule &schedule, const Transfers &transfers,
          WaitModel model);

  WaitModel model() const { return waitModel; }
  const Schedule &schedule() const { return theSchedule; }
  const StepNumbers &numbers() const { return transfers.numbers(); }
  Step step(uint32_t number) const {
    StepRef at = numbers().at(number);
    return theSchedule.ranks[at.rank][at.index];
  }

  /// True when every rank comes to its end and nothing stays open.
  bool ends() const;

  /// The index of the step that `rank` stands at, the length of its list when
  /// it has come to the end.
  unsigned standsAt(unsigned rank) const { return state.at[rank]; }

  /// True for a P2P step that has been posted and never completes.
  bool open(uint32_t step) const {
    return state.has(step, WaitState::Posted) &&
           !state.has(step, WaitState::Complete);
  }

  /// The ranks that wait for ever, ascending: in the middle of their list or,
  /// at its end, for what they have posted.
  std::vector<unsigned> blockedRanks() const;

  /// The steps that hold up the others, ascending: the compute step or the wait
  /// that each blocked rank stands at, and the heads of all queues that do not
  /// move.
  std::vector<uint32_t> blockedSteps() const;

  /// Calls `edge` for everything that `step` waits for. A step that waits for
  /// something that never comes (a transfer without another side) has no edge.
  void forEachWait(uint32_t step,
                   llvm::function_ref<void(const WaitEdge &)> edge) const;

private:
  bool mayBlock(uint32_t step) const;
  void forEachSendWait(uint32_t wait, uint32_t send,
                       llvm::function_ref<void(const WaitEdge &)> edge) const;
  void findHeads();

  const Schedule &theSchedule;
  const Transfers &transfers;
  WaitModel waitModel;
  WaitState state;
  /// The head of the queue of every step that stands behind one; filled only
  /// when the schedule does not end.
  std::vector<uint32_t> heads;
};

/// Under which models a schedule ends, indexed by `WaitModel`. A model is run
/// only when no stricter one gives the answer.
std::array<bool, 4> endsUnder(const Schedule &schedule,
                              const Transfers &transfers);

} // namespace pipec

#endif // PIPEC_WAITING_WAITING_H
