//===- Formula.cpp - Formulas of exact values -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Formula.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <utility>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Exact linear systems
//===----------------------------------------------------------------------===//

static constexpr uint64_t prime = (uint64_t(1) << 61) - 1;

static uint64_t product(uint64_t a, uint64_t b) {
  unsigned __int128 wide = (unsigned __int128)a * b;
  uint64_t sum = (uint64_t(wide) & prime) + uint64_t(wide >> 61);
  return sum >= prime ? sum - prime : sum;
}

/// The inverse by Fermat's little theorem.
static uint64_t inverse(uint64_t number) {
  uint64_t result = 1;
  for (uint64_t exponent = prime - 2; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = product(result, number);
    number = product(number, number);
  }
  return result;
}

uint64_t LinearSystem::residue(Rational number) {
  int64_t rest = number.numerator() % int64_t(prime);
  uint64_t numerator = rest < 0 ? rest + prime : rest;
  return number.isInteger()
             ? numerator
             : product(numerator, inverse(number.denominator() % prime));
}

/// Subtracts a multiple of an equation.
static void subtract(std::vector<uint64_t> &row, uint64_t multiple,
                     ArrayRef<uint64_t> other) {
  if (multiple)
    for (auto [value, subtrahend] : zip_equal(row, other)) {
      value += prime - product(multiple, subtrahend);
      value -= value >= prime ? prime : 0;
    }
}

bool LinearSystem::add(std::vector<uint64_t> row) {
  for (const auto &[pivot, other] : rows)
    subtract(row, row[pivot], other);
  size_t pivot =
      find_if(row, [](uint64_t value) { return value != 0; }) - row.begin();
  if (pivot >= unknowns)
    return pivot == row.size();
  for (uint64_t scale = inverse(row[pivot]); uint64_t &value : row)
    value = product(value, scale);
  for (auto &[_, other] : rows)
    subtract(other, other[pivot], row);
  rows.push_back({pivot, std::move(row)});
  return true;
}

/// The fraction with a numerator below 2^39 and a denominator below 2^20 that
/// has a residue; 0 if there is none. The remainders of Euclid's algorithm for
/// the prime and the residue are multiples of the residue by known factors
/// (Wang, "A p-adic algorithm for univariate partial fractions", 1981).
static Rational fraction(uint64_t residue) {
  constexpr int64_t maxNumerator = int64_t(1) << 39;
  constexpr int64_t maxDenominator = int64_t(1) << 20;
  int64_t last = prime, rest = residue, lastFactor = 0, factor = 1;
  while (rest >= maxNumerator && std::abs(factor) < maxDenominator) {
    int64_t quotient = last / rest;
    last = std::exchange(rest, last - quotient * rest);
    lastFactor = std::exchange(factor, lastFactor - quotient * factor);
  }
  if (std::abs(factor) >= maxDenominator)
    return 0;
  return *Rational::make(factor < 0 ? -rest : rest, std::abs(factor));
}

std::vector<std::vector<Rational>> LinearSystem::solution(size_t sides) const {
  std::vector<std::vector<Rational>> result(sides);
  for (size_t side = 0; side != sides; ++side) {
    result[side].resize(unknowns);
    for (const auto &[pivot, row] : rows)
      result[side][pivot] = fraction(row[unknowns + side]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

std::optional<Rational> Polynomial::value(ArrayRef<int64_t> atoms) const {
  std::optional<Rational> sum = Rational(0);
  for (const auto &[factor, product] : terms) {
    std::optional<Rational> value =
        Rational::mul(factor, atoms[product.first] * atoms[product.second]);
    sum = sum && value ? Rational::add(*sum, *value) : std::nullopt;
  }
  return sum;
}

std::string Polynomial::text(ArrayRef<std::string> names) const {
  // Products first, then atoms, then the constant; a positive term leads.
  auto order = terms;
  llvm::stable_sort(order, [&](const auto &a, const auto &b) {
    auto degree = [](AtomProduct product) {
      return (product.first != 0) + (product.second != 0);
    };
    return degree(a.second) > degree(b.second);
  });
  auto lead =
      find_if(order, [](const auto &term) { return !term.first.isNegative(); });
  if (lead != order.end())
    std::rotate(order.begin(), lead, lead + 1);

  std::string text;
  for (const auto &[factor, atoms] : order) {
    bool negative = factor.isNegative();
    if (text.empty())
      text = negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    std::vector<std::string> product;
    if (std::abs(factor.numerator()) != 1 || !atoms.second)
      product.push_back(std::to_string(std::abs(factor.numerator())));
    for (unsigned atom : {atoms.first, atoms.second})
      if (atom)
        product.push_back(names[atom]);
    text += join(product, " * ");
    if (!factor.isInteger())
      text += " / " + std::to_string(factor.denominator());
  }
  return text.empty() ? "0" : text;
}

std::optional<Rational> Formula::value(ArrayRef<int64_t> atoms) const {
  std::optional<Rational> best = parts.front().value(atoms);
  for (const Polynomial &part : ArrayRef(parts).drop_front()) {
    std::optional<Rational> value = part.value(atoms);
    if (!value || !best)
      return std::nullopt;
    best = isMax ? std::max(*best, *value) : std::min(*best, *value);
  }
  return best;
}

std::string Formula::text(ArrayRef<std::string> names, bool isFactor) const {
  std::string list =
      join(map_range(parts,
                     [&](const Polynomial &part) { return part.text(names); }),
           ", ");
  if (parts.size() > 1)
    return (isMax ? "max(" : "min(") + list + ")";
  bool isSum = parts[0].terms.size() > 1 || list[0] == '-';
  return isFactor && isSum ? "(" + list + ")" : list;
}

} // namespace pipec
