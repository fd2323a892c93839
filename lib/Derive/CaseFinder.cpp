//===- CaseFinder.cpp - Finding the cases of a figure ---------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/CaseFinder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

/// A case has at least so many samples, and three times as many as a formula
/// has terms.
static constexpr size_t minSamples = 8;
/// So many of the samples of one case of several are held out.
static constexpr size_t minHeldOut = 4;
/// How often the samples are divided, and how many ways to divide them are
/// divided further.
static constexpr unsigned maxDivisions = 3;
static constexpr size_t maxDividedAgain = 3;

size_t FormulaCases::covered() const {
  size_t covered = 0;
  for (const FormulaCase &one : cases)
    covered += one.samples.size();
  return covered;
}

/// True if `a` explains more samples, or as many with fewer cases.
static bool isBetter(const FormulaCases &a, const FormulaCases &b) {
  if (a.covered() != b.covered())
    return a.covered() > b.covered();
  return a.cases.size() < b.cases.size();
}

bool CaseFinder::isKnown(const Subset &subset) const {
  return all_of(subset,
                [&](unsigned number) { return samples.samples[number].known; });
}

const CaseFinder::Formulas &CaseFinder::formulasOf(const Subset &subset) {
  auto [it, fresh] = known.try_emplace(subset);
  if (!fresh)
    return it->second;
  if (subset.size() < minSamples || !isKnown(subset) ||
      !isSpread(samples, subset))
    return it->second;
  bool divided = subset.size() != samples.samples.size();
  if (divided && size_t(count_if(subset, [&](unsigned number) {
                   return samples.samples[number].heldOut;
                 })) < minHeldOut)
    return it->second;
  std::vector<PiecewiseFormula> formulas;
  for (unsigned i = 0; i != samples.numComponents(); ++i) {
    std::optional<PiecewiseFormula> formula = pieces.find(i, subset, divided);
    if (!formula || subset.size() < 3 * formula->size())
      return it->second;
    formulas.push_back(std::move(*formula));
  }
  // Everything before this point may be a heuristic.
  for (unsigned number : subset)
    for (auto [formula, wanted] :
         zip_equal(formulas, samples.samples[number].values))
      if (formula.value(samples.samples[number].variables) != wanted)
        return it->second;
  it->second = std::move(formulas);
  return it->second;
}

std::vector<CaseFinder::Subset> CaseFinder::divide(const Subset &subset,
                                                   const Split &split) const {
  std::vector<Subset> sides(split.size());
  for (unsigned number : subset)
    for (auto [side, condition] : zip_equal(sides, split))
      if (condition.holds(samples.samples[number].variables)) {
        side.push_back(number);
        break;
      }
  return sides;
}

/// The best of at most `divisions` divisions of `subset`, each of a side of the
/// one before. All divisions are tried first; of the sides without formulas,
/// those of the best few are divided further.
FormulaCases CaseFinder::findCases(const Subset &subset, unsigned divisions) {
  FormulaCases best;
  if (const Formulas &formulas = formulasOf(subset)) {
    best.cases.push_back({{}, *formulas, subset});
    return best;
  }
  if (divisions == 0 || subset.size() < 2 * minSamples)
    return best;

  struct Way {
    const Split *split;
    std::vector<Subset> sides;
    size_t covered = 0;
    /// With what single polynomials explain of the other sides.
    size_t explained = 0;
  };
  std::vector<Way> ways;
  for (const Split &split : splits) {
    Way way{&split, divide(subset, split)};
    if (is_contained(way.sides, subset))
      continue;
    for (const Subset &side : way.sides) {
      size_t covers = formulasOf(side) ? side.size() : 0;
      way.covered += covers;
      if (!covers && divisions > 1 && isKnown(side))
        covers = pieces.mostExplained(side);
      way.explained += covers;
    }
    bool complete = way.covered == subset.size();
    ways.push_back(std::move(way));
    if (complete)
      break;
  }
  llvm::stable_sort(ways, [](const Way &a, const Way &b) {
    return a.explained > b.explained;
  });
  if (ways.size() > maxDividedAgain)
    ways.resize(maxDividedAgain);
  for (const Way &way : ways) {
    FormulaCases cases;
    for (auto [side, condition] : zip_equal(way.sides, *way.split))
      for (FormulaCase &one : findCases(side, divisions - 1).cases) {
        one.conditions.insert(one.conditions.begin(), condition);
        cases.cases.push_back(std::move(one));
      }
    if (isBetter(cases, best))
      best = std::move(cases);
    if (best.covered() == subset.size())
      break;
  }
  return best;
}

FormulaCases CaseFinder::find(ArrayRef<unsigned> subset) {
  return findCases(Subset(subset.begin(), subset.end()), maxDivisions);
}

} // namespace pipec
