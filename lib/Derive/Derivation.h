//===- Derivation.h - Closed forms of measured figures ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Derive/CaseFinder.h"
#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"

#include <array>
#include <bitset>

namespace pipec {

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The costs that formulas have letters for, in the order of their sums.
enum class CostLetter : uint8_t { F, B, I, W, Overlap, P2P };
inline constexpr unsigned numCostLetters = 6;

/// A set of letters; bit L is letter L.
using LetterSet = std::bitset<numCostLetters>;
/// A cost of each letter.
using CostVector = std::array<Rational, numCostLetters>;

/// A row of CostCones.def.
struct CostCone {
  /// The letters of the steps, without p2p.
  LetterSet steps;
  /// In the syntax of programs, with `cost(&)` for the cost of the overlap;
  /// empty for all costs.
  llvm::StringRef condition;
  /// The letters of the sum, in ascending order.
  std::vector<CostLetter> letters;
  std::vector<CostVector> rays;

  /// The sum of the rays.
  CostVector inside() const;
  bool contains(const CostVector &costs) const;
  bool contains(const CostCone &other) const;
  /// The factors of the letters in the sum that has the given values at the
  /// rays, if there is one.
  std::optional<std::vector<Rational>>
  factors(llvm::ArrayRef<Rational> values) const;
};

/// All rows of the table.
llvm::ArrayRef<CostCone> allCostCones();

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

/// The times of a run.
struct RunFigures {
  Rational makespan;
  Rational span;
  /// By rank.
  std::vector<Rational> idle;
  std::vector<Rational> starts;
};

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

/// The figures at one size.
struct SizeFigures {
  /// All parameters of the schedule, in the order of the program.
  ParamValues params;
  unsigned numRanks = 0;
  /// Under each of the costs that were asked for, then under its own costs.
  std::vector<RunFigures> runs;
  std::vector<Rational> peaks;
};

/// The steps of a schedule at all sizes that matter for its cost.
struct StepsUsed {
  /// The letters of the steps, without p2p.
  LetterSet letters;
  /// The kinds of overlaps, with their costs.
  std::vector<CostSettings::Overlap> overlaps;
  /// The costs of the schedule; at its last size if they depend on parameters.
  CostVector costs;
  Rational occupancy;
  bool costsVary = false;
  /// True if it has costs or factors of single stages, ranks, micro-batches or
  /// edges, which no clause can name.
  bool hasPlaces = false;
  /// True if letters determine all times, up to factors: no costs of single
  /// stages or edges, no occupied edges, and at most one kind of overlaps.
  bool onlyLetters = true;
  /// The assumed costs of the schedule.
  AssumedCosts assumed;
};

/// Measures a schedule at the points of a grid without P2P contention.
class GridFigures {
public:
  explicit GridFigures(const DeriveRequest &request)
      : request(request), diags(request.diags) {}

  /// Finds the steps that the schedule uses. Reports a size that has an error,
  /// but not one that a requirement refuses.
  llvm::LogicalResult inspect();
  const StepsUsed &steps() const { return used; }
  /// The sizes that exist, and the number of those that are refused.
  llvm::ArrayRef<ParamValues> sizes() const { return existing; }
  size_t numRefused() const { return refused; }
  /// Some sizes outside the grid, with smaller values and with up to twice the
  /// largest ones, not many more than those of the grid.
  std::vector<ParamValues> sizesOutside() const;

  /// Measures a size under each of `costs`. Reports figures that do not fit 64
  /// bits.
  llvm::FailureOr<SizeFigures> measure(const ParamValues &params,
                                       llvm::ArrayRef<CostVector> costs);

private:
  llvm::FailureOr<Schedule> lowered(const ParamValues &params);
  void noteSteps(const Schedule &lowered);
  void noteCosts(const Schedule &lowered);

  const DeriveRequest &request;
  DiagEngine &diags;
  StepsUsed used;
  std::vector<ParamValues> existing;
  size_t refused = 0;
  bool refusedNow = false;
};

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

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
  /// True if it applies to few sizes: less than a twentieth of the figures, or
  /// a tenth if its condition has residues of two variables.
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

  bool hasClauses() const;
};

/// The least number of sizes that formulas are derived from.
inline constexpr size_t minDeriveSizes = 8;

/// Derives clauses for the metrics of a schedule, and calls `advance` after
/// each size. Reports errors at single sizes, and too few sizes.
llvm::FailureOr<Derivation> derive(const DeriveRequest &request,
                                   llvm::function_ref<void()> advance);

} // namespace pipec
