//===- Derivation.h - Closed forms of measured figures ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_DERIVATION_H
#define PIPEC_DERIVE_DERIVATION_H

#include "Cost/Expectation.h"
#include "Derive/CaseFinder.h"
#include "Derive/GridFigures.h"

namespace pipec {

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
};

/// The clauses of one metric.
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

/// What was derived for one schedule.
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
  std::vector<DerivedFigure> figures;

  bool hasClauses() const;
};

/// The least number of sizes that formulas are derived from.
inline constexpr size_t minDeriveSizes = 8;

/// Derives clauses for the metrics of a schedule. `grid` gives the parameters
/// that formulas may use, and `ownCosts` limits the clauses to costs that
/// include those of the schedule. Reports errors at single sizes, and too few
/// sizes.
class Deriver {
public:
  Deriver(const ScheduleSource &source, const CheckedSchedule &schedule,
          const LowerOptions &lowering, const Grid &grid, bool ownCosts,
          DiagEngine &diags)
      : source(source), schedule(schedule), grid(grid), ownCosts(ownCosts),
        diags(diags), measured(source, schedule, lowering, diags) {}

  llvm::FailureOr<Derivation> run(llvm::function_ref<void()> advance);

private:
  /// One set of costs, and where its runs are among the measured ones.
  struct Regime {
    CostCone cone;
    /// By ray, the index of the run; then that of the point inside.
    std::vector<size_t> rays;
    size_t inside = 0;
    std::string condition;
  };

  void chooseRegimes();
  void findVariables();
  FitSamples emptySamples(bool perRank) const;
  std::vector<Rational> factors(Expectation::Metric metric,
                                const SizeFigures &size, unsigned rank,
                                const Regime &regime) const;
  FitSamples samplesOf(Expectation::Metric metric, const Regime *regime,
                       llvm::ArrayRef<SizeFigures> sizes) const;
  /// The conditions without which formulas are wrong at smaller sizes than
  /// those of the grid; nothing if they are wrong at others.
  std::optional<std::vector<std::string>>
  boundsOf(const FormulaCase &formulas, const FitSamples &inside,
           const FitSamples &outside) const;
  DerivedFigure derive(Expectation::Metric metric);
  std::string letterText(CostLetter letter) const;
  std::string valueText(const FormulaCase &formulas, const Regime *regime,
                        llvm::ArrayRef<std::string> names) const;
  std::string ownCostsText() const;

  const ScheduleSource &source;
  const CheckedSchedule &schedule;
  const Grid &grid;
  bool ownCosts;
  DiagEngine &diags;
  GridFigures measured;

  std::vector<CostVector> costs;
  std::vector<Regime> regimes;
  /// The parameters that formulas use, as indices of the parameters of the
  /// schedule, and the conditions on the others.
  std::vector<unsigned> variables;
  std::vector<std::string> fixed;
};

} // namespace pipec

#endif // PIPEC_DERIVE_DERIVATION_H
