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
  /// Limits the clauses to costs that include the schedule's own.
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
};

/// The clauses of one metric, the simplest first.
struct DerivedFigure {
  Expectation::Metric metric;
  std::vector<DerivedClause> clauses;
  /// The number of sizes at which no clause gives the figure (of each rank)
  /// under any costs.
  size_t uncovered = 0;
  /// The first of them; without any clauses, the first that contradicts the
  /// polynomial of the sizes before it.
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
  /// True if the clauses are for the costs of the schedule alone: it has costs
  /// of single stages or edges, or several kinds of overlaps, or no set of
  /// costs includes its own.
  bool ownCostsOnly = false;
  /// True if it has costs or factors of single stages, ranks, micro-batches or
  /// edges, which the clauses do not name but depend on.
  bool hasPlaces = false;
  /// The assumed costs that chose or limited the clauses.
  AssumedCosts assumed;
  std::vector<DerivedFigure> figures;

  bool hasClauses() const {
    return llvm::any_of(figures, [](const DerivedFigure &figure) {
      return !figure.clauses.empty();
    });
  }
};

/// The least number of sizes that formulas are derived from.
inline constexpr size_t minDeriveSizes = 8;

/// Derives clauses for the metrics of a schedule, and calls `advance` after
/// each size. Reports errors at single sizes, and too few sizes.
llvm::FailureOr<Derivation> derive(const DeriveRequest &request,
                                   llvm::function_ref<void()> advance);

} // namespace pipec
