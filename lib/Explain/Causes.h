//===- Causes.h - The causes of start times ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a simulation, every event happens at the latest time of the events it
// waits for. So each step has a cause: a step whose end (or start) is its own
// start. Nothing is recorded during the run: causes are computed from the times
// on demand.
//
// Following the causes leads back in time, without gaps, to a step that starts
// at the beginning of the schedule. The chain of the last end is the critical
// path of the run (Kelley and Walker, "Critical-path planning and scheduling",
// 1959; here for one run in its given order, not for the graph of dependences
// alone).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/TiedMeetings.h"
#include "Simulation/ResultTimes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace pipec {

/// The kinds of events that a step waits for last.
enum class Reason : uint8_t {
#define PIPEC_REASON(Id, Name) Id,
#include "Explain/Reasons.def"
};

/// `order`, `data`, ...
llvm::StringRef reasonName(Reason reason);

/// One link of a chain of causes: a step, its start and end on the chain, and
/// the reason why it does not start earlier, which is the previous link.
struct PathStep {
  /// The number of the step; the first member of an overlap, or the member of a
  /// batch that is on the chain.
  uint32_t step = StepNumbers::none;
  /// The step that it waited for, which is the previous link; `none` for the
  /// first.
  uint32_t before = StepNumbers::none;
  Reason reason = Reason::First;
  /// In ticks. For a compute step, start to end; for a transfer, from when both
  /// ends have started until it is complete. A transfer end that only allows
  /// the other end to begin has no duration.
  int64_t start = 0;
  int64_t end = 0;
  /// The ticks between the end of the previous link and `start`: the latency of
  /// a result for another rank, if the schedule has no transfer steps.
  int64_t latency = 0;

  /// Sets the cause of the start.
  PathStep &because(Reason why, uint32_t after) {
    reason = why;
    before = after;
    return *this;
  }
};

/// Determines why steps start when they do. The schedule and its simulation
/// must outlive this object and pass `checkResults`. If several things delay a
/// step until the same time, its cause is the first of these: the order of its
/// rank, or for a transfer its queue; the first member of an overlap or a batch
/// that waits; the first reason in the order of the list of reasons. Linear
/// memory, see `ResultTimes` and `TransferTimes`.
class Causes {
public:
  Causes(const Schedule &schedule, const Simulation &simulation);

  const Schedule &schedule() const { return theSchedule; }
  const Simulation &simulation() const { return run; }
  const ResultTimes &results() const { return theResults; }
  /// Nothing under free arrival.
  const std::optional<TransferTimes> &transfers() const { return theTransfers; }

  /// The last link of every chain that ends with `step`: its times and the
  /// reason for its start.
  PathStep link(uint32_t step) const;
  /// The link before `link` on its chain, with its own cause; empty if `link`
  /// is the first.
  std::optional<PathStep> linkBefore(const PathStep &link) const;
  /// When its rank passes a wait, or a transfer that holds it, in ticks;
  /// nothing for other steps, which do not hold their rank.
  std::optional<int64_t> holdEnd(StepRef at) const;
  /// When a rank reaches the group of a P2P step, and the compute step before
  /// it, the first member of an overlap; `none` if there is none.
  std::pair<int64_t, uint32_t> posted(StepRef at) const;
  /// The last step of a rank; `none` if it has no steps.
  uint32_t lastStep(unsigned rank) const;
  /// True for a compute step that its rank runs itself, not on a stream beside
  /// it.
  bool isOwn(Step step) const {
    return isCompute(step.kind()) && theSchedule.streams.of(step) == 0;
  }
  /// The last copy of the unit of a step before it on its rank, and the
  /// REDUCE_GRAD that an UPDATE needs; `none` if there is none.
  uint32_t copyBefore(StepRef at) const;
  uint32_t reductionBefore(StepRef at) const;
  bool hasCopies() const { return !copies.empty(); }
  /// 0 for `none`.
  int64_t endOf(uint32_t step) const {
    return step == none ? 0 : run.end(step);
  }

private:
  static constexpr uint32_t none = StepNumbers::none;

  PathStep linkOfCompute(StepRef at) const;
  PathStep linkOfTransfer(uint32_t step) const;
  PathStep linkOfTied(StepRef at) const;
  PathStep linkOfOther(StepRef at) const;
  PathStep linkOnEdge(uint32_t send) const;
  bool findReceive(PathStep &link, uint32_t consumer) const;
  bool findMaker(PathStep &link, unsigned rank, Step consumer) const;
  void findStart(PathStep &link) const;

  void findStreams();
  bool findOnStreams(PathStep &link, StepRef at) const;
  bool findWait(PathStep &link, StepRef at) const;
  uint32_t awaited(StepRef wait) const;

  uint32_t lastBefore(StepRef at, llvm::function_ref<bool(Step)> is) const;
  uint32_t computeBefore(StepRef at) const;
  uint32_t streamBefore(StepRef at, Stream stream) const;
  void findPosted();
  void findShared();
  bool findShare(PathStep &link, StepRef at) const;
  bool endsAt(uint32_t step, int64_t time) const {
    return step != none && run.end(step) == time;
  }

  const Schedule &theSchedule;
  const Simulation &run;
  const StepNumbers &numbers;
  TiedMeetings meetings;
  /// True if there is a collective of FSDP.
  bool hasGathers = false;
  /// The copies of each unit, ascending.
  llvm::DenseMap<uint64_t, llvm::SmallVector<uint32_t, 2>> copies;
  /// For each shared resource, the ends of its steps that take time, ascending.
  struct SharedEnd {
    int64_t end;
    uint32_t step;
  };
  llvm::DenseMap<std::pair<unsigned, unsigned>, std::vector<SharedEnd>> shared;
  ResultTimes theResults;
  std::optional<TransferTimes> theTransfers;
  /// By number of a step, the first member of the group before it that its rank
  /// runs itself, and for a compute of the one on its stream; empty if no stage
  /// has a stream.
  std::vector<uint32_t> ownBefore, sideBefore;
};

/// A chain in chronological order: the start of each link is the end of the
/// previous one plus its latency.
using PathSteps = std::vector<PathStep>;

/// The chain of causes of `step`, back to the first link that starts at or
/// before `since`, or with at most `maxLinks` links (0: no limit).
PathSteps causeChain(const Causes &causes, uint32_t step, int64_t since,
                     size_t maxLinks = 0);

/// The chain from the start of the schedule to the last end; if several ranks
/// end last, to the end of the lowest rank. Empty if there are no computes.
PathSteps criticalPath(const Causes &causes);

} // namespace pipec
