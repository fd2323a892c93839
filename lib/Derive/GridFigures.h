//===- GridFigures.h - The figures of a schedule at many sizes --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Derive/Derivation.h"

#include "llvm/ADT/MapVector.h"

#include <array>
#include <map>

namespace pipec {

/// The costs that formulas have letters for: F, B, I, W, the overlap and p2p.
using CostVector = std::array<int64_t, 6>;
/// A map in the order of insertion.
template <typename T>
using NameMap =
    llvm::MapVector<std::string, T, std::map<std::string, unsigned>>;
inline constexpr unsigned overlapLetter = 4, p2pLetter = 5;

/// A row of CostCones.def.
struct CostCone {
  /// The letters of the steps, of `FBIWO`.
  llvm::StringRef steps;
  llvm::StringRef condition;
  bool (*meets)(const CostVector &costs);
  /// Vectors of which all in the cone are sums of multiples, then their sum.
  std::vector<CostVector> vectors;

  bool contains(const CostCone &other) const {
    return llvm::all_of(other.vectors, meets);
  }
  /// The factors of the letters in the sum that has the given values at
  /// `vectors`, 0 for redundant letters; empty if there is no such sum.
  std::vector<Rational> factors(llvm::ArrayRef<Rational> values) const;
};

/// All rows of the table.
llvm::ArrayRef<CostCone> allCostCones();

/// The metrics that formulas are derived for.
inline constexpr Expectation::Metric derivedMetrics[] = {
    Expectation::Metric::Makespan, Expectation::Metric::Span,
    Expectation::Metric::Idle, Expectation::Metric::Peak};

/// The figures under some costs.
struct RunFigures {
  /// By metric, one value or one per rank.
  std::array<std::vector<Rational>, std::size(derivedMetrics)> values;
  /// The first starts of the ranks.
  std::vector<Rational> starts;
};

/// The figures at one size.
struct SizeFigures {
  /// All parameters of the schedule, in the order of the program.
  ParamValues params;
  unsigned numRanks = 0;
  /// Under each of the costs that were asked for, then under its own costs.
  std::vector<RunFigures> runs;
};

/// Measures a schedule at the points of a grid without P2P contention.
class GridFigures {
public:
  explicit GridFigures(const DeriveRequest &request)
      : request(request), diags(request.diags) {}

  /// Finds the steps that the schedule uses. Reports a size that has an error,
  /// but not one that a requirement refuses.
  llvm::LogicalResult inspect();
  /// Some points outside the grid, with smaller values and with up to twice the
  /// largest ones, not many more than those of the grid.
  std::vector<ParamValues> pointsOutside() const;
  /// Measures a size under each of `costs`. Reports figures that do not fit 64
  /// bits.
  llvm::FailureOr<SizeFigures> measure(const ParamValues &params,
                                       llvm::ArrayRef<CostVector> costs);

  /// The letters of the schedule's steps, of `FBIWO`.
  std::string steps() const;
  /// The letter in the syntax of programs.
  std::string letterText(unsigned letter) const;
  /// The schedule's own costs up to a factor, without those of other steps, if
  /// they fit.
  std::optional<CostVector> ownVector() const;

  /// The points that exist, and the number of those that are refused.
  std::vector<ParamValues> existing;
  size_t refused = 0;
  /// The schedule's own costs by name in the syntax of programs, and whether
  /// they depend on its parameters.
  NameMap<Rational> own;
  bool costsVary = false;
  /// True if it has costs or factors of single stages, ranks, micro-batches or
  /// edges, which no clause can name.
  bool hasPlaces = false;
  /// True if letters determine all times, up to factors: no costs of single
  /// stages or edges, no occupied edges, and at most one kind of overlaps.
  bool onlyLetters = true;
  AssumedCosts assumed;

private:
  llvm::FailureOr<Schedule> lowered(const ParamValues &params);
  void noteCost(const std::string &name, std::optional<Rational> value);
  void noteCosts(const Schedule &lowered);

  const DeriveRequest &request;
  DiagEngine &diags;
  std::vector<llvm::SmallVector<StepKind, 2>> overlaps;
  bool refusedNow = false;
};

} // namespace pipec
