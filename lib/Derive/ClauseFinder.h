//===- ClauseFinder.h - Formulas with conditions on sizes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A formula is a polynomial, or the least or the largest of two. Its terms are
// rational multiples of products of at most two atoms; an atom is a variable or
// a quotient, such as `ceil_div(m, p)`. A clause is a formula that is exact at
// all samples that meet up to two conditions, comparisons and residues.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/Rational.h"

#include "llvm/ADT/BitVector.h"

#include <functional>
#include <string>
#include <vector>

namespace pipec {

/// Two atoms in ascending order; atom 0 is 1.
using AtomProduct = std::pair<unsigned, unsigned>;

/// A sum of products with factors that are not 0.
struct Polynomial {
  std::vector<std::pair<Rational, AtomProduct>> terms;

  /// The exact value, if it fits.
  std::optional<Rational> value(llvm::ArrayRef<int64_t> atoms) const;
  /// `2 * m * p - p + 1`, in which division is exact.
  std::string text(llvm::ArrayRef<std::string> names) const;
};

/// The value that a polynomial is to have for some atoms.
using Equation = std::pair<llvm::ArrayRef<int64_t>, Rational>;

/// The polynomial of `products` with these values. If there are several, first
/// products have the factor 0.
std::optional<Polynomial> fitPolynomial(llvm::ArrayRef<AtomProduct> products,
                                        llvm::ArrayRef<Equation> equations);

/// A polynomial, or the least or the largest of two.
struct Formula {
  std::vector<Polynomial> parts;
  bool isMax = false;

  std::optional<Rational> value(llvm::ArrayRef<int64_t> atoms) const;
  /// `1`, `min(m, p)` or `(m + p)`, as a factor of a product.
  std::string text(llvm::ArrayRef<std::string> names, bool isFactor) const;
};

/// The syntax of a condition on sizes, and whether it holds for some atoms.
struct SizeCondition {
  std::string text;
  std::function<bool(llvm::ArrayRef<int64_t>)> holds;
  /// The samples that meet it.
  llvm::BitVector met;
};

/// The part of a sample in finding formulas: it determines them, or it is only
/// compared with them, and then it is outside the grid or not.
enum class SampleUse : uint8_t { Fitted, HeldOut, Outside };

/// One measurement.
struct FitSample {
  SampleUse use;
  /// The number of its size.
  size_t size;
  /// 1, then the values of the variables and of the quotients; empty if they
  /// are not in the range of formulas.
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
  /// The samples of the grid come first.
  size_t numInside = 0;
  /// The variables, as atoms, by which the first one is divided.
  std::vector<unsigned> divisors;
  std::vector<FitSample> samples;

  /// Adds the quotients to the names and to all samples.
  void addQuotients();
};

/// Formulas for the samples that meet some conditions.
struct FoundClause {
  /// In the syntax of programs: `m >= 2 * p - 1`, `m % p == 0`.
  std::vector<std::string> conditions;
  /// One per component of the figure.
  std::vector<Formula> values;
  /// The samples inside the grid that meet the conditions.
  llvm::BitVector samples;
  /// The first condition.
  std::function<bool(llvm::ArrayRef<int64_t>)> holds;

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

/// Finds clauses, each for at least 1 % of the samples inside the grid that
/// those before it do not include: first those with the fewest conditions, and
/// of these, those that the most samples meet.
std::vector<FoundClause> findClauses(const FitSamples &samples);

} // namespace pipec
