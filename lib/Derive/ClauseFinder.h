//===- ClauseFinder.h - Formulas with conditions on sizes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A formula is a polynomial, or the least or the largest of two. A polynomial
// is linear in atoms: variables, quotients such as `ceil_div(m, p)`, and
// products of two of these. A clause is a formula that is exact at all samples
// that meet a condition: a comparison or a residue, and bounds.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/Rational.h"

#include "llvm/ADT/BitVector.h"

#include <functional>
#include <string>
#include <vector>

namespace pipec {

/// A sum of multiples of atoms, with factors that are not 0; atom 0 is 1.
struct Polynomial {
  std::vector<std::pair<Rational, unsigned>> terms;

  /// The exact value, if it fits.
  std::optional<Rational> value(llvm::ArrayRef<int64_t> atoms) const;
  /// `2 * m * p - p + 1`, in which division is exact.
  std::string text(llvm::ArrayRef<std::string> names) const;
};

/// The value that a polynomial is to have for some atoms.
using Equation = std::pair<std::vector<int64_t>, Rational>;

/// The polynomial in `family` with these values. If there are several, the
/// first atoms have the factor 0.
std::optional<Polynomial> fitPolynomial(llvm::ArrayRef<unsigned> family,
                                        llvm::ArrayRef<Equation> equations);

/// A polynomial, or the least or the largest of two.
struct Formula {
  std::vector<Polynomial> parts;
  bool isMax = false;

  /// `1`, `min(m, p)` or `(m + p)`, as a factor of a product.
  std::string text(llvm::ArrayRef<std::string> names, bool isFactor) const;
};

/// One measurement.
struct FitSample {
  /// The number of its size.
  size_t size;
  /// It is only compared with formulas.
  bool isHeldOut;
  /// 1, then the values of the variables and of all other atoms.
  std::vector<int64_t> atoms;
  /// The values of the components of the figure. If there are none, no clause
  /// may include the sample.
  std::vector<Rational> values;
};

/// The measurements of one figure.
struct FitSamples {
  /// The texts of the atoms.
  std::vector<std::string> names = {""};
  size_t numVariables = 0;
  /// The variables, as atoms, by which the first one is divided.
  std::vector<unsigned> divisors;
  std::vector<FitSample> samples;
  /// The atoms of one polynomial, the simplest last: the variables, their
  /// products, then those with each quotient; a variable that equals a quotient
  /// is simpler.
  std::vector<std::vector<unsigned>> families;

  /// Adds quotients and products to the variables. Leaves no sample if one of
  /// them is not in the range of formulas.
  void addTerms();
};

/// A condition on sizes.
struct SizeCondition {
  /// In the syntax of programs: `m % p == 0 && p >= 2`; empty if all meet it.
  std::string text;
  std::function<bool(llvm::ArrayRef<int64_t>)> holds;
  /// The samples that meet it.
  llvm::BitVector met;
};

/// Formulas that are exact at all samples that meet a condition.
struct FoundClause {
  SizeCondition condition;
  /// One per component of the figure.
  std::vector<Formula> values;

  /// If the formulas have the values of all samples k >= 0 of the sequences
  /// that meet the condition: whether there are any. `rows` are the samples 0
  /// of all sequences, then those 1 and 2; atoms and values are linear in k,
  /// and the condition does not depend on it.
  std::optional<bool> holdsForever(llvm::ArrayRef<FitSample> rows) const;

  /// The only formula, or the sum of the products of the letters and formulas;
  /// letters with the same factor are added first.
  std::string text(llvm::ArrayRef<std::string> letters,
                   llvm::ArrayRef<std::string> names) const;
};

/// Finds clauses, each for at least 0.5 % of the samples that those before it
/// do not include: first those whose conditions the most samples meet.
std::vector<FoundClause> findClauses(const FitSamples &samples);

} // namespace pipec
