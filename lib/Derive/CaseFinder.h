//===- CaseFinder.h - Finding the cases of a figure -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds formulas for samples in three steps, each with the one before:
//
//   a piece    polynomials, one per component, fitted to the samples of a
//              half-space; the simplest family of terms that fits is used
//   a formula  one piece that explains all samples, or the least or the largest
//              of two or three pieces that explain all of them together
//   the cases  a tree of conditions, with a formula at each leaf
//
// A formula must explain many more samples than could determine it, and some
// that it was not fitted to.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Derive/Formula.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <map>

namespace pipec {

/// The formulas of a figure for the samples that meet some conditions.
struct FormulaCase {
  std::vector<Condition> conditions;
  /// One per component of the figure.
  std::vector<Formula> values;
  /// The samples of the case, in ascending order.
  std::vector<unsigned> samples;

  /// True if the formulas have the values of `sample`.
  bool hold(const FitSample &sample) const;
};

/// Finds the cases of one figure. The samples must outlive it.
class CaseFinder {
public:
  explicit CaseFinder(const FitSamples &samples);

  /// The cases that explain the most samples, where one more case must explain
  /// at least 1 % of them. The formulas have the exact values of all samples of
  /// their cases. Samples without a formula are in no case.
  std::vector<FormulaCase> find();
  /// The first sample that contradicts every polynomial of degree 2 that has
  /// the values of the samples before it.
  std::optional<unsigned> firstContradiction() const;

private:
  using Subset = std::vector<unsigned>;
  struct Family {
    /// The products of atoms of a polynomial, the simplest first.
    std::vector<std::pair<unsigned, unsigned>> products;
    /// By sample, the values of the products and of the components.
    std::vector<std::vector<Residue>> equations;
  };
  /// The sides of a condition: each sample meets exactly one of them.
  using Split = std::vector<Condition>;
  struct Piece {
    std::vector<Polynomial> values;
    llvm::BitVector explains;
    /// The largest half-space with only samples that it explains.
    Condition half;
    size_t numInside = 0;
    /// The samples of the subset in question that it explains.
    size_t numExplained = 0;
  };

  bool isSpread(const Subset &subset) const;
  bool isSupported(const Polynomial &polynomial, const Subset &subset) const;
  std::optional<Piece> fit(const Subset &subset, const Family &family,
                           unsigned form, int64_t bound);
  std::vector<Piece> pool(const Subset &subset, const Family &family);
  std::optional<std::vector<Formula>>
  compose(llvm::ArrayRef<const Piece *> pieces, const Subset &subset) const;
  std::optional<std::vector<Formula>>
  several(const Subset &subset, const Subset &rest,
          llvm::SmallVector<const Piece *, 3> chosen, const Family &family);
  const std::optional<std::vector<Formula>> &formulasOf(const Subset &subset);
  std::vector<FormulaCase> findCases(const Subset &subset, unsigned divisions);

  const FitSamples &samples;
  /// The first two have no quotients, and degrees 1 and 2.
  std::vector<Family> families;
  /// Half-spaces without bounds, and the values of their forms by sample; the
  /// first is 0.
  std::vector<Condition> forms;
  std::vector<std::vector<int64_t>> formValues;
  std::vector<Split> splits;
  /// The results so far.
  std::map<Subset, std::optional<std::vector<Formula>>> known;
  /// The number of equations so far.
  size_t work = 0;
};

} // namespace pipec
