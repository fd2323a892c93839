//===- PiecewiseFormula.cpp - Formulas of several polynomials -------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/PiecewiseFormula.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

PiecewiseFormula PiecewiseFormula::of(Polynomial polynomial) {
  PiecewiseFormula formula;
  formula.polynomial = std::move(polynomial);
  return formula;
}

PiecewiseFormula PiecewiseFormula::of(Kind kind,
                                      std::vector<PiecewiseFormula> parts) {
  PiecewiseFormula formula;
  formula.kind = kind;
  formula.parts = std::move(parts);
  return formula;
}

PiecewiseFormula PiecewiseFormula::choice(Condition condition,
                                          PiecewiseFormula first,
                                          PiecewiseFormula second) {
  PiecewiseFormula formula;
  formula.kind = Kind::Choice;
  formula.condition = std::move(condition);
  formula.parts = {std::move(first), std::move(second)};
  return formula;
}

size_t PiecewiseFormula::size() const {
  size_t size = kind == Kind::Polynomial ? polynomial.size() : 0;
  for (const PiecewiseFormula &part : parts)
    size += part.size();
  return size;
}

std::optional<Rational>
PiecewiseFormula::value(ArrayRef<int64_t> variables) const {
  if (kind == Kind::Polynomial)
    return polynomial.value(variables);
  if (kind == Kind::Choice)
    return parts[condition.holds(variables) ? 0 : 1].value(variables);
  std::optional<Rational> best;
  for (const PiecewiseFormula &part : parts) {
    std::optional<Rational> value = part.value(variables);
    if (!value)
      return std::nullopt;
    if (!best || (kind == Kind::Min ? *value < *best : *best < *value))
      best = value;
  }
  return best;
}

std::string PiecewiseFormula::text(ArrayRef<std::string> names) const {
  switch (kind) {
  case Kind::Polynomial:
    return polynomial.text(names);
  case Kind::Choice:
    return condition.text(names) + " ? " + parts[0].factorText(names) + " : " +
           parts[1].factorText(names);
  case Kind::Min:
  case Kind::Max:
    break;
  }
  std::vector<std::string> texts;
  for (const PiecewiseFormula &part : parts)
    texts.push_back(part.kind == Kind::Choice ? part.factorText(names)
                                              : part.text(names));
  return (kind == Kind::Min ? "min(" : "max(") + join(texts, ", ") + ")";
}

std::string PiecewiseFormula::factorText(ArrayRef<std::string> names) const {
  std::string plain = text(names);
  bool sum = kind == Kind::Polynomial &&
             (polynomial.size() > 1 || StringRef(plain).starts_with("-"));
  return sum || kind == Kind::Choice ? "(" + plain + ")" : plain;
}

} // namespace pipec
