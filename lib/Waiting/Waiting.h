//===- Waiting.h - The outcome under a communication model ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The communication model without times. Each rank runs its list in order. A
// compute step runs when the rank reaches it, but the rank first waits until
// the receives of its inputs are complete. At a wait for a send, the rank waits
// until the send is complete (if it is buffered: until the other rank has
// posted the receive). A P2P step is posted when the rank reaches it, and the
// rank continues, unless the model holds it there until the step is complete. A
// posted step starts when all earlier steps of its queue are complete; a send
// and its matching receive complete together, once both have started. At the
// end of its list a rank waits for everything that it has posted.
// The REDUCE_TIED of a group complete when their ranks meet
// (IR/TiedMeetings.h). docs/Rationale/Waiting.md has the complete definition
// and the reasons for it.
//
// Events only enable further events, so every schedule has exactly one outcome
// under a model. It is computed in time linear in the steps.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/TiedMeetings.h"
#include "Waiting/Transfers.h"
#include "Waiting/WaitEngine.h"
#include "Waiting/WaitModel.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace pipec {

/// The reasons why a step waits for another one.
enum class WaitReason : uint8_t {
  /// A compute step waits for the receive of its input.
  Input,
  /// A compute step waits for a receive, or for a wait for a send, that comes
  /// later in its own list.
  Later,
  /// A P2P step waits for the head of its queue.
  Queue,
  /// A started P2P step waits for the other rank to reach its partner; the
  /// other rank is at a compute step, or at a transfer that holds it.
  Reach,
  /// A started P2P step waits for its partner, which is posted but not started.
  Start,
  /// A member of a batch that has met its partner waits for a member that has
  /// not.
  Batch,
  /// A wait for a send waits until that send is complete.
  Send,
  /// A wait for a buffered send waits for the other rank to reach the receive.
  Post,
};

/// A wait of `step` for `target`. `what` is the step that must happen: the
/// target, or for `Reach` and `Post` the P2P step after it.
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
          CommModel model);
  /// Under `buffered`, with at most so many buffers per directed edge: with 0
  /// as under `edge`.
  Waiting(const Schedule &schedule, const Transfers &transfers,
          uint32_t buffers);

  const CommModel &model() const { return waitModel; }
  const Schedule &schedule() const { return theSchedule; }
  const StepNumbers &numbers() const { return transfers.numbers(); }
  const DataFlow &flow() const { return transfers.flow(); }
  Step step(uint32_t number) const {
    StepRef at = numbers().at(number);
    return theSchedule.ranks[at.rank][at.index];
  }

  /// True if every rank finishes, all transfers complete, and all groups of
  /// tied stages meet.
  bool ends() const;

  /// The index of the step that `rank` has stopped at; the length of its list
  /// if it has reached the end.
  unsigned standsAt(unsigned rank) const { return state.at[rank]; }

  /// True for a P2P step or a REDUCE_TIED that has been posted but never
  /// completes.
  bool open(uint32_t step) const;

  /// The ranks that never finish, in ascending order. They wait in the middle
  /// of their list, or at its end for what they have posted.
  std::vector<unsigned> blockedRanks() const;

  /// The steps that block others: the step at which each blocked rank has
  /// stopped, the heads of all blocked queues, and the first REDUCE_TIED of
  /// each rank that does not meet.
  std::vector<uint32_t> blockedSteps() const;

  /// Calls `edge` for each wait of `step`. A wait for an unmatched transfer has
  /// no edge.
  void forEachWait(uint32_t step,
                   llvm::function_ref<void(const WaitEdge &)> edge) const;

private:
  void run(uint32_t buffers);
  bool mayBlock(uint32_t step) const;
  bool isPosted(StepRef at) const { return at.index < state.at[at.rank]; }
  bool meets(uint32_t step) const;
  void forEachSumWait(uint32_t update,
                      llvm::function_ref<void(const WaitEdge &)> edge) const;
  void forEachTiedWait(uint32_t step,
                       llvm::function_ref<void(const WaitEdge &)> edge) const;
  void forEachSendWait(uint32_t wait, uint32_t send,
                       llvm::function_ref<void(const WaitEdge &)> edge) const;
  void findHeads();

  const Schedule &theSchedule;
  const Transfers &transfers;
  CommModel waitModel;
  WaitState state;
  TiedMeetings meetings;
  /// The head of the queue of every step that is not at the head; filled only
  /// if the schedule does not finish.
  std::vector<uint32_t> heads;
};

/// Whether a schedule finishes under each `WaitModel`. A model is run only if
/// the results of the others do not imply its own.
WaitOutcomes endsUnder(const Schedule &schedule, const Transfers &transfers);

/// The smallest number of buffers per directed edge with which a schedule
/// finishes under `buffered`; nothing if it never does. Linear, times the
/// logarithm of the transfers of an edge.
std::optional<uint32_t> neededBuffers(const Schedule &schedule,
                                      const Transfers &transfers);

/// A shortest cycle of waits: each edge starts at the end of the previous one,
/// and the last one ends at the start of the first. The first edge starts at
/// the step with the lowest number. Empty if there is no cycle: the schedule
/// finishes, or it waits for an unmatched transfer.
std::vector<WaitEdge> findShortestCycle(const Waiting &waiting);

/// A chain of waits that ends at a step without an edge: an unmatched transfer,
/// which is the `step` of the last element (without a target). Empty if there
/// is no such chain.
std::vector<WaitEdge> findDeadEnd(const Waiting &waiting);

/// Returns true if the schedule is known to finish with blocking sends and
/// receives, at which a rank waits for the other end. Then it finishes under
/// every communication model (`WaitModel`), every transfer has two ends that
/// name the same tensor, all groups of tied stages meet, and every compute step
/// follows the receives of its inputs.
///
/// Returns false if it does not finish or was not checked: schedules with
/// batches, and explanations, are left to `Waiting`. Linear: two bits per
/// (stage, micro-batch), and each list is read once.
bool endsWithBlockingTransfers(const Schedule &schedule);

} // namespace pipec
