//===- Simulate.h - When every step runs ------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two ways to let a schedule run under its own costs, in exact ticks;
// docs/Simulation.md defines them:
//
//   free arrival   every rank runs its list in order, as early as data allows;
//                  a result is there when its producer ends, on another rank a
//                  transfer later. P2P steps are not looked at. The closed
//                  forms of the papers hold for this.
//   under a model  a compute step waits for its receives, and transfers wait in
//                  queues as Waiting.h says: a transfer starts when both its
//                  sides have started (buffered: when the send has).
//
// The difference of the two makespans is what the order of the transfers costs.
// An overlap starts when the data of all its members is there and gives its
// results at its end. Bubbles take no time. A transfer keeps its directed edge
// for its occupancy, in order. FSDP steps go on beside the compute steps of
// their rank, one after the other; an UNSHARD is waited for by the compute
// steps of its stage.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_SIMULATE_H
#define PIPEC_SIMULATION_SIMULATE_H

#include "Simulation/TickCosts.h"
#include "Waiting/StepNumbers.h"
#include "Waiting/Transfers.h"
#include "Waiting/WaitModel.h"

namespace pipec {

/// What one rank did, in ticks.
struct RankTimes {
  /// Start of the first and end of the last compute step, or FSDP step that
  /// takes time; equal without any.
  int64_t start = 0;
  int64_t end = 0;
  /// The durations of its compute steps together.
  int64_t work = 0;
  /// Time between the two in which it did not compute.
  int64_t gaps() const { return end - start - work; }
};

/// One run of a schedule, which must outlive it unchanged for `end`.
class Simulation {
public:
  const StepNumbers &numbers() const { return stepNumbers; }
  const TickCosts &costs() const { return tickCosts; }
  /// The start of a step, in ticks. A P2P step starts, under a model, when it
  /// and everything before it in its queue lets it, and a send not before its
  /// edge is free; under free arrival it carries its rank's time. An FSDP step
  /// starts when those before it on its rank have ended, a bubble when its rank
  /// comes to it.
  int64_t start(uint32_t step) const { return starts[step]; }
  int64_t start(unsigned rank, size_t index) const {
    return starts[stepNumbers.of(rank, index)];
  }
  /// The end of the step at `index` of a rank's list, in ticks. An overlap ends
  /// as a whole. A transfer ends, for its send and for its receive, when the
  /// data is at the receiver, and the receive not before it started; under free
  /// arrival P2P steps take no time.
  int64_t end(unsigned rank, size_t index) const;
  int64_t end(uint32_t step) const {
    StepRef at = stepNumbers.at(step);
    return end(at.rank, at.index);
  }
  /// The model of a run under one, and how its transfers meet.
  std::optional<WaitModel> model() const { return waitModel; }
  const std::optional<Transfers> &transfers() const { return stepTransfers; }
  llvm::ArrayRef<RankTimes> ranks() const { return rankTimes; }

  /// The first start of all.
  int64_t begin() const { return first; }

  /// Last end minus first start, over all ranks: what a step of training with
  /// a synchronous optimizer takes.
  int64_t makespan() const { return last - first; }
  /// The longest rank's own last end minus first start: the clock of the papers
  /// on zero bubbles.
  int64_t span() const;
  /// All ranks' work.
  int64_t work() const;

  /// Ticks as a time in the unit of the costs.
  Rational time(int64_t ticks) const { return tickCosts.time(ticks); }
  /// 1 - work / (ranks * clock); 0 for a schedule that takes no time. Nothing
  /// when the fraction does not fit.
  std::optional<Rational> bubbleRate(int64_t clock) const;

private:
  friend class Simulator;
  Simulation(const Schedule &schedule, TickCosts costs)
      : schedule(&schedule), stepNumbers(schedule), tickCosts(std::move(costs)),
        starts(stepNumbers.size()), rankTimes(schedule.numRanks) {}
  void summarize();
  int64_t transferEnd(unsigned rank, size_t index) const;

  const Schedule *schedule;
  std::optional<WaitModel> waitModel;
  std::optional<Transfers> stepTransfers;
  StepNumbers stepNumbers;
  TickCosts tickCosts;
  std::vector<int64_t> starts;
  std::vector<RankTimes> rankTimes;
  int64_t first = 0;
  int64_t last = 0;
};

/// Reports a schedule that has fewer steps than results, which only one that is
/// not of level compute has: a table of its results would not be linear in its
/// steps.
llvm::LogicalResult checkResults(const Schedule &schedule, DiagEngine &diags);

/// Runs a schedule of level compute under free arrival. Reports an order that
/// cannot run with the step at which each rank waits, and costs that do not
/// fit. Linear; 16 bytes a step.
llvm::FailureOr<Simulation> simulate(const Schedule &schedule,
                                     DiagEngine &diags);

/// Runs a schedule of level placed under a model of waiting. Reports a schedule
/// that does not end, with a witness and where each rank waits. Linear; 17
/// bytes a step, and 4 more when it has batches.
llvm::FailureOr<Simulation> simulate(const Schedule &schedule, WaitModel model,
                                     DiagEngine &diags);

/// Runs a schedule of level placed under `model`, edge without one, and a
/// schedule without P2P steps, for which the models are all one, under free
/// arrival. Where that fits, 1/`parts` of a unit of time is a whole number of
/// ticks.
llvm::FailureOr<Simulation> simulate(const Schedule &schedule,
                                     std::optional<WaitModel> model,
                                     DiagEngine &diags, int64_t parts = 1);

/// Gives the steps of `schedule` their starts in `simulation` as start times: a
/// batch that of its first member to start, a bubble none, and a P2P step none
/// under free arrival.
void fillTimes(Schedule &schedule, const Simulation &simulation);

} // namespace pipec

#endif // PIPEC_SIMULATION_SIMULATE_H
