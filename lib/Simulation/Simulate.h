//===- Simulate.h - Simulating a schedule -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There are two ways to run a schedule under its own costs, in exact ticks;
// docs/Simulation.md defines them:
//
//   free arrival   every rank runs its list in order, as early as data allows;
//                  a result is available when its producer ends, and on another
//                  rank one transfer time later. P2P steps are ignored. The
//                  closed forms of the papers assume this.
//   under a model  compute steps wait for their receives, and transfers wait in
//                  queues as defined in Waiting.h: a transfer starts when both
//                  ends have started (buffered: when the send has).
//
// The difference of the two makespans is the cost of the order of the
// transfers. An overlap starts when the inputs of all its members are
// available, and its results are available at its end. Bubbles have no
// duration. A transfer occupies its directed edge for its occupancy, in order.
// FSDP steps run concurrently with the compute steps of their rank, one after
// the other; compute steps wait for the UNSHARD of their stage.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Simulation/TickCosts.h"
#include "Waiting/Communicators.h"
#include "Waiting/StepNumbers.h"
#include "Waiting/Transfers.h"

namespace pipec {

/// The times of one rank, in ticks.
struct RankTimes {
  /// The start of the first and the end of the last compute step, or FSDP step
  /// with a duration; equal if there are none.
  int64_t start = 0;
  int64_t end = 0;
  /// The sum of the durations of its compute steps.
  int64_t work = 0;
  /// The time between start and end in which the rank did not compute.
  int64_t gaps() const { return end - start - work; }
};

/// One run of a schedule. The schedule must outlive it, unchanged for `end`.
class Simulation {
public:
  const StepNumbers &numbers() const { return stepNumbers; }
  const TickCosts &costs() const { return tickCosts; }
  /// The start of a step, in ticks. Under a model, a P2P step starts when it
  /// has been posted and is at the head of its queue, and a send not before its
  /// edge is free; under free arrival it has the time of its rank. An FSDP step
  /// starts when the previous ones of its rank have ended, a bubble when its
  /// rank reaches it.
  int64_t start(uint32_t step) const { return starts[step]; }
  int64_t start(unsigned rank, size_t index) const {
    return starts[stepNumbers.of(rank, index)];
  }
  /// The end of the step at `index` of a rank's list, in ticks. All members of
  /// an overlap end together. A transfer ends, for both its send and its
  /// receive, when the data has arrived, but the receive not before its start;
  /// under free arrival P2P steps have no duration.
  int64_t end(unsigned rank, size_t index) const;
  int64_t end(uint32_t step) const {
    StepRef at = stepNumbers.at(step);
    return end(at.rank, at.index);
  }
  /// By datum, when it arrives, of a run in the order of time (SharedRun.h);
  /// empty for others, whose arrivals follow from the times of steps.
  llvm::ArrayRef<int64_t> arrivals() const { return dataArrivals; }
  /// The model of a run under a model, and the matching of its transfers.
  const std::optional<CommModel> &model() const { return waitModel; }
  const std::optional<Transfers> &transfers() const { return stepTransfers; }
  llvm::ArrayRef<RankTimes> ranks() const { return rankTimes; }

  /// The times were recorded, not simulated: no cost explains them.
  bool isRecorded() const { return !recordedEnds.empty(); }

  /// The first start of all ranks.
  int64_t begin() const { return first; }

  /// The last end minus the first start over all ranks: the duration of a
  /// training step with a synchronous optimizer.
  int64_t makespan() const { return last - first; }
  /// The maximum over the ranks of the rank's own last end minus first start:
  /// the measure of the papers on zero bubbles.
  int64_t span() const;
  /// The work of all ranks.
  int64_t work() const;

  /// Converts ticks to a time in the unit of the costs.
  Rational time(int64_t ticks) const { return tickCosts.time(ticks); }
  /// 1 - work / (ranks * clock); 0 if the schedule has no duration. Empty if
  /// the fraction does not fit.
  std::optional<Rational> bubbleRate(int64_t clock) const;

private:
  friend class Simulator;
  Simulation(const Schedule &schedule, TickCosts costs)
      : schedule(&schedule), stepNumbers(schedule), tickCosts(std::move(costs)),
        starts(stepNumbers.size()), rankTimes(schedule.numRanks) {}
  void summarize();
  int64_t transferEnd(unsigned rank, size_t index) const;

  const Schedule *schedule;
  std::optional<CommModel> waitModel;
  std::optional<Transfers> stepTransfers;
  StepNumbers stepNumbers;
  TickCosts tickCosts;
  std::vector<int64_t> starts;
  std::vector<int64_t> dataArrivals;
  /// By step; empty unless the times were recorded.
  std::vector<int64_t> recordedEnds;
  std::vector<RankTimes> rankTimes;
  int64_t first = 0;
  int64_t last = 0;
};

/// Reports a schedule that has fewer steps than results and therefore is not of
/// level compute: a table of its results would not be linear in its steps.
llvm::LogicalResult checkResults(const Schedule &schedule, DiagEngine &diags);

/// Runs a schedule of level compute under free arrival. Reports an order that
/// cannot run, with the step at which each rank waits, and costs that do not
/// fit. Linear; 16 bytes per step.
llvm::FailureOr<Simulation> simulate(const Schedule &schedule,
                                     DiagEngine &diags);

/// Runs a schedule of level placed under a communication model. Reports a
/// schedule that does not finish, with the cause and the steps at which the
/// ranks wait, and an edge without a communicator. Linear; 17 bytes per step,
/// and 4 more if it has batches.
llvm::FailureOr<Simulation> simulate(const Schedule &schedule,
                                     const CommModel &model, DiagEngine &diags);
inline llvm::FailureOr<Simulation>
simulate(const Schedule &schedule, WaitModel model, DiagEngine &diags) {
  return simulate(schedule, CommModel(model), diags);
}

/// Runs a schedule of level placed under `model` (default: edge). A schedule
/// without P2P steps, for which all models are equal, runs under free arrival.
/// If it fits, 1/`parts` of a unit of time is an integral number of ticks.
llvm::FailureOr<Simulation> simulate(const Schedule &schedule,
                                     std::optional<CommModel> model,
                                     DiagEngine &diags, int64_t parts = 1);

/// The makespans of a schedule under many draws of its costs.
struct DrawnMakespans {
  /// By draw.
  std::vector<int64_t> ticks;
  int64_t perUnit = 1;
  /// By rank, the number of draws in which a longest path of steps and
  /// transfers has steps of it. Empty where steps or transfers wait for
  /// anything else, and for very long lists.
  std::vector<unsigned> onPath;
};

/// Runs a schedule, which `simulate` has run with the same model, once per draw
/// of `jitter`. Reports times that do not fit.
llvm::FailureOr<DrawnMakespans> drawMakespans(const Schedule &schedule,
                                              std::optional<CommModel> model,
                                              const Jitter &jitter,
                                              DiagEngine &diags);

/// When a step started and ended in a real run.
struct RecordedTime {
  int64_t start = 0;
  int64_t end = 0;
};

/// A run of a schedule of compute steps alone with the times of a real run: by
/// rank and step, in parts of 1/`perUnit` of a unit of time. The members of an
/// overlap have the same times. Reports costs that do not fit.
llvm::FailureOr<Simulation>
recordedRun(const Schedule &schedule,
            llvm::ArrayRef<std::vector<RecordedTime>> times, int64_t perUnit,
            DiagEngine &diags);

/// Sets the start times of the steps of `schedule` from `simulation`. The time
/// of a batch is that of its first member to start. Bubbles, and P2P steps
/// under free arrival, have no time.
void fillTimes(Schedule &schedule, const Simulation &simulation);

} // namespace pipec
