//===- CostCones.cpp - Sets of costs with one formula ---------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/CostCones.h"

#include "Derive/ModularSystem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <cassert>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static CostLetter letterOf(StringRef name) {
  return StringSwitch<CostLetter>(name)
      .Case("F", CostLetter::F)
      .Case("B", CostLetter::B)
      .Case("I", CostLetter::I)
      .Case("W", CostLetter::W)
      .Case("&", CostLetter::Overlap)
      .Case("p2p", CostLetter::P2P);
}

/// Parses letters with factors: `F 2B p2p`.
static CostVector vectorOf(StringRef text) {
  CostVector vector;
  SmallVector<StringRef, 6> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    int64_t factor = 1;
    (void)word.consumeInteger(10, factor);
    vector[unsigned(letterOf(word))] = factor;
  }
  return vector;
}

static CostCone coneOf(StringRef steps, StringRef condition, StringRef letters,
                       StringRef rays) {
  CostCone cone{steps, condition, {}, {}};
  SmallVector<StringRef, 6> words;
  letters.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    cone.letters.push_back(letterOf(word));
  SmallVector<StringRef, 4> each;
  rays.split(each, '|');
  for (StringRef ray : each)
    cone.rays.push_back(vectorOf(ray));
  return cone;
}

ArrayRef<CostCone> allCostCones() {
  static const std::vector<CostCone> cones = {
#define PIPEC_COST_CONE(Steps, Condition, Letters, Rays)                       \
  coneOf(Steps, Condition, Letters, Rays),
#include "Derive/CostCones.def"
  };
  return cones;
}

std::vector<CostCone> costConesFor(StringRef steps) {
  std::vector<CostCone> cones;
  for (const CostCone &cone : allCostCones())
    if (cone.steps == steps)
      cones.push_back(cone);
  return cones;
}

//===----------------------------------------------------------------------===//
// Cones
//===----------------------------------------------------------------------===//

/// Solves for unknown multiples of `columns` whose sum is `sum`. Nothing if
/// there are none.
static std::optional<std::vector<Rational>>
solve(ArrayRef<std::vector<Rational>> rows, ArrayRef<Rational> values,
      unsigned unknowns) {
  ModularSystem system(unknowns);
  for (auto [row, value] : zip_equal(rows, values)) {
    SmallVector<Residue, 6> coefficients;
    for (Rational coefficient : row)
      coefficients.push_back(Residue::of(coefficient).value_or(0));
    std::optional<Residue> residue = Residue::of(value);
    if (!residue || !system.add(coefficients, *residue))
      return std::nullopt;
  }
  std::vector<Rational> solution;
  for (Residue unknown : system.solution()) {
    std::optional<Rational> fraction = unknown.fraction();
    if (!fraction)
      return std::nullopt;
    solution.push_back(*fraction);
  }
  for (auto [row, value] : zip_equal(rows, values)) {
    std::optional<Rational> sum = Rational(0);
    for (auto [coefficient, unknown] : zip_equal(row, solution)) {
      std::optional<Rational> product = Rational::mul(coefficient, unknown);
      sum = product ? Rational::add(*sum, *product) : std::nullopt;
      if (!sum)
        return std::nullopt;
    }
    if (*sum != value)
      return std::nullopt;
  }
  return solution;
}

CostVector CostCone::inside() const {
  CostVector sum;
  for (const CostVector &ray : rays)
    for (auto [total, part] : zip_equal(sum, ray))
      total = Rational::add(total, part).value_or(0);
  return sum;
}

/// By Carathéodory's theorem, a vector of the cone is a sum of multiples of
/// independent rays. All sets of rays are tried; there are at most 4 rays.
bool CostCone::contains(const CostVector &costs) const {
  for (unsigned set = 0; set != 1u << rays.size(); ++set) {
    std::vector<std::vector<Rational>> rows(numCostLetters);
    unsigned unknowns = 0;
    for (unsigned i = 0; i != rays.size(); ++i) {
      if (!(set >> i & 1))
        continue;
      ++unknowns;
      for (unsigned letter = 0; letter != numCostLetters; ++letter)
        rows[letter].push_back(rays[i][letter]);
    }
    auto multiples = solve(rows, costs, unknowns);
    if (multiples &&
        none_of(*multiples, [](Rational x) { return x.isNegative(); }))
      return true;
  }
  return false;
}

bool CostCone::contains(const CostCone &other) const {
  return all_of(other.rays,
                [&](const CostVector &ray) { return contains(ray); });
}

std::optional<std::vector<Rational>>
CostCone::factors(ArrayRef<Rational> values) const {
  std::vector<std::vector<Rational>> rows;
  for (const CostVector &ray : rays) {
    std::vector<Rational> &row = rows.emplace_back();
    for (CostLetter letter : letters)
      row.push_back(ray[unsigned(letter)]);
  }
  return solve(rows, values, letters.size());
}

} // namespace pipec
