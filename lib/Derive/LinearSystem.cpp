//===- LinearSystem.cpp - Exact linear systems ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/LinearSystem.h"

namespace pipec {

Residue::Residue(Rational number)
    : Residue(Residue(number.numerator()) *
              (number.isInteger() ? Residue(1)
                                  : Residue(number.denominator()).inverse())) {}

Residue Residue::inverse() const {
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
    last = std::exchange(rest, last - quotient * rest);
    lastFactor = std::exchange(factor, lastFactor - quotient * factor);
    if (factor <= -maxDenominator || factor >= maxDenominator)
      return std::nullopt;
  }
  return Rational::make(factor < 0 ? -rest : rest,
                        factor < 0 ? -factor : factor);
}

bool LinearSystem::add(llvm::ArrayRef<Residue> row) {
  rest.assign(row.begin(), row.end());
  for (size_t i = 0; i != rows.size(); ++i) {
    if (rest[i].isZero())
      continue;
    if (rows[i].empty()) {
      Residue scale = rest[i].inverse();
      for (Residue &factor : rest)
        factor = factor * scale;
      rows[i] = rest;
      return true;
    }
    Residue multiple = rest[i];
    for (size_t j = i; j != rest.size(); ++j)
      rest[j] = rest[j] - multiple * rows[i][j];
  }
  for (size_t j = rows.size(); j != rest.size(); ++j)
    if (!rest[j].isZero())
      return false;
  return true;
}

std::optional<std::vector<std::vector<Rational>>>
LinearSystem::solution() const {
  std::vector<std::vector<Rational>> result;
  for (unsigned side = 0; side != sides; ++side) {
    std::vector<Residue> residues(rows.size());
    std::vector<Rational> &fractions = result.emplace_back(rows.size());
    for (size_t i = rows.size(); i-- != 0;) {
      if (rows[i].empty())
        continue;
      residues[i] = rows[i][rows.size() + side];
      for (size_t j = i + 1; j != rows.size(); ++j)
        residues[i] = residues[i] - rows[i][j] * residues[j];
      std::optional<Rational> fraction = residues[i].fraction();
      if (!fraction)
        return std::nullopt;
      fractions[i] = *fraction;
    }
  }
  return result;
}

} // namespace pipec
