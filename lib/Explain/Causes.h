//===- Causes.h - Why every step starts when it does ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a simulation every event happens at the latest time of what it waits for.
// So each step has a cause: a step whose end (or start) is its own start.
// Nothing is recorded while the schedule runs: the causes are found afterwards,
// where somebody asks, from the times alone.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_CAUSES_H
#define PIPEC_EXPLAIN_CAUSES_H

#include "Simulation/ResultTimes.h"
#include "Simulation/TransferTimes.h"

namespace pipec {

/// What a step waited for last.
enum class Reason : uint8_t {
#define PIPEC_REASON(Id, Name) Id,
#include "Explain/Reasons.def"
};

/// `order`, `data`, ...
llvm::StringRef reasonName(Reason reason);

/// One link of a chain of causes: a step with the time that it takes on the
/// chain and the reason why this does not begin earlier, which is the link
/// before it.
struct PathStep {
  /// Its number; of an overlap the first member, of a batch the member that
  /// the chain goes through.
  uint32_t step = StepNumbers::none;
  /// The step that it waited for, the link before it; `none` for the first.
  uint32_t before = StepNumbers::none;
  Reason reason = Reason::First;
  /// In ticks. A compute step from start to end; a transfer from when both its
  /// sides have started until it is complete, and a side that only lets the
  /// other begin with its start alone.
  int64_t start = 0;
  int64_t end = 0;
  /// Ticks between the end of the link before and `start`: the way of a result
  /// to another rank, where the schedule has no transfers as steps.
  int64_t latency = 0;
};

/// Answers why steps start when they do. The schedule and its simulation must
/// outlive it, and pass `checkResults`. Where several things hold a step up
/// until the same time, the first of these is its cause: its rank's order, for
/// a transfer its queue; then the first member of an overlap or a batch that
/// waits; the order of the list of reasons. Linear memory, see `ResultTimes`
/// and `TransferTimes`.
class Causes {
public:
  Causes(const Schedule &schedule, const Simulation &simulation);

  const Schedule &schedule() const { return theSchedule; }
  const Simulation &simulation() const { return run; }
  const ResultTimes &results() const { return theResults; }
  /// Nothing under free arrival.
  const std::optional<TransferTimes> &transfers() const { return theTransfers; }

  /// The last link of every chain that ends with `step`: its times and why it
  /// starts when it does.
  PathStep link(uint32_t step) const;
  /// The link before `link` on its chain, with its own cause; nothing for the
  /// first of a chain.
  std::optional<PathStep> linkBefore(const PathStep &link) const;
  /// The step with which a rank ends; `none` without any.
  uint32_t lastStep(unsigned rank) const;

private:
  static constexpr uint32_t none = StepNumbers::none;

  PathStep linkOfCompute(StepRef at) const;
  PathStep linkOfTransfer(uint32_t step) const;
  PathStep linkOfOther(StepRef at) const;
  PathStep linkOnEdge(uint32_t send) const;
  bool findReceive(PathStep &link, uint32_t consumer) const;
  bool findMaker(PathStep &link, unsigned rank, Step consumer) const;
  void findStart(PathStep &link) const;

  bool findWait(PathStep &link, unsigned rank, size_t index) const;
  uint32_t awaited(StepRef wait) const;

  uint32_t computeBefore(unsigned rank, size_t index) const;
  uint32_t collectiveBefore(unsigned rank, size_t index) const;
  uint32_t unshardBefore(unsigned rank, size_t index, unsigned stage) const;

  const Schedule &theSchedule;
  const Simulation &run;
  const StepNumbers &numbers;
  ResultTimes theResults;
  std::optional<TransferTimes> theTransfers;
};

} // namespace pipec

#endif // PIPEC_EXPLAIN_CAUSES_H
