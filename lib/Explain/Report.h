//===- Report.h - The figures of a run --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All figures of one run of a schedule as plain data: those for comparing
// schedules, and those that show where to improve one. docs/Report.md explains
// every figure. Nothing here is text.
//===----------------------------------------------------------------------===//

#pragma once

#include "Explain/Causes.h"
#include "Explain/IdleGaps.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace pipec {

/// The optional parts of a report.
struct ReportOptions {
  /// The communication model of transfers, if the schedule has any; nothing
  /// means `edge`.
  std::optional<CommModel> model;
  /// Whether to compute the critical path.
  bool path = true;
  /// The number of largest idle gaps to explain.
  unsigned gaps = 10;
  /// How costs vary, to find the distribution of the makespan.
  std::optional<Jitter> jitter;
};

/// The makespan under draws of the costs: the mean, and the least time that is
/// not exceeded by a half, 95 % and 99 % of the draws. Times are rounded to 12
/// significant digits.
struct JitterReport {
  unsigned draws = 0;
  uint64_t seed = 0;
  Rational mean, p50, p95, p99;
  /// By rank, the share of draws in which it is on the critical path. Empty if
  /// steps wait for anything but steps and latencies, and for long lists.
  std::vector<Rational> critical;

  /// Calls `visit(name, time)` for each time.
  template <class Visit> void forEach(Visit visit) const {
    visit("mean", mean);
    visit("p50", p50);
    visit("p95", p95);
    visit("p99", p99);
  }
};

/// The sums of `WaitParts`, in the unit of the costs.
struct WaitingTime {
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name) Rational Name;
#include "Explain/Bindings.def"
  /// All but `dependency`: exposed communication. The next input has been
  /// computed, and the rank is idle.
  Rational exposed;

  /// Calls `visit(name, time)` for each part.
  template <class Visit> void forEachPart(Visit visit) const {
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name) visit(llvm::StringLiteral(#Name), Name);
#include "Explain/Bindings.def"
  }
};

/// The figures of one rank. All times are in the unit of the costs, from the
/// start of the schedule.
struct RankReport {
  /// The start of the first and the end of the last compute step; both 0 if
  /// there are none.
  Rational start;
  Rational end;
  /// The sum of the durations of its compute steps.
  Rational work;
  /// The makespan, and the span, minus its work.
  Rational idle;
  Rational idleSpan;
  /// The time between its own start and end minus its work.
  Rational gaps;
  /// `idle` / makespan and `idleSpan` / span.
  Rational bubbleMakespan;
  Rational bubbleSpan;
  /// The peaks of its memory; `activations` is the peak of closed forms and
  /// expectations.
  MemoryPeaks memory;
  /// Its memory limit.
  std::optional<Rational> memoryLimit;
  bool isOverLimit() const {
    return memoryLimit && *memoryLimit < memory.total;
  }
  WaitingTime waiting;
  /// The maximum number of sends that it has posted but not waited for, by the
  /// order of its list; a send without a wait counts until the end.
  uint64_t outstandingSends = 0;
  /// UNSHARDs, and those that are not the first of their stage on the rank.
  uint64_t unshards = 0;
  uint64_t refetches = 0;
};

/// The transfers of one directed edge between two ranks.
struct EdgeReport {
  unsigned from = 0;
  unsigned to = 0;
  /// False for activations of a forward, true for gradients of a backward.
  bool gradients = false;
  uint64_t transfers = 0;
  /// The sum of their sizes, if the schedule gives the size of a received
  /// tensor.
  std::optional<Rational> volume;
};

/// The report on one run.
struct Report {
  /// The communication model; nothing under free arrival, which applies to
  /// schedules without transfer steps.
  std::optional<CommModel> model;

  /// The last end minus the first start over all ranks, and the maximum over
  /// the ranks of the rank's own last end minus first start.
  Rational makespan;
  Rational span;
  /// 1 - work / (ranks * makespan), and likewise for the span; 0 for a schedule
  /// without a duration.
  Rational bubbleMakespan;
  Rational bubbleSpan;
  /// The work of all ranks.
  Rational work;
  /// For a run under a model, the makespan under free arrival: the difference
  /// of the two is the cost of the order of the transfers.
  std::optional<Rational> freeMakespan;
  /// The maximum of each peak over all ranks, and the memory limit of the
  /// schedule, which ranks with limits of their own override.
  MemoryPeaks memory;
  std::optional<Rational> memoryLimit;

  std::vector<RankReport> ranks;
  /// True if some rank has a memory limit (exceeds its memory limit).
  bool hasLimit() const {
    return std::ranges::any_of(ranks, [](const RankReport &rank) {
      return rank.memoryLimit.has_value();
    });
  }
  bool isOverLimit() const {
    return std::ranges::any_of(ranks, &RankReport::isOverLimit);
  }
  /// True if a rank waits for its sends in the middle of its list.
  bool sendWaits = false;

  /// Ordered by sender, receiver, and activations before gradients.
  std::vector<EdgeReport> edges;
  uint64_t transfers = 0;
  std::optional<Rational> volume;
  /// Sums over the ranks.
  WaitingTime waiting;
  uint64_t unshards = 0;
  uint64_t refetches = 0;

  /// Times in ticks; one unit of time has `ticksPerUnit`.
  PathSteps path;
  int64_t ticksPerUnit = 1;
  Rational time(int64_t ticks) const {
    return *Rational::make(ticks, ticksPerUnit);
  }
  WaitingTime time(const WaitParts &parts) const {
    WaitingTime times;
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name) times.Name = time(parts.Name);
#include "Explain/Bindings.def"
    times.exposed = time(parts.exposed());
    return times;
  }

  /// The longest first, then by start and rank; in ticks.
  std::vector<IdleGap> gaps;

  std::optional<JitterReport> jitter;
};

/// Runs `schedule` and reports on the run. Reports, through `diags`, an order
/// that cannot run and figures that do not fit 64 bits. Linear in the steps.
llvm::FailureOr<Report> makeReport(const Schedule &schedule,
                                   const ReportOptions &options,
                                   DiagEngine &diags);

} // namespace pipec
