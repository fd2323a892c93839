//===- Formula.cpp - Samples of figures, and formulas for them ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/CaseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Exact linear systems
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// A quotient of two variables. Values are at most 2^30, so that nothing
/// overflows.
struct Quotient {
  const char *text;
  int64_t (*value)(int64_t a, int64_t b);
};
static constexpr Quotient quotients[] = {
    {"({0} % {1})",
     [](int64_t a, int64_t b) { return a - divideFloorSigned(a, b) * b; }},
    {"ceil_div({0}, {1})",
     [](int64_t a, int64_t b) { return divideCeilSigned(a, b); }},
    {"ceil_div({0} - 1, {1})",
     [](int64_t a, int64_t b) { return divideCeilSigned(a - 1, b); }},
    // The largest part of `a` in even parts of at least `b`.
    {"ceil_div({0}, max(1, ({0} - {0} % {1}) / {1}))",
     [](int64_t a, int64_t b) {
       return divideCeilSigned(a,
                               std::max<int64_t>(1, divideFloorSigned(a, b)));
     }},
};

FitSamples::FitSamples(std::vector<std::string> variables,
                       ArrayRef<std::pair<unsigned, unsigned>> pairs,
                       unsigned components)
    : numVariables(variables.size()), numComponents(components),
      names(std::move(variables)) {
  names.insert(names.begin(), "");
  for (auto [a, b] : pairs) {
    divisions.push_back({a + 1, b + 1});
    for (const Quotient &quotient : quotients)
      names.push_back(formatv(quotient.text, names[a + 1], names[b + 1]).str());
  }
}

void FitSamples::add(ArrayRef<int64_t> variables, std::vector<Rational> values,
                     unsigned count) {
  constexpr int64_t limit = int64_t(1) << 30;
  unsigned begin = samples.empty() ? 0 : samples.back().end;
  FitSample &sample = samples.emplace_back();
  sample.begin = begin;
  sample.end = begin + count;
  sample.values = std::move(values);
  sample.atoms.push_back(1);
  for (int64_t value : variables) {
    sample.atoms.push_back(std::clamp(value, -limit, limit));
    if (sample.atoms.back() != value)
      sample.values.clear();
  }
  for (auto [a, b] : divisions) {
    if (sample.atoms[b] <= 0)
      sample.values.clear();
    int64_t by = std::max<int64_t>(1, sample.atoms[b]);
    for (const Quotient &quotient : quotients)
      sample.atoms.push_back(quotient.value(sample.atoms[a], by));
  }
}

/// A number that looks random (the finalizer of SplitMix64).
static uint64_t mixed(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

void FitSamples::holdOut(size_t sizeVariables) {
  std::vector<std::set<int64_t>> values(sizeVariables);
  for (const FitSample &sample : samples)
    for (size_t i = 0; i != sizeVariables; ++i)
      values[i].insert(sample.variable(i));
  for (FitSample &sample : samples) {
    uint64_t bits = 0x9e3779b97f4a7c15;
    bool largest = false;
    for (size_t i = 0; i != sizeVariables; ++i) {
      bits = mixed(bits + uint64_t(sample.variable(i)));
      largest |=
          values[i].size() >= 4 && sample.variable(i) == *values[i].rbegin();
    }
    sample.heldOut = largest || bits % 3 == 0;
  }
}

std::vector<unsigned> FitSamples::varied() const {
  std::vector<unsigned> varied;
  for (unsigned atom = 1; atom <= numVariables; ++atom)
    if (any_of(samples, [&](const FitSample &sample) {
          return sample.atoms[atom] != samples[0].atoms[atom];
        }))
      varied.push_back(atom);
  return varied;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

int64_t Condition::value(ArrayRef<int64_t> atoms) const {
  int64_t sum = 0;
  for (auto [factor, atom] : zip(factors, atoms))
    sum += factor * atom;
  int64_t by = modulus * atoms[divisor];
  return by <= 0 ? sum : sum - divideFloorSigned(sum, by) * by;
}

bool Condition::holds(ArrayRef<int64_t> atoms) const {
  int64_t found = value(atoms);
  return relation == Relation::AtLeast
             ? found >= bound
             : (found == bound) == (relation == Relation::Equal);
}

Condition Condition::negated() const {
  Condition other = *this;
  if (relation == Relation::AtLeast) {
    for (int64_t &factor : other.factors)
      factor = -factor;
    other.bound = 1 - bound;
    return other;
  }
  other.relation =
      relation == Relation::Equal ? Relation::NotEqual : Relation::Equal;
  return other;
}

/// The positive terms of `factors * sign`: `2 * p + rank`.
static std::string positiveTerms(ArrayRef<int64_t> factors, int64_t sign,
                                 ArrayRef<std::string> names) {
  std::vector<std::string> terms;
  for (auto [factor, name] : zip(factors, names))
    if (factor * sign == 1)
      terms.push_back(name);
    else if (factor * sign > 0)
      terms.push_back(std::to_string(factor * sign) + " * " + name);
  return join(terms, " + ");
}

std::string Condition::text(ArrayRef<std::string> names) const {
  if (modulus)
    return positiveTerms(factors, 1, names) + " % " +
           (divisor ? names[divisor] : std::to_string(modulus)) +
           (relation == Relation::Equal ? " == " : " != ") +
           std::to_string(bound);
  // The side with the first variable comes first.
  const auto first = find_if(factors, [](int64_t factor) { return factor; });
  int64_t sign = first != factors.end() && *first < 0 ? -1 : 1;
  std::string left = positiveTerms(factors, sign, names);
  std::string right = positiveTerms(factors, -sign, names);
  bool strict = bound == 1 && !right.empty();
  int64_t rest = strict ? 0 : bound * sign;
  if (right.empty())
    right = std::to_string(rest);
  else if (rest)
    right += (rest < 0 ? " - " : " + ") + std::to_string(std::abs(rest));
  return left + (sign < 0 ? " <" : " >") + (strict ? " " : "= ") + right;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

std::optional<Rational> Polynomial::value(ArrayRef<int64_t> atoms) const {
  std::optional<Rational> sum = Rational(0);
  for (const Term &term : terms) {
    std::optional<Rational> value = Rational::mul(
        term.factor, atoms[term.atoms.first] * atoms[term.atoms.second]);
    sum = value ? Rational::add(*sum, *value) : std::nullopt;
    if (!sum)
      break;
  }
  return sum;
}

std::string Polynomial::text(ArrayRef<std::string> names) const {
  // Products first, then atoms, then the constant; a positive term leads.
  auto degree = [](const Term &term) {
    return (term.atoms.first != 0) + (term.atoms.second != 0);
  };
  std::vector<Term> order = terms;
  llvm::stable_sort(order, [&](const Term &a, const Term &b) {
    return degree(a) > degree(b);
  });
  auto lead = find_if(
      order, [](const Term &term) { return !term.factor.isNegative(); });
  if (lead != order.end())
    std::rotate(order.begin(), lead, lead + 1);

  std::string text;
  for (const auto &[factor, atoms] : order) {
    bool negative = factor.isNegative();
    if (text.empty())
      text = negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    int64_t count = negative ? -factor.numerator() : factor.numerator();
    std::vector<std::string> product;
    if (count != 1 || !atoms.second)
      product.push_back(std::to_string(count));
    for (unsigned atom : {atoms.first, atoms.second})
      if (atom)
        product.push_back(names[atom]);
    text += join(product, " * ");
    if (!factor.isInteger())
      text += " / " + std::to_string(factor.denominator());
  }
  return text.empty() ? "0" : text;
}

size_t Formula::size() const {
  size_t size = 0;
  for (const Polynomial &part : parts)
    size += part.terms.size();
  return size;
}

std::optional<Rational> Formula::value(ArrayRef<int64_t> atoms) const {
  std::optional<Rational> best;
  for (const Polynomial &part : parts) {
    std::optional<Rational> value = part.value(atoms);
    if (!value)
      return std::nullopt;
    if (!best || (isMax ? *best < *value : *value < *best))
      best = value;
  }
  return best;
}

std::string Formula::text(ArrayRef<std::string> names) const {
  std::vector<std::string> texts;
  for (const Polynomial &part : parts)
    texts.push_back(part.text(names));
  std::string list = join(texts, ", ");
  return parts.size() == 1 ? list : (isMax ? "max(" : "min(") + list + ")";
}

std::string Formula::factorText(ArrayRef<std::string> names) const {
  std::string plain = text(names);
  bool sum = parts.size() == 1 &&
             (parts[0].terms.size() > 1 || StringRef(plain).starts_with("-"));
  return sum ? "(" + plain + ")" : plain;
}

} // namespace pipec
