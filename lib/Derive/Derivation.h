//===- Derivation.h - Closed forms of measured figures ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"

namespace pipec {

/// What formulas are derived from.
struct DeriveRequest {
  const ScheduleSource &source;
  const CheckedSchedule &schedule;
  const LowerOptions &lowering;
  /// Gives the parameters that formulas may use.
  const Grid &grid;
  /// Derives clauses for the schedule's own costs alone.
  bool ownCosts;
  DiagEngine &diags;
};

/// An `expect` clause that holds at all measured sizes that meet its condition,
/// also at those outside the grid.
struct DerivedClause {
  /// The right side, and the condition; empty if there is none.
  std::string value;
  std::string condition;
  /// The number of sizes that it was fitted to, and of those that it was only
  /// compared with.
  size_t fitted = 0;
  size_t heldOut = 0;
  /// True if it applies to less than a twentieth of the figures.
  bool isSliver = false;
  /// If proven, with the other parameters of the grid it holds at all numbers
  /// of micro-batches from this one on.
  std::optional<int64_t> everyM;

  size_t length() const { return value.size() + condition.size(); }
};

/// The clauses of one metric, the simplest first.
struct DerivedFigure {
  Expectation::Metric metric;
  std::vector<DerivedClause> clauses;
  /// The number of sizes at which no clause gives the figure (of each rank),
  /// and the first of them.
  size_t uncovered = 0;
  ParamValues firstUncovered;
};

/// The clauses derived for one schedule.
struct Derivation {
  std::string name;
  std::string path;
  /// The number of sizes that formulas were fitted to, held out and refused.
  size_t fitted = 0;
  size_t heldOut = 0;
  size_t refused = 0;
  /// True if the clauses are for the costs of the schedule alone.
  bool ownCostsOnly = false;
  /// True if it has costs or factors of single stages, ranks, micro-batches or
  /// edges, which the clauses do not name but depend on.
  bool hasPlaces = false;
  /// The assumed costs that limited the clauses.
  AssumedCosts assumed;
  std::vector<DerivedFigure> figures;
};

/// Derives clauses for the metrics of a schedule, and calls `advance` after
/// each size. Reports errors at single sizes, and too few sizes.
llvm::FailureOr<Derivation> derive(const DeriveRequest &request,
                                   llvm::function_ref<void()> advance);

} // namespace pipec
