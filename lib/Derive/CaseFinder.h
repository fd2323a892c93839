//===- CaseFinder.h - Finding the cases of a figure -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds formulas for samples in three steps, each built on the previous one:
//
//   a piece    polynomials, one per component, fitted to the samples on one
//              side of a comparison
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
#include "llvm/ADT/DenseMap.h"

namespace pipec {

/// One measurement.
struct FitSample {
  /// The values of the atoms: 1, the variables, the quotients.
  std::vector<int64_t> atoms;
  /// The values of the components of the figure. If there are none, no formula
  /// may include the sample.
  std::vector<Rational> values;
  /// Formulas are not fitted to this sample, only compared with it.
  bool heldOut = false;
};

/// The samples that formulas are fitted to.
struct FitSamples {
  /// `divisions` are the pairs of variables whose quotients are atoms.
  FitSamples(llvm::ArrayRef<std::string> variables,
             llvm::ArrayRef<std::pair<unsigned, unsigned>> divisions,
             size_t components);

  void add(llvm::ArrayRef<int64_t> variables, std::vector<Rational> values);
  /// Ends the samples inside. Holds out those with the largest value of a
  /// variable that has at least four values, and about a third of the others.
  /// The choice depends only on the first `sizeVariables` variables, so that
  /// samples of one size stay together.
  void endInside(size_t sizeVariables);

  size_t numVariables;
  size_t numComponents;
  /// Formulas are fitted to the first samples only; the others show where they
  /// are wrong.
  size_t numInside = 0;
  /// The pairs, as atoms.
  std::vector<std::pair<unsigned, unsigned>> divisions;
  /// The texts of the atoms.
  std::vector<std::string> names = {""};
  std::vector<FitSample> samples;
};

/// A condition on variables.
struct Condition {
  /// In the syntax of programs: `m >= 2 * p - 1`, `m % p == 0`.
  std::string text;
  /// The samples that meet it.
  llvm::BitVector samples;
};

/// The formulas of a figure for the samples that meet some conditions.
struct FormulaCase {
  std::vector<Condition> conditions;
  /// One per component of the figure.
  std::vector<Formula> values;
  /// The samples inside that meet the conditions.
  llvm::BitVector samples;
  /// The other samples that meet them, but have other values.
  llvm::BitVector wrong;
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
  using Subset = llvm::BitVector;
  /// The products of a polynomial, the simplest first.
  using Family = std::vector<AtomProduct>;
  struct Piece {
    std::vector<Polynomial> values;
    Subset explains;
  };
  struct Result {
    /// One formula per component; empty if none were found.
    std::vector<Formula> formulas;
    /// The number of samples that the formulas, or the best piece, explain.
    size_t explained = 0;
  };

  void addConditions();
  std::vector<uint64_t> equation(unsigned sample, const Family &family) const;
  bool isSpread(const Subset &subset,
                llvm::ArrayRef<Polynomial> polynomials) const;
  std::optional<Piece> fit(const Subset &subset, const Family &family);
  std::vector<Piece> pool(const Subset &subset, const Family &family);
  std::vector<Formula> compose(llvm::ArrayRef<const Piece *> pieces,
                               const Subset &subset) const;
  std::vector<Formula> several(const Subset &subset, const Subset &rest,
                               std::vector<const Piece *> chosen,
                               llvm::ArrayRef<Piece> pieces,
                               const Family &family);
  Result resultOf(const Subset &subset);
  std::vector<FormulaCase> findCases(const Subset &subset, unsigned divisions);

  const FitSamples &samples;
  /// The samples inside, and of all samples those held out and without values.
  Subset all, heldOut, unknown;
  /// The order in which samples are fitted.
  std::vector<unsigned> order;
  /// The first two have no quotients, and degrees 1 and 2.
  std::vector<Family> families;
  /// The sides of comparisons, for pieces.
  std::vector<Subset> halves;
  /// The ways to divide samples into cases: each sample meets exactly one of
  /// the conditions.
  std::vector<std::vector<Condition>> splits;
  llvm::DenseMap<Subset, Result> known;
  /// The number of equations so far.
  size_t work = 0;
};

} // namespace pipec
