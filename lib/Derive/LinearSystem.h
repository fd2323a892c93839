//===- LinearSystem.h - Exact linear systems --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
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

} // namespace pipec
