//===- PieceFinder.cpp - Finding the pieces of a formula ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/PieceSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

PieceFinder::PieceFinder(const FitSamples &samples)
    : samples(samples), forms(linearForms(samples)) {
  for (const LinearForm &form : forms) {
    std::vector<int64_t> &values = formValues.emplace_back();
    for (const FitSample &sample : samples.samples)
      values.push_back(valueOf(form, sample.variables));
  }
  std::vector<Atom> variables;
  for (unsigned i = 0; i != samples.names.size(); ++i)
    variables.push_back({Atom::Kind::Variable, i, 0});
  auto add = [&](std::vector<Atom> atoms, unsigned degree) {
    families.push_back(
        std::make_unique<Family>(samples, std::move(atoms), degree));
  };
  add(variables, 1);
  add(variables, 2);
  numWithoutDivision = families.size();
  for (auto [a, b] : samples.divisions)
    for (Atom::Kind kind : divisionAtoms()) {
      std::vector<Atom> atoms = variables;
      atoms.push_back({kind, a, b});
      add(std::move(atoms), 2);
    }
}

PieceFinder::~PieceFinder() = default;

std::optional<PiecewiseFormula>
PieceFinder::find(unsigned component, ArrayRef<unsigned> subset, bool divided) {
  // Everything that one polynomial explains before the first that takes
  // several, and variables alone before divisions.
  auto attempt = [&](const std::unique_ptr<Family> &family) {
    return Attempt(*this, *family, component, subset);
  };
  for (const auto &family : families)
    if (auto formula = attempt(family).one())
      return formula;
  ArrayRef<std::unique_ptr<Family>> all(families);
  for (const auto &family : all.take_front(numWithoutDivision))
    if (auto formula = attempt(family).several())
      return formula;
  // Of the divisions, the one with the shortest formula.
  std::optional<PiecewiseFormula> shortest;
  if (!divided)
    for (const auto &family : all.drop_front(numWithoutDivision))
      if (auto formula = attempt(family).several();
          formula && (!shortest || formula->size() < shortest->size()))
        shortest = std::move(formula);
  return shortest;
}

size_t PieceFinder::mostExplained(ArrayRef<unsigned> subset) {
  size_t least = subset.size();
  for (unsigned i = 0; i != samples.numComponents(); ++i)
    least = std::min(
        least, Attempt(*this, *families.front(), i, subset).mostExplained());
  return least;
}

std::optional<unsigned> firstContradiction(const FitSamples &samples) {
  std::vector<Atom> variables;
  for (unsigned i = 0; i != samples.names.size(); ++i)
    variables.push_back({Atom::Kind::Variable, i, 0});
  Terms terms(std::move(variables), 2);
  ModularSystem system(terms.size());
  std::vector<Residue> row;
  for (auto [number, sample] : enumerate(samples.samples)) {
    std::optional<Residue> value = Residue::of(sample.values[0]);
    if (!terms.values(sample.variables, row) || !value ||
        !system.add(row, *value))
      return number;
  }
  return std::nullopt;
}

} // namespace pipec
