//===- Terms.cpp - The terms of formulas ----------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/Terms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

ArrayRef<Atom::Kind> divisionAtoms() {
  static constexpr Atom::Kind kinds[] = {
      Atom::Kind::Remainder, Atom::Kind::Ceil, Atom::Kind::CeilOfLess,
      Atom::Kind::CeilOfMore, Atom::Kind::LargestPart};
  return kinds;
}

/// a / b, rounded down, for a positive b.
static int64_t floorOf(int64_t a, int64_t b) { return divideFloorSigned(a, b); }

std::optional<int64_t> Atom::value(ArrayRef<int64_t> variables) const {
  int64_t over = variables[a];
  if (kind == Kind::Variable)
    return over;
  int64_t by = variables[b];
  if (by <= 0 || over == std::numeric_limits<int64_t>::min() ||
      over == std::numeric_limits<int64_t>::max())
    return std::nullopt;
  switch (kind) {
  case Kind::Variable:
    break;
  case Kind::Remainder:
    return over - floorOf(over, by) * by;
  case Kind::Floor:
    return floorOf(over, by);
  case Kind::Ceil:
    return divideCeilSigned(over, by);
  case Kind::CeilOfLess:
    return divideCeilSigned(over - 1, by);
  case Kind::CeilOfMore:
    return divideCeilSigned(over + 1, by);
  case Kind::LargestPart:
    return divideCeilSigned(over, std::max<int64_t>(1, floorOf(over, by)));
  }
  llvm_unreachable("every kind has a value");
}

std::string Atom::text(ArrayRef<std::string> names) const {
  const std::string &over = names[a];
  const std::string &by = names[b];
  std::string floor = "(" + over + " - " + over + " % " + by + ") / " + by;
  switch (kind) {
  case Kind::Variable:
    return over;
  case Kind::Remainder:
    return "(" + over + " % " + by + ")";
  case Kind::Floor:
    return "(" + floor + ")";
  case Kind::Ceil:
    return "ceil_div(" + over + ", " + by + ")";
  case Kind::CeilOfLess:
    return "ceil_div(" + over + " - 1, " + by + ")";
  case Kind::CeilOfMore:
    return "ceil_div(" + over + " + 1, " + by + ")";
  case Kind::LargestPart:
    return "ceil_div(" + over + ", max(1, " + floor + "))";
  }
  llvm_unreachable("every kind has a text");
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

Terms::Terms(std::vector<Atom> all, unsigned degree) : atoms(std::move(all)) {
  int count = int(atoms.size());
  products.push_back({none, none});
  for (int i = 0; i != count; ++i)
    products.push_back({i, none});
  for (int i = 0; degree > 1 && i != count; ++i)
    for (int j = i; j != count; ++j)
      products.push_back({i, j});
}

bool Terms::values(ArrayRef<int64_t> variables,
                   std::vector<Residue> &values) const {
  SmallVector<Residue, 8> of;
  for (const Atom &atom : atoms) {
    std::optional<int64_t> value = atom.value(variables);
    if (!value)
      return false;
    of.push_back(Residue(*value));
  }
  values.clear();
  for (auto [i, j] : products) {
    Residue value = i == none ? Residue(1) : of[i];
    values.push_back(j == none ? value : value * of[j]);
  }
  return true;
}

std::optional<Rational> Terms::value(size_t term,
                                     ArrayRef<int64_t> variables) const {
  auto [i, j] = products[term];
  std::optional<Rational> product = Rational(1);
  for (int atom : {i, j}) {
    if (atom == none)
      continue;
    std::optional<int64_t> value = atoms[atom].value(variables);
    if (!value)
      return std::nullopt;
    product = Rational::mul(*product, Rational(*value));
    if (!product)
      return std::nullopt;
  }
  return product;
}

unsigned Terms::degree(size_t term) const {
  auto [i, j] = products[term];
  return (i != none) + (j != none);
}

uint32_t Terms::atomsOf(size_t term) const {
  auto bit = [](int atom) { return atom == none ? 0u : 1u << atom; };
  return bit(products[term].first) | bit(products[term].second);
}

unsigned Terms::degreeIn(unsigned variable, size_t term) const {
  auto is = [&](int atom) {
    return atom != none && atoms[atom].kind == Atom::Kind::Variable &&
           atoms[atom].a == variable;
  };
  return is(products[term].first) + is(products[term].second);
}

std::string Terms::text(size_t term, ArrayRef<std::string> names) const {
  auto [i, j] = products[term];
  if (i == none)
    return "";
  std::string text = atoms[i].text(names);
  return j == none ? text : text + " * " + atoms[j].text(names);
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

unsigned Polynomial::size() const {
  return count_if(coefficients, [](Rational c) { return !c.isZero(); });
}

unsigned Polynomial::degree() const {
  unsigned degree = 0;
  for (auto [term, coefficient] : enumerate(coefficients))
    if (!coefficient.isZero())
      degree = std::max(degree, terms->degree(term));
  return degree;
}

unsigned Polynomial::degreeIn(unsigned variable) const {
  unsigned degree = 0;
  for (auto [term, coefficient] : enumerate(coefficients))
    if (!coefficient.isZero())
      degree = std::max(degree, terms->degreeIn(variable, term));
  return degree;
}

std::optional<Rational> Polynomial::value(ArrayRef<int64_t> variables) const {
  std::optional<Rational> sum = Rational(0);
  for (auto [term, coefficient] : enumerate(coefficients)) {
    if (coefficient.isZero())
      continue;
    std::optional<Rational> value = terms->value(term, variables);
    if (value)
      value = Rational::mul(*value, coefficient);
    sum = value ? Rational::add(*sum, *value) : std::nullopt;
    if (!sum)
      return std::nullopt;
  }
  return sum;
}

std::string Polynomial::text(ArrayRef<std::string> names) const {
  // Products first, then atoms, then the constant; a positive term leads.
  std::vector<size_t> order;
  for (unsigned degree : {2u, 1u, 0u})
    for (size_t term = 0; term != coefficients.size(); ++term)
      if (!coefficients[term].isZero() && terms->degree(term) == degree)
        order.push_back(term);
  auto lead = find_if(
      order, [&](size_t term) { return !coefficients[term].isNegative(); });
  if (lead != order.end())
    std::rotate(order.begin(), lead, lead + 1);

  std::string text;
  for (size_t term : order) {
    Rational coefficient = coefficients[term];
    bool negative = coefficient.isNegative();
    if (text.empty())
      text = negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    int64_t factor =
        negative ? -coefficient.numerator() : coefficient.numerator();
    std::string product = this->terms->text(term, names);
    if (product.empty())
      product = std::to_string(factor);
    else if (factor != 1)
      product = std::to_string(factor) + " * " + product;
    text += product;
    if (!coefficient.isInteger())
      text += " / " + std::to_string(coefficient.denominator());
  }
  return text.empty() ? "0" : text;
}

} // namespace pipec
