//===- CaseFinder.h - Finding the cases of a figure -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds formulas for samples in three steps, each built on the previous one:
//
//   a piece    polynomials, one per component, fitted to the samples of a
//              half-space; the simplest family of terms that fits is used
//   a formula  one piece that explains all samples, or the least or the largest
//              of two or three pieces that explain all of them together
//   the cases  a tree of conditions, with a formula at each leaf
//
// A formula must explain many more samples than could determine it, and some
// that it was not fitted to. It is the least or the largest of some
// polynomials, whose terms are rational multiples of products of at most two
// atoms. An atom is 1, a variable or a quotient, such as `m % p` or
// `ceil_div(m, p)`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// An integer modulo the prime 2^61 - 1. Elimination in rational numbers would
/// overflow.
class Residue {
public:
  static constexpr uint64_t prime = (uint64_t(1) << 61) - 1;
  constexpr Residue() = default;
  Residue(int64_t number)
      : value(number < 0 ? prime - uint64_t(-(number + 1)) % prime - 1
                         : uint64_t(number) % prime) {}
  /// The quotient of numerator and denominator.
  explicit Residue(Rational number);

  bool isZero() const { return value == 0; }
  /// The inverse by Fermat's little theorem; 0 for 0.
  Residue inverse() const;
  /// The fraction with a numerator below 2^39 and a denominator below 2^20 that
  /// has this residue, if there is one.
  std::optional<Rational> fraction() const;

  friend Residue operator-(Residue a, Residue b) {
    return folded(a.value + (prime - b.value));
  }
  friend Residue operator*(Residue a, Residue b) {
    unsigned __int128 product = (unsigned __int128)a.value * b.value;
    return folded((uint64_t(product) & prime) + uint64_t(product >> 61));
  }

private:
  static Residue folded(uint64_t sum) {
    Residue residue;
    residue.value = sum >= prime ? sum - prime : sum;
    return residue;
  }

  uint64_t value = 0;
};

/// Linear equations with several right sides, solved while they are added.
/// Unknowns that they do not determine are 0.
class LinearSystem {
public:
  LinearSystem(unsigned unknowns, unsigned sides)
      : sides(sides), rows(unknowns) {}

  /// Adds an equation, the factors of the unknowns followed by the right sides.
  /// Returns false if it contradicts the others.
  bool add(llvm::ArrayRef<Residue> row);
  /// The unknowns for each right side, unless one is not a short fraction. The
  /// caller verifies the result.
  std::optional<std::vector<std::vector<Rational>>> solution() const;

private:
  unsigned sides;
  /// By unknown, the equation that begins with it, with the factor 1.
  std::vector<std::vector<Residue>> rows;
  std::vector<Residue> rest;
};

/// One measurement.
struct FitSample {
  /// The values of the atoms: 1, the variables, the quotients.
  std::vector<int64_t> atoms;
  /// The values of the components of the figure. If there are none, no formula
  /// may include the sample.
  std::vector<Rational> values;
  /// The figures that it stands for, a range.
  unsigned begin = 0;
  unsigned end = 0;
  /// Formulas are not fitted to this sample, only compared with it.
  bool heldOut = false;

  int64_t variable(unsigned i) const { return atoms[i + 1]; }
};

/// The samples that formulas are fitted to.
class FitSamples {
public:
  /// `divisions` are the pairs of variables whose quotients are atoms.
  FitSamples(std::vector<std::string> variables,
             llvm::ArrayRef<std::pair<unsigned, unsigned>> divisions,
             unsigned components);

  /// Adds a sample that stands for `count` figures.
  void add(llvm::ArrayRef<int64_t> variables, std::vector<Rational> values,
           unsigned count = 1);
  /// Holds out the samples with the largest value of a variable that has at
  /// least four values, and about a third of the others. The choice depends
  /// only on the first `sizeVariables` variables, so that samples of one size
  /// stay together.
  void holdOut(size_t sizeVariables);
  /// The variables with several values, as atoms.
  std::vector<unsigned> varied() const;

  const unsigned numVariables;
  const unsigned numComponents;
  /// The pairs, as atoms.
  std::vector<std::pair<unsigned, unsigned>> divisions;
  /// The texts of the atoms.
  std::vector<std::string> names;
  std::vector<FitSample> samples;
};

/// A sum of multiples of variables, or its remainder, compared with a number.
struct Condition {
  enum class Relation : uint8_t { AtLeast, Equal, NotEqual };

  /// By atom; of variables only.
  std::vector<int64_t> factors;
  Relation relation = Relation::AtLeast;
  int64_t bound = 0;
  /// The remainder of the division by an atom times a number, if any.
  int64_t modulus = 0;
  unsigned divisor = 0;

  int64_t value(llvm::ArrayRef<int64_t> atoms) const;
  bool holds(llvm::ArrayRef<int64_t> atoms) const;
  Condition negated() const;
  /// In the syntax of programs: `m >= 2 * p - 1`, `m % p == 0`.
  std::string text(llvm::ArrayRef<std::string> names) const;
};

/// A sum of terms.
struct Polynomial {
  /// A factor that is not 0, and the atoms of the product in ascending order.
  struct Term {
    Rational factor;
    std::pair<unsigned, unsigned> atoms;
    bool operator==(const Term &) const = default;
  };
  std::vector<Term> terms;

  /// The exact value, if it fits.
  std::optional<Rational> value(llvm::ArrayRef<int64_t> atoms) const;
  /// `2 * m * p - p + 1`, in which division is exact.
  std::string text(llvm::ArrayRef<std::string> names) const;
  bool operator==(const Polynomial &) const = default;
};

/// The least or the largest of some polynomials.
struct Formula {
  bool isMax = false;
  std::vector<Polynomial> parts;

  bool isZero() const { return parts.size() == 1 && parts[0].terms.empty(); }
  /// The number of terms.
  size_t size() const;
  std::optional<Rational> value(llvm::ArrayRef<int64_t> atoms) const;
  std::string text(llvm::ArrayRef<std::string> names) const;
  /// The same as the operand of a product: a sum is in parentheses.
  std::string factorText(llvm::ArrayRef<std::string> names) const;
};

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
