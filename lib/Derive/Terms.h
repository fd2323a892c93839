//===- Terms.h - The terms of formulas --------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A formula is a sum of terms with rational coefficients. A term is a product
// of at most two atoms: variables, and what division of one variable by another
// gives.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_TERMS_H
#define PIPEC_DERIVE_TERMS_H

#include "Derive/ModularSystem.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec {

/// A quantity that a sample determines.
struct Atom {
  enum class Kind : uint8_t {
    /// `a`
    Variable,
    /// `a % b`
    Remainder,
    /// a / b rounded down
    Floor,
    /// a / b, (a - 1) / b and (a + 1) / b rounded up
    Ceil,
    CeilOfLess,
    CeilOfMore,
    /// The largest part of a if it is divided evenly into floor(a / b) parts,
    /// at least one.
    LargestPart
  };
  Kind kind = Kind::Variable;
  unsigned a = 0;
  unsigned b = 0;

  /// Nothing if the divisor is not positive or the value does not fit.
  std::optional<int64_t> value(llvm::ArrayRef<int64_t> variables) const;
  /// In the syntax of programs; an operand of a product.
  std::string text(llvm::ArrayRef<std::string> names) const;
};

/// The kinds of atoms that divide, in the order in which they are tried.
llvm::ArrayRef<Atom::Kind> divisionAtoms();

/// The terms of a family of formulas, the simplest first: 1, the atoms, and for
/// degree 2 their products.
class Terms {
public:
  Terms(std::vector<Atom> atoms, unsigned degree);

  size_t size() const { return products.size(); }
  llvm::ArrayRef<Atom> allAtoms() const { return atoms; }
  /// The atoms of a term, a bit for each.
  uint32_t atomsOf(size_t term) const;
  /// The value of each term; false if an atom has none.
  bool values(llvm::ArrayRef<int64_t> variables,
              std::vector<Residue> &values) const;
  /// The exact value of one term; nothing if it does not fit.
  std::optional<Rational> value(size_t term,
                                llvm::ArrayRef<int64_t> variables) const;
  /// The number of atoms in a term.
  unsigned degree(size_t term) const;
  /// How often a variable itself, not divided, is an atom of a term.
  unsigned degreeIn(unsigned variable, size_t term) const;
  /// `m * p`; empty for the term 1.
  std::string text(size_t term, llvm::ArrayRef<std::string> names) const;

private:
  static constexpr int none = -1;

  std::vector<Atom> atoms;
  /// The atoms of each term.
  std::vector<std::pair<int, int>> products;
};

/// A sum of terms. The terms must outlive it.
struct Polynomial {
  const Terms *terms = nullptr;
  std::vector<Rational> coefficients;

  /// The number of coefficients that are not 0.
  unsigned size() const;
  unsigned degree() const;
  unsigned degreeIn(unsigned variable) const;
  /// The exact value; nothing if it does not fit.
  std::optional<Rational> value(llvm::ArrayRef<int64_t> variables) const;
  /// `2 * m * p - p + 1`: a sum in the syntax of `expect` clauses, in which
  /// division is exact.
  std::string text(llvm::ArrayRef<std::string> names) const;
};

} // namespace pipec

#endif // PIPEC_DERIVE_TERMS_H
