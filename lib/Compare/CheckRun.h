//===- CheckRun.h - The `expect` clauses at many sizes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"
#include "Simulation/ExpectCheck.h"

#include <set>

namespace pipec {

/// A clause that does not hold, with everything it depends on.
struct FailedFigure {
  CheckedFigure figure;
  /// All parameters of the schedule, including those with defaults.
  ParamValues params;
  /// The costs in force, as formatted by `costText`.
  std::string costs;
};

/// The result of one `expect` clause.
struct ClauseResult {
  Expectation::Metric metric = Expectation::Metric::Makespan;
  SourceLoc source;
  /// The number of checked figures (a clause that is per rank has one for each
  /// rank), and of those that do not hold.
  uint64_t figures = 0;
  uint64_t failures = 0;
  /// The first figures that do not hold, at most `maxShown`.
  std::vector<FailedFigure> shown;
  static constexpr size_t maxShown = 100;
};

/// A size at which the schedule does not exist.
struct RefusedSize {
  ParamValues params;
  /// The message of the `require` statement that is not met.
  std::string reason;
};

/// The result of one schedule.
struct CheckResult {
  std::string name;
  std::string path;
  /// The number of sizes that were simulated under all costs, of sizes that
  /// were refused, and of sizes with an error, which was reported.
  uint64_t checked = 0;
  uint64_t broken = 0;
  std::vector<RefusedSize> refused;
  std::vector<ClauseResult> clauses;
  /// The sums over the clauses.
  uint64_t figures = 0;
  uint64_t failures = 0;

  bool good() const { return figures && !failures && !broken; }
};

/// Checks schedules at points and collects the results. `finish` reports a
/// failing clause once, with its first failure.
class CheckRun {
public:
  /// Each element of `costs` overrides the costs of the program in a run of its
  /// own; empty settings leave them unchanged.
  CheckRun(llvm::ArrayRef<CostSettings> costs, DiagEngine &diags)
      : costs(costs), diags(diags) {}

  /// Begins a schedule of a program, which is checked at several sizes.
  void begin(const CheckedSchedule &schedule, llvm::StringRef path);
  /// Checks it with `params`; `options` has the other settings.
  void checkSize(const ScheduleSource &source, const CheckedSchedule &schedule,
                 const LowerOptions &options, const ParamValues &params);
  /// Checks a schedule that was read as steps, which has one size; it must
  /// match `sizes`.
  void checkSteps(const ScheduleSource &source, const LowerOptions &options,
                  const InputOptions &sizes);
  /// Checks a schedule that was made elsewhere.
  llvm::LogicalResult check(const Schedule &schedule);
  /// Reports the failures of the current schedule and returns its result.
  CheckResult finish();

private:
  ClauseResult &clauseOf(const Expectation &expectation);

  llvm::ArrayRef<CostSettings> costs;
  DiagEngine &diags;

  CheckResult result;
  SourceLoc name;
  /// The kind and place of errors that were already reported.
  std::set<std::pair<diag::Id, const char *>> reported;
};

} // namespace pipec
