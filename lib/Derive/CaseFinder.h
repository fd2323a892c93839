//===- CaseFinder.h - Finding the cases of a figure -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A figure may have different formulas for different cases: residues of a size,
// or sizes of which one divides the other. At most three conditions make a
// case.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_CASEFINDER_H
#define PIPEC_DERIVE_CASEFINDER_H

#include "Derive/PieceFinder.h"

#include <map>

namespace pipec {

/// The formulas of a figure for the samples that meet some conditions.
struct FormulaCase {
  std::vector<Condition> conditions;
  /// One per component of the figure.
  std::vector<PiecewiseFormula> values;
  /// The samples of the case, in ascending order.
  std::vector<unsigned> samples;
};

/// The formulas of a figure. They have the exact values of the figure at all
/// samples of their cases.
struct FormulaCases {
  std::vector<FormulaCase> cases;
  /// The number of samples of the cases.
  size_t covered() const;
};

/// Finds the cases of figures. The samples must outlive it, and it the
/// formulas.
class CaseFinder {
public:
  explicit CaseFinder(const FitSamples &samples)
      : samples(samples), pieces(samples), splits(caseSplits(samples)) {}

  /// The formulas for the samples of `subset`: those that explain the most
  /// samples, then those with the fewest cases. A case that has no formula is
  /// left out.
  FormulaCases find(llvm::ArrayRef<unsigned> subset);

private:
  using Subset = std::vector<unsigned>;
  using Formulas = std::optional<std::vector<PiecewiseFormula>>;

  bool isKnown(const Subset &subset) const;
  const Formulas &formulasOf(const Subset &subset);
  std::vector<Subset> divide(const Subset &subset, const Split &split) const;
  FormulaCases findCases(const Subset &subset, unsigned divisions);

  const FitSamples &samples;
  PieceFinder pieces;
  std::vector<Split> splits;
  /// The results so far; nothing for a subset without formulas.
  std::map<Subset, Formulas> known;
};

} // namespace pipec

#endif // PIPEC_DERIVE_CASEFINDER_H
