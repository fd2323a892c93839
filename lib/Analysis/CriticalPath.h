//===- CriticalPath.h - Why every step starts when it does -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a simulation every event happens at the latest time of what it waits for.
// So each step has a cause: a step whose end (or start) is its own start. From
// cause to cause the way leads back in time, without a hole, to a step that
// starts with the schedule. The way back from the last end is the critical path
// of the run (Kelley and Walker, "Critical-path planning and scheduling", 1959;
// here of one run in its given order, not of the graph of dependences alone).
//
// Nothing is recorded while the schedule runs: the causes are found afterwards,
// where somebody asks, from the times alone.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_ANALYSIS_CRITICALPATH_H
#define PIPEC_ANALYSIS_CRITICALPATH_H

#include "Analysis/Simulate.h"

#include <memory>
#include <optional>
#include <vector>

namespace pipec {

/// What a step waited for last.
enum class Reason : uint8_t {
#define PIPEC_REASON(Id, Name, Text) Id,
#include "Analysis/Reasons.def"
};

/// `order`, `data`, ...
llvm::StringRef reasonName(Reason reason);
/// The reason as a phrase behind "it starts".
llvm::StringRef reasonText(Reason reason);

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

/// A chain in the order of time: the end of each link and the latency of the
/// next one make the start of that one.
using PathSteps = std::vector<PathStep>;

/// What a rank waited for before a compute step, in ticks; what comes later in
/// this list starts to count when the earlier is over, so that the parts add up
/// to the wait.
struct WaitParts {
  /// For steps of other ranks that make its input to end.
  int64_t dependency = 0;
  /// For the input to be on its way, as fast as it can be.
  int64_t latency = 0;
  /// For transfers in queues, or for the other rank to come to its side.
  int64_t queue = 0;
  /// For parameters that are being gathered.
  int64_t gather = 0;

  int64_t exposed() const { return latency + queue + gather; }
  WaitParts &operator+=(const WaitParts &other);
};

/// Answers why steps start when they do. The schedule and its simulation must
/// outlive it. Where several things hold a step up until the same time, the
/// first of these is its cause: its rank's order, for a transfer its queue;
/// then the first member of an overlap or a batch that waits; the order of the
/// list of reasons. Linear memory: 8 bytes for each pair of stage and
/// micro-batch without transfers, 8 bytes for each step with them.
class Causes {
public:
  Causes(const Schedule &schedule, const Simulation &simulation);

  /// Reports a schedule that has fewer steps than results, which only one that
  /// is not of level compute has: the tables would not be linear in the steps.
  static llvm::LogicalResult check(const Schedule &schedule, DiagEngine &diags);
  ~Causes();

  const Schedule &schedule() const { return theSchedule; }
  const Simulation &simulation() const { return run; }

  /// The last link of every chain that ends with `step`: its times and why it
  /// starts when it does.
  PathStep link(uint32_t step) const;

  /// The chain of causes of `step`, back to the first link that starts at
  /// `since` or earlier, or until it has `maxLinks` (0: any number).
  PathSteps chain(uint32_t step, int64_t since, size_t maxLinks = 0) const;

  /// The chain that ends with the last end of all and begins at the start of
  /// the schedule; of several last ends that of the lowest rank. Empty when
  /// nothing computes.
  PathSteps criticalPath() const;

  /// The compute step that makes a result: the activations of a stage, or the
  /// gradient of its input; `none` when there is none.
  uint32_t maker(unsigned stage, unsigned microbatch, bool gradient) const;
  /// When the input of an F, B or I, which is consumed on `rank`, is made, when
  /// it can be there at the earliest, and when it is there under free arrival;
  /// nothing when it needs none.
  struct Input {
    int64_t made;
    int64_t there;
    int64_t arrived;
  };
  std::optional<Input> input(unsigned rank, Step step) const;
  /// What the overlap or step that begins at `begin` of the list of `rank`
  /// waited for, when the rank was free from `since` on.
  WaitParts wait(unsigned rank, size_t begin, int64_t since) const;

private:
  struct Impl;
  const Schedule &theSchedule;
  const Simulation &run;
  std::unique_ptr<Impl> impl;
};

} // namespace pipec

#endif // PIPEC_ANALYSIS_CRITICALPATH_H
