//===- ModularSystem.h - Exact linear systems -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Systems of linear equations over the rationals, solved modulo the prime
// 2^61 - 1 and converted back to fractions. A contradiction modulo the prime is
// one over the rationals, unless the prime divides a determinant. A solution is
// a candidate: users check it exactly.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_MODULARSYSTEM_H
#define PIPEC_DERIVE_MODULARSYSTEM_H

#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace pipec {

/// An integer modulo 2^61 - 1.
class Residue {
public:
  static constexpr uint64_t prime = (uint64_t(1) << 61) - 1;

  constexpr Residue() = default;
  Residue(int64_t number)
      : value(number < 0 ? prime - uint64_t(-(number + 1)) % prime - 1
                         : uint64_t(number) % prime) {}
  /// The quotient of numerator and denominator; nothing if the prime divides
  /// the denominator.
  static std::optional<Residue> of(Rational number);

  bool isZero() const { return value == 0; }
  Residue inverse() const;
  /// The fraction with a numerator below 2^39 and a denominator below 2^20 that
  /// has this residue; nothing if there is none.
  std::optional<Rational> fraction() const;

  friend Residue operator+(Residue a, Residue b) {
    return raw(fold(a.value + b.value));
  }
  friend Residue operator-(Residue a, Residue b) {
    return raw(fold(a.value + (prime - b.value)));
  }
  friend Residue operator*(Residue a, Residue b) {
    unsigned __int128 product = (unsigned __int128)a.value * b.value;
    return raw(fold((uint64_t(product) & prime) + uint64_t(product >> 61)));
  }
  friend bool operator==(Residue a, Residue b) = default;

private:
  static Residue raw(uint64_t value) {
    Residue residue;
    residue.value = value;
    return residue;
  }
  static uint64_t fold(uint64_t sum) {
    return sum >= prime ? sum - prime : sum;
  }

  uint64_t value = 0;
};

/// A system of equations that is solved while it grows. Unknowns that the
/// equations do not determine are 0; of several unknowns that are equivalent,
/// the first is used.
class ModularSystem {
public:
  explicit ModularSystem(unsigned unknowns)
      : numUnknowns(unknowns), rows(unknowns) {}

  /// Adds an equation, unless it contradicts the others; then returns false.
  bool add(llvm::ArrayRef<Residue> coefficients, Residue value);
  /// The number of independent equations.
  unsigned rank() const { return numRows; }
  std::vector<Residue> solution() const;

private:
  unsigned numUnknowns;
  unsigned numRows = 0;
  /// By unknown, the equation that begins with it, which has the factor 1;
  /// empty if there is none. The last element is the value.
  std::vector<std::vector<Residue>> rows;
  std::vector<Residue> scratch;
};

} // namespace pipec

#endif // PIPEC_DERIVE_MODULARSYSTEM_H
