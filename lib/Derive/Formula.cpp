//===- Formula.cpp - Formulas of exact values -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/ClauseFinder.h"

#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>
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

std::optional<Polynomial> fitPolynomial(ArrayRef<unsigned> family,
                                        ArrayRef<Equation> equations) {
  // By pivot, an equation without the other pivots.
  std::map<size_t, Row> rows;
  for (const auto &[atoms, value] : equations) {
    Row row = {DynamicAPInt(value.numerator())};
    for (unsigned atom : family)
      row.push_back(DynamicAPInt(atoms[atom]) * value.denominator());
    for (const auto &[pivot, other] : rows)
      eliminate(row, pivot, other);
    size_t pivot = family.size();
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
           family[pivot - 1]});
  }
  return result;
}

std::optional<Rational> Polynomial::value(ArrayRef<int64_t> atoms) const {
  std::optional<Rational> sum = Rational(0);
  for (const auto &[factor, atom] : terms) {
    std::optional<Rational> value = Rational::mul(factor, atoms[atom]);
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
  for (const auto &[factor, atom] : order) {
    bool negative = factor.isNegative();
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    std::string number = itostr(std::abs(factor.numerator()));
    text += atom == 0 ? number
                      : (number == "1" ? "" : number + " * ") + names[atom];
    if (!factor.isInteger())
      text += " / " + itostr(factor.denominator());
  }
  return text.empty() ? "0" : text;
}

std::optional<bool> FoundClause::holdsForever(ArrayRef<FitSample> rows) const {
  auto minus = [](std::optional<Rational> a, std::optional<Rational> b) {
    return a && b ? Rational::sub(*a, *b) : std::nullopt;
  };
  bool isMet = false;
  for (size_t i = 0, count = rows.size() / 3; i != count; ++i) {
    if (!condition.holds(rows[i].atoms))
      continue;
    isMet = true;
    for (auto [component, formula] : enumerate(values)) {
      // One part is always the value, and none is beyond it.
      bool isValue = false;
      for (const Polynomial &part : formula.parts) {
        std::array<std::optional<Rational>, 3> gaps;
        for (size_t k = 0; k != 3; ++k) {
          const FitSample &row = rows[i + k * count];
          if (row.values.empty())
            return std::nullopt;
          gaps[k] = part.value(row.atoms);
          gaps[k] = formula.isMax ? minus(row.values[component], gaps[k])
                                  : minus(gaps[k], row.values[component]);
        }
        // A quadratic is nowhere negative if it begins and grows so.
        auto first = minus(gaps[1], gaps[0]),
             second = minus(minus(gaps[2], gaps[1]), first);
        auto [least, most] = std::minmax({gaps[0], first, second});
        if (least < Rational(0))
          return std::nullopt;
        isValue |= most == Rational(0);
      }
      if (!isValue)
        return std::nullopt;
    }
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
  std::vector<std::string> factors, terms;
  for (const Formula &value : values)
    factors.push_back(value.text(names, /*isFactor=*/true));
  for (auto [i, factor] : enumerate(factors)) {
    if (factor == "0" || is_contained(ArrayRef(factors).take_front(i), factor))
      continue;
    std::vector<std::string> equal;
    for (const auto &[letter, other] : zip_equal(letters, factors))
      if (other == factor)
        equal.push_back(letter);
    std::string sum = join(equal, " + ");
    if (equal.size() > 1 && factor != "1")
      sum = "(" + sum + ")";
    terms.push_back(factor == "1" ? sum : factor + " * " + sum);
  }
  return terms.empty() ? "0" : join(terms, " + ");
}

} // namespace pipec
