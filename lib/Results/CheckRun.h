//===- CheckRun.h - The `expect` clauses at many sizes ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_CHECKRUN_H
#define PIPEC_RESULTS_CHECKRUN_H

#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"
#include "Simulation/ExpectCheck.h"

#include <set>

namespace pipec {

/// A figure that does not hold, with all that it depends on.
struct FailedFigure {
  CheckedFigure figure;
  /// All parameters of the schedule, those with defaults included.
  ParamValues params;
  /// The costs in force, as `costText` writes them.
  std::string costs;
};

/// What became of one `expect` clause.
struct ClauseResult {
  Expectation::Metric metric = Expectation::Metric::Makespan;
  SourceLoc source;
  /// Figures that it claimed (a clause of a rank claims one for each), and
  /// those among them that do not hold.
  uint64_t figures = 0;
  uint64_t failures = 0;
  /// The first of the latter, at most `maxShown`.
  std::vector<FailedFigure> shown;
  static constexpr size_t maxShown = 100;
};

/// A size that the schedule does not exist at.
struct RefusedSize {
  ParamValues params;
  /// The message of the `require` that is not met.
  std::string reason;
};

/// What became of one schedule.
struct CheckResult {
  std::string name;
  std::string path;
  /// Sizes that were simulated under all costs, sizes that were refused, and
  /// sizes whose run ended with an error, which was reported.
  uint64_t checked = 0;
  uint64_t broken = 0;
  std::vector<RefusedSize> refused;
  std::vector<ClauseResult> clauses;

  uint64_t figures() const;
  uint64_t failures() const;
  bool good() const { return figures() && !failures() && !broken; }
};

/// Checks schedules at points, and gathers what it finds. A clause that fails
/// is reported once, with its first failure, by `finish`.
class CheckRun {
public:
  /// `costs` are put over those of the program one after the other, each for a
  /// run of its own; empty settings leave the program's own.
  CheckRun(llvm::ArrayRef<CostSettings> costs, DiagEngine &diags)
      : costs(costs), diags(diags) {}

  /// A schedule of a program, at one size after the other.
  void begin(const CheckedSchedule &schedule, llvm::StringRef path);
  /// Checks it with `params`, to which `options` gives the rest.
  void checkSize(const ScheduleSource &source, const CheckedSchedule &schedule,
                 const LowerOptions &options, const ParamValues &params);
  /// A schedule that was read as steps, which has one size; `sizes` insist on
  /// it.
  void checkSteps(const ScheduleSource &source, const LowerOptions &options,
                  const WantedSizes &sizes);
  /// Reports what failed of the schedule that was begun last, and returns what
  /// became of it.
  CheckResult finish();

private:
  llvm::LogicalResult check(const Schedule &schedule);
  ClauseResult &clauseOf(const Expectation &expectation);

  llvm::ArrayRef<CostSettings> costs;
  DiagEngine &diags;

  CheckResult result;
  SourceLoc name;
  /// Errors about a size that were reported: the kind and the place.
  std::set<std::pair<diag::Id, const char *>> reported;
};

} // namespace pipec

#endif // PIPEC_RESULTS_CHECKRUN_H
