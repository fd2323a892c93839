//===- Formula.h - Formulas of exact values ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A formula is the least or the largest of some polynomials, whose terms are
// rational multiples of products of at most two atoms. An atom is 1, a variable
// or a quotient, such as `m % p` or `ceil_div(m, p)`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace pipec {

/// Linear equations with several right sides, solved modulo the prime 2^61 - 1
/// while they are added; elimination in rational numbers would overflow.
/// Unknowns that the equations do not determine are 0.
class LinearSystem {
public:
  explicit LinearSystem(size_t unknowns) : unknowns(unknowns) {}

  /// The number modulo the prime.
  static uint64_t residue(Rational number);
  /// Adds an equation, the factors of the unknowns followed by the right sides.
  /// Returns false if it contradicts the others.
  bool add(std::vector<uint64_t> row);
  /// The unknowns for each right side. The caller verifies them: they are right
  /// if their numerators are below 2^39 and their denominators below 2^20.
  std::vector<std::vector<Rational>> solution(size_t sides) const;

private:
  size_t unknowns;
  /// By pivot, the equation with the factor 1 there, and 0 at other pivots.
  std::vector<std::pair<size_t, std::vector<uint64_t>>> rows;
};

/// The atoms of a product in ascending order; atom 0 is 1.
using AtomProduct = std::pair<unsigned, unsigned>;

/// A sum of products with factors that are not 0.
struct Polynomial {
  std::vector<std::pair<Rational, AtomProduct>> terms;

  /// The exact value, if it fits.
  std::optional<Rational> value(llvm::ArrayRef<int64_t> atoms) const;
  /// `2 * m * p - p + 1`, in which division is exact.
  std::string text(llvm::ArrayRef<std::string> names) const;
  bool operator==(const Polynomial &) const = default;
};

/// The least or the largest of some polynomials.
struct Formula {
  std::vector<Polynomial> parts;
  bool isMax = false;

  bool isZero() const { return parts.size() == 1 && parts[0].terms.empty(); }
  std::optional<Rational> value(llvm::ArrayRef<int64_t> atoms) const;
  /// With `isFactor`, a sum is in parentheses.
  std::string text(llvm::ArrayRef<std::string> names, bool isFactor) const;
};

} // namespace pipec
