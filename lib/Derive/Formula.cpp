//===- Formula.cpp - Formulas of exact values -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/ClauseFinder.h"

#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace pipec {

/// An equation with whole numbers: the value of the polynomial, then the values
/// of its products.
using Row = SmallVector<DynamicAPInt, 16>;

/// Eliminates a product from an equation by means of another one.
static void eliminate(Row &row, size_t pivot, const Row &other) {
  if (row[pivot] == 0)
    return;
  DynamicAPInt factor = other[pivot], multiple = row[pivot], common(0);
  for (auto [each, subtrahend] : zip_equal(row, other)) {
    each = each * factor - subtrahend * multiple;
    common = gcd(common, abs(each));
  }
  for (DynamicAPInt &each : row)
    each /= common > 1 ? common : DynamicAPInt(1);
}

std::optional<Polynomial> fitPolynomial(ArrayRef<AtomProduct> products,
                                        ArrayRef<Equation> equations) {
  // By pivot, an equation without the other pivots.
  std::map<size_t, Row> rows;
  for (const auto &[atoms, value] : equations) {
    Row row = {DynamicAPInt(value.numerator())};
    for (auto [a, b] : products)
      row.push_back(DynamicAPInt(atoms[a] * atoms[b]) * value.denominator());
    for (const auto &[pivot, other] : rows)
      eliminate(row, pivot, other);
    size_t pivot = products.size();
    while (pivot != 0 && row[pivot] == 0)
      --pivot;
    if (pivot == 0 && row[0] != 0)
      return std::nullopt;
    if (pivot == 0)
      continue;
    for (auto &[_, other] : rows)
      eliminate(other, pivot, row);
    rows[pivot] = std::move(row);
  }
  Polynomial result;
  constexpr int64_t most = int64_t(1) << 40;
  for (const auto &[pivot, row] : rows) {
    if (abs(row[0]) > most || abs(row[pivot]) > most)
      return std::nullopt;
    if (row[0] != 0)
      result.terms.push_back(
          {*Rational::make(int64_t(row[0]), int64_t(row[pivot])),
           products[pivot - 1]});
  }
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
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    std::vector<std::string> product;
    if (std::abs(factor.numerator()) != 1 || !atoms.second)
      product.push_back(itostr(std::abs(factor.numerator())));
    for (unsigned atom : {atoms.first, atoms.second})
      if (atom)
        product.push_back(names[atom]);
    text += join(product, " * ");
    if (!factor.isInteger())
      text += " / " + itostr(factor.denominator());
  }
  return text.empty() ? "0" : text;
}

std::optional<Rational> Formula::value(ArrayRef<int64_t> atoms) const {
  auto a = parts.front().value(atoms), b = parts.back().value(atoms);
  if (!a || !b)
    return std::nullopt;
  return isMax ? std::max(*a, *b) : std::min(*a, *b);
}

/// The signs of a quadratic at all k >= 0 from its values at 0, 1 and 2: 1 or
/// -1 if it is nowhere below or above 0, 0 if it is 0; else empty.
static std::optional<int> signOf(std::array<std::optional<Rational>, 3> at) {
  auto step = [](std::optional<Rational> a, std::optional<Rational> b) {
    return a && b ? Rational::sub(*b, *a) : std::nullopt;
  };
  std::optional<Rational> first = step(at[0], at[1]),
                          second = step(first, step(at[1], at[2]));
  if (!second)
    return std::nullopt;
  std::array<int, 3> signs = {Rational::compare(*at[0], 0),
                              Rational::compare(*first, 0),
                              Rational::compare(*second, 0)};
  auto [least, most] = std::ranges::minmax(signs);
  return least < 0 && most > 0 ? std::nullopt
                               : std::optional(least < 0 ? least : most);
}

std::optional<bool> FoundClause::holdsForever(ArrayRef<FitSample> rows) const {
  size_t count = rows.size() / 3;
  bool isMet = false;
  for (size_t i = 0; i != count; ++i) {
    if (rows[i].atoms.empty() || !holds(rows[i].atoms))
      continue;
    for (auto [component, formula] : enumerate(values)) {
      // One part is always the value, and none is beyond it.
      bool isValue = false;
      for (const Polynomial &part : formula.parts) {
        std::array<std::optional<Rational>, 3> gaps;
        for (size_t k = 0; k != 3; ++k) {
          const FitSample &row = rows[i + k * count];
          std::optional<Rational> value = part.value(row.atoms);
          if (value && !row.values.empty())
            gaps[k] = Rational::sub(*value, row.values[component]);
        }
        std::optional<int> sign = signOf(gaps);
        if (!sign || *sign == (formula.isMax ? 1 : -1))
          return std::nullopt;
        isValue |= *sign == 0;
      }
      if (!isValue)
        return std::nullopt;
    }
    isMet = true;
  }
  return isMet;
}

std::string Formula::text(ArrayRef<std::string> names, bool isFactor) const {
  std::string first = parts[0].text(names);
  if (parts.size() > 1)
    return (isMax ? "max(" : "min(") + first + ", " + parts[1].text(names) +
           ")";
  bool isSum = parts[0].terms.size() > 1 || first[0] == '-';
  return isFactor && isSum ? "(" + first + ")" : first;
}

std::string FoundClause::text(ArrayRef<std::string> letters,
                              ArrayRef<std::string> names) const {
  if (values.size() == 1)
    return values[0].text(names, /*isFactor=*/false);
  std::vector<std::pair<std::string, std::vector<std::string>>> sums;
  for (const auto &[letter, value] : zip_equal(letters, values)) {
    std::string factor = value.text(names, /*isFactor=*/true);
    auto sum = std::ranges::find(sums, factor, [](auto &s) { return s.first; });
    if (sum == sums.end())
      sum = sums.insert(sum, {factor, {}});
    sum->second.push_back(letter);
  }
  std::vector<std::string> terms;
  for (const auto &[factor, equal] : sums) {
    if (factor == "0")
      continue;
    std::string sum = join(equal, " + ");
    if (factor != "1")
      sum = factor + " * " + (equal.size() > 1 ? "(" + sum + ")" : sum);
    terms.push_back(std::move(sum));
  }
  return terms.empty() ? "0" : join(terms, " + ");
}

} // namespace pipec
