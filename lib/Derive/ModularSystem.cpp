//===- ModularSystem.cpp - Exact linear systems ---------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/ModularSystem.h"

#include <cassert>

namespace pipec {

std::optional<Residue> Residue::of(Rational number) {
  Residue denominator(number.denominator());
  if (denominator.isZero())
    return std::nullopt;
  Residue numerator(number.numerator());
  return number.isInteger() ? numerator : numerator * denominator.inverse();
}

/// By Fermat's little theorem.
Residue Residue::inverse() const {
  assert(!isZero() && "0 has no inverse");
  Residue power = *this, result(1);
  for (uint64_t exponent = prime - 2; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = result * power;
    power = power * power;
  }
  return result;
}

/// Rational reconstruction: the remainders of Euclid's algorithm for the prime
/// and the residue are multiples of the residue by known factors (Wang, "A
/// p-adic algorithm for univariate partial fractions", 1981).
std::optional<Rational> Residue::fraction() const {
  constexpr int64_t maxNumerator = int64_t(1) << 39;
  constexpr int64_t maxDenominator = int64_t(1) << 20;
  int64_t last = prime, rest = int64_t(value);
  int64_t lastFactor = 0, factor = 1;
  while (rest >= maxNumerator) {
    int64_t quotient = last / rest;
    int64_t nextRest = last - quotient * rest;
    int64_t nextFactor = lastFactor - quotient * factor;
    last = rest, rest = nextRest;
    lastFactor = factor, factor = nextFactor;
    if (factor <= -maxDenominator || factor >= maxDenominator)
      return std::nullopt;
  }
  return Rational::make(factor < 0 ? -rest : rest,
                        factor < 0 ? -factor : factor);
}

bool ModularSystem::add(llvm::ArrayRef<Residue> coefficients, Residue value) {
  assert(coefficients.size() == numUnknowns && "one coefficient per unknown");
  scratch.assign(coefficients.begin(), coefficients.end());
  scratch.push_back(value);
  for (unsigned i = 0; i != numUnknowns; ++i) {
    Residue factor = scratch[i];
    if (factor.isZero())
      continue;
    if (rows[i].empty()) {
      Residue scale = factor.inverse();
      for (unsigned j = i; j <= numUnknowns; ++j)
        scratch[j] = scratch[j] * scale;
      rows[i] = scratch;
      ++numRows;
      return true;
    }
    for (unsigned j = i; j <= numUnknowns; ++j)
      scratch[j] = scratch[j] - factor * rows[i][j];
  }
  return scratch[numUnknowns].isZero();
}

std::vector<Residue> ModularSystem::solution() const {
  std::vector<Residue> result(numUnknowns);
  for (unsigned i = numUnknowns; i-- != 0;) {
    if (rows[i].empty())
      continue;
    Residue value = rows[i][numUnknowns];
    for (unsigned j = i + 1; j != numUnknowns; ++j)
      value = value - rows[i][j] * result[j];
    result[i] = value;
  }
  return result;
}

} // namespace pipec
