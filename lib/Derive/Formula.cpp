//===- Formula.cpp - Formulas of exact values -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/ClauseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <utility>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Exact linear systems
// Equations are solved modulo a prime, because elimination in rational numbers
// would overflow.
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

static uint64_t residue(Rational number) {
  int64_t rest = number.numerator() % int64_t(prime);
  uint64_t numerator = rest < 0 ? rest + prime : rest;
  return number.isInteger()
             ? numerator
             : product(numerator, inverse(number.denominator() % prime));
}

/// The fraction with the least denominator, and a numerator below 2^40, that
/// has a residue; 0 if there is none with a small denominator.
static Rational fraction(uint64_t residue) {
  for (int64_t denominator = 1; denominator <= 10000; ++denominator) {
    int64_t numerator = product(residue, denominator);
    if (numerator > int64_t(prime / 2))
      numerator -= prime;
    if (std::abs(numerator) < int64_t(1) << 40)
      return *Rational::make(numerator, denominator);
  }
  return 0;
}

std::optional<Polynomial> fitPolynomial(ArrayRef<AtomProduct> products,
                                        ArrayRef<Equation> equations) {
  using Row = std::vector<uint64_t>;
  auto subtract = [](Row &row, uint64_t multiple, const Row &other) {
    if (multiple)
      for (auto [value, subtrahend] : zip_equal(row, other)) {
        value += prime - product(multiple, subtrahend);
        value -= value >= prime ? prime : 0;
      }
  };
  // By pivot, the equation with the factor 1 there, and 0 at other pivots. The
  // value of the polynomial comes first.
  std::vector<std::pair<size_t, Row>> rows;
  for (const auto &[atoms, value] : equations) {
    Row row = {residue(value)};
    for (auto [a, b] : products)
      row.push_back(residue(atoms[a] * atoms[b]));
    for (const auto &[pivot, other] : rows)
      subtract(row, row[pivot], other);
    size_t pivot = products.size();
    while (pivot != 0 && row[pivot] == 0)
      --pivot;
    if (pivot == 0 && row[0] != 0)
      return std::nullopt;
    if (pivot == 0)
      continue;
    for (uint64_t scale = inverse(row[pivot]); uint64_t &each : row)
      each = product(each, scale);
    for (auto &[_, other] : rows)
      subtract(other, other[pivot], row);
    rows.push_back({pivot, std::move(row)});
  }
  llvm::sort(rows);
  Polynomial result;
  for (const auto &[pivot, row] : rows)
    if (Rational factor = fraction(row[0]); !factor.isZero())
      result.terms.push_back({factor, products[pivot - 1]});
  for (const auto &[atoms, value] : equations)
    if (result.value(atoms) != value)
      return std::nullopt;
  return result;
}

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
  // A positive term leads.
  auto order = terms;
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
