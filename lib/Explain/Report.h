//===- Report.h - What a schedule costs -------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that one run of a schedule says about it, as plain data: the figures that
// people compare schedules by, and what to look at to better them.
// docs/Report.md explains every figure. Nothing here is text.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_REPORT_H
#define PIPEC_EXPLAIN_REPORT_H

#include "Explain/CriticalPath.h"
#include "Explain/IdleGaps.h"

#include <optional>
#include <vector>

namespace pipec {

/// What is to be found out. The figures of `Report` that are not parts of their
/// own are always there.
struct ReportOptions {
  /// How transfers wait in time, where the schedule has some; `edge` without.
  std::optional<WaitModel> model;
  /// Whether to follow the critical path.
  bool path = true;
  /// How many of the largest idle gaps to explain.
  unsigned gaps = 10;
};

/// What ranks wait for before their compute steps: the sums of `WaitParts`.
struct WaitingTime {
  Rational dependency;
  Rational latency;
  Rational queue;
  Rational wait;
  Rational gather;
  /// All but `dependency`: exposed communication. What is needed next has been
  /// computed, and the rank does nothing.
  Rational exposed;
};

/// One rank. All times are in the unit of the costs, counted from the start of
/// the schedule.
struct RankReport {
  /// Start of its first and end of its last compute step; both 0 when it
  /// computes nothing.
  Rational start;
  Rational end;
  /// The durations of its compute steps together.
  Rational work;
  /// The makespan, and the span, without its work.
  Rational idle;
  Rational idleSpan;
  /// Between its own start and end without its work.
  Rational gaps;
  /// `idle` over makespan and `idleSpan` over span.
  Rational bubbleMakespan;
  Rational bubbleSpan;
  /// The most that it keeps; `activations` is the peak of closed forms and
  /// expectations.
  MemoryPeaks memory;
  WaitingTime waiting;
  /// The most sends at once that it has posted and not yet waited for, by the
  /// order of its list; without a wait for it a send counts until the end.
  uint64_t outstandingSends = 0;
  /// UNSHARDs, and those among them that are not the first of their stage on
  /// the rank.
  uint64_t unshards = 0;
  uint64_t refetches = 0;
};

/// The transfers of one directed edge between two ranks.
struct EdgeReport {
  unsigned from = 0;
  unsigned to = 0;
  /// Activations of a forward (false), gradients of a backward (true).
  bool gradients = false;
  uint64_t transfers = 0;
  /// Their sizes together, where the schedule says what a received tensor
  /// takes.
  std::optional<Rational> volume;
};

/// The report of one run.
struct Report {
  /// The model of waiting; nothing under free arrival, which schedules without
  /// transfers run under.
  std::optional<WaitModel> model;

  /// Last end minus first start over all ranks; the longest rank's own last end
  /// minus first start.
  Rational makespan;
  Rational span;
  /// 1 - work / (ranks * makespan), and so for the span; 0 for a schedule that
  /// takes no time.
  Rational bubbleMakespan;
  Rational bubbleSpan;
  /// The work of all ranks.
  Rational work;
  /// The makespan under free arrival, where the run is under a model: what is
  /// between the two is the cost of the order of the transfers.
  std::optional<Rational> freeMakespan;
  /// The largest peaks of all ranks, each by itself, and what the schedule says
  /// that a rank has room for.
  MemoryPeaks memory;
  std::optional<Rational> memoryLimit;
  /// True when a rank with these peaks keeps more than that.
  bool isOverLimit(const MemoryPeaks &peaks) const {
    return memoryLimit && *memoryLimit < peaks.total;
  }

  std::vector<RankReport> ranks;
  /// Some rank waits for its sends in the middle of its list.
  bool sendWaits = false;

  /// Ordered by sender, receiver, and activations before gradients.
  std::vector<EdgeReport> edges;
  uint64_t transfers = 0;
  std::optional<Rational> volume;
  /// Sums over the ranks.
  WaitingTime waiting;
  uint64_t unshards = 0;
  uint64_t refetches = 0;

  /// Times in ticks of which `ticksPerUnit` are one unit of time.
  PathSteps path;
  int64_t ticksPerUnit = 1;
  Rational time(int64_t ticks) const {
    return *Rational::make(ticks, ticksPerUnit);
  }

  /// The longest first, then by start and rank; in ticks.
  std::vector<IdleGap> gaps;
};

/// Lets `schedule` run and reports on it. Reports, through `diags`, an order
/// that cannot run and figures that do not fit 64 bits. Linear in the steps.
llvm::FailureOr<Report> makeReport(const Schedule &schedule,
                                   const ReportOptions &options,
                                   DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_EXPLAIN_REPORT_H
