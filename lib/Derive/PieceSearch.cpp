//===- PieceSearch.cpp - The search for the pieces of a formula -----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/PieceSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <set>

using namespace llvm;

namespace pipec {

/// How many polynomials of each set of half-spaces are tried as a piece.
static constexpr size_t maxTried = 6;
/// A polynomial must explain at least so many samples more than twice its
/// number of terms.
static constexpr size_t minSurplus = 2;
/// The bounds of half-spaces.
static constexpr int64_t maxBound = 3;

PieceFinder::Attempt::Attempt(const PieceFinder &finder, const Family &family,
                              unsigned component, ArrayRef<unsigned> subset)
    : finder(finder), family(family), subset(subset) {
  for (unsigned position = 0; position != subset.size(); ++position) {
    Rational value = sample(position).values[component];
    std::optional<Residue> residue = Residue::of(value);
    usable &= residue && !family.rows[subset[position]].empty();
    wanted.push_back(value);
    residues.push_back(residue.value_or(0));
  }
  // Neighbours on the grid say little that is new. In strides, a system of
  // equations soon contradicts itself.
  constexpr unsigned stride = 37;
  for (unsigned begin = 0; begin != stride; ++begin)
    for (unsigned i = begin; i < subset.size(); i += stride)
      all.push_back(i);
}

/// False if the samples at the positions of a half-space contradict every
/// polynomial.
bool PieceFinder::Attempt::mayFit(ArrayRef<unsigned> positions,
                                  ArrayRef<int64_t> form, int64_t bound) const {
  ModularSystem system(family.terms.size());
  for (unsigned position : positions) {
    if (form[subset[position]] < bound || sample(position).heldOut)
      continue;
    ++finder.work;
    if (!system.add(family.rows[subset[position]], residues[position]))
      return false;
  }
  return true;
}

/// True if each variable has more values at `positions` than determine a
/// polynomial of its degree.
bool PieceFinder::Attempt::isDetermined(const Polynomial &polynomial,
                                        ArrayRef<unsigned> positions) const {
  for (unsigned variable = 0; variable != finder.samples.names.size();
       ++variable) {
    unsigned degree = polynomial.degreeIn(variable);
    SmallVector<int64_t, 4> values;
    for (unsigned position : positions) {
      int64_t value = sample(position).variables[variable];
      if (values.size() < degree + 2 && !is_contained(values, value))
        values.push_back(value);
    }
    if (degree && values.size() < degree + 2)
      return false;
  }
  return true;
}

/// True if the terms of each set of atoms have twice as many different values
/// of these atoms at `positions` as there are such terms. Samples that differ
/// only in other atoms say nothing about them.
bool PieceFinder::Attempt::isSupported(const Polynomial &polynomial,
                                       ArrayRef<unsigned> positions) const {
  ArrayRef<Atom> atoms = polynomial.terms->allAtoms();
  std::vector<uint32_t> used;
  for (auto [term, coefficient] : enumerate(polynomial.coefficients))
    if (!coefficient.isZero())
      used.push_back(polynomial.terms->atomsOf(term));
  std::vector<std::vector<int64_t>> values;
  for (unsigned position : positions) {
    std::vector<int64_t> &row = values.emplace_back();
    for (const Atom &atom : atoms)
      row.push_back(atom.value(sample(position).variables).value_or(0));
  }
  for (uint32_t set = 1; set != uint32_t(1) << atoms.size(); ++set) {
    size_t terms =
        count_if(used, [&](uint32_t own) { return (own & ~set) == 0; });
    if (popcount(set) < 2 || terms < 2)
      continue;
    std::set<std::vector<int64_t>> different;
    for (std::vector<int64_t> row : values) {
      for (auto [number, value] : enumerate(row))
        value = set >> number & 1 ? value : 0;
      different.insert(std::move(row));
      if (different.size() == 2 * terms)
        break;
    }
    if (different.size() < 2 * terms)
      return false;
  }
  return true;
}

/// Fits a polynomial to the samples at `positions`: those that are not held out
/// determine it, and it must agree with the others.
std::optional<Piece>
PieceFinder::Attempt::fit(ArrayRef<unsigned> positions) const {
  ModularSystem system(family.terms.size());
  bool tested = false;
  for (unsigned position : positions) {
    if (sample(position).heldOut) {
      tested = true;
      continue;
    }
    ++finder.work;
    if (!system.add(family.rows[subset[position]], residues[position]))
      return std::nullopt;
  }
  if (!tested)
    return std::nullopt;
  std::vector<Residue> solution = system.solution();
  auto agrees = [&](unsigned position) {
    Residue sum;
    for (auto [value, factor] :
         zip_equal(family.rows[subset[position]], solution))
      sum = sum + value * factor;
    return sum == residues[position];
  };
  for (unsigned position : positions)
    if (sample(position).heldOut && !agrees(position))
      return std::nullopt;

  Piece piece;
  piece.polynomial.terms = &family.terms;
  for (Residue coefficient : solution) {
    std::optional<Rational> fraction = coefficient.fraction();
    if (!fraction)
      return std::nullopt;
    piece.polynomial.coefficients.push_back(*fraction);
  }
  if (positions.size() < 2 * piece.polynomial.size() + minSurplus ||
      !isDetermined(piece.polynomial, positions) ||
      !isSupported(piece.polynomial, positions))
    return std::nullopt;
  piece.explains.resize(subset.size());
  for (unsigned position : all) {
    std::optional<Rational> value =
        piece.polynomial.value(sample(position).variables);
    if (value && *value == wanted[position])
      piece.explains.set(position);
  }
  if (!all_of(positions, [&](unsigned p) { return piece.explains[p]; }))
    return std::nullopt;
  return piece;
}

/// The polynomials of half-spaces, those that explain the most samples first.
std::vector<Piece>
PieceFinder::Attempt::pool(ArrayRef<unsigned> positions) const {
  std::vector<Piece> pieces;
  std::vector<unsigned> inside;
  for (const std::vector<int64_t> &values : finder.formValues) {
    size_t before = 0;
    for (int64_t bound = -maxBound; bound <= maxBound; ++bound) {
      if (finder.work > maxWork)
        return pieces;
      if (!mayFit(positions, values, bound))
        continue;
      inside.clear();
      for (unsigned position : positions)
        if (values[subset[position]] >= bound)
          inside.push_back(position);
      if (inside.size() == positions.size() || inside.size() == before ||
          inside.size() <= minSurplus)
        continue;
      before = inside.size();
      std::optional<Piece> piece = fit(inside);
      if (!piece || any_of(pieces, [&](const Piece &other) {
            return other.polynomial.coefficients ==
                   piece->polynomial.coefficients;
          }))
        continue;
      pieces.push_back(std::move(*piece));
    }
  }
  llvm::stable_sort(pieces, [](const Piece &a, const Piece &b) {
    return a.explains.count() > b.explains.count();
  });
  if (pieces.size() > maxTried)
    pieces.resize(maxTried);
  return pieces;
}

PieceFinder::Attempt::Positions
PieceFinder::Attempt::unexplained(ArrayRef<const Piece *> pieces) const {
  Positions rest;
  for (unsigned position : all)
    if (none_of(pieces,
                [&](const Piece *piece) { return piece->explains[position]; }))
      rest.push_back(position);
  return rest;
}

/// True if each piece alone explains twice as many samples as it has terms,
/// which differ in all variables and of which one is held out: a piece for a
/// few samples could have any form.
bool PieceFinder::Attempt::areNeeded(ArrayRef<const Piece *> pieces) const {
  return all_of(pieces, [&](const Piece *piece) {
    std::vector<unsigned> alone;
    bool tested = false;
    for (unsigned position : all)
      if (piece->explains[position] && none_of(pieces, [&](const Piece *other) {
            return other != piece && other->explains[position];
          })) {
        alone.push_back(subset[position]);
        tested |= sample(position).heldOut;
      }
    return tested && alone.size() >= 2 * piece->polynomial.size() &&
           isSpread(finder.samples, alone);
  });
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

std::optional<PiecewiseFormula> PieceFinder::Attempt::one() {
  if (!usable)
    return std::nullopt;
  std::optional<Piece> piece = fit(all);
  if (!piece)
    return std::nullopt;
  return PiecewiseFormula::of(std::move(piece->polynomial));
}

std::optional<PiecewiseFormula> PieceFinder::Attempt::several() {
  if (!usable || finder.work > maxWork)
    return std::nullopt;
  std::vector<Piece> firsts = pool(all);
  struct Pair {
    const Piece *first;
    Piece second;
  };
  std::vector<Pair> pairs;
  for (const Piece &first : firsts) {
    Positions rest = unexplained({&first});
    if (rest.empty())
      return PiecewiseFormula::of(first.polynomial);
    if (std::optional<Piece> second = fit(rest)) {
      if (areNeeded({&first, &*second}))
        if (std::optional<PiecewiseFormula> formula =
                compose(first, *second, all))
          return formula;
      continue;
    }
    for (Piece &second : pool(rest))
      pairs.push_back({&first, std::move(second)});
  }
  for (const auto &[first, second] : pairs) {
    std::optional<Piece> third = fit(unexplained({first, &second}));
    if (!third || !areNeeded({first, &second, &*third}))
      continue;
    if (std::optional<PiecewiseFormula> formula =
            compose(*first, second, *third))
      return formula;
  }
  return std::nullopt;
}

size_t PieceFinder::Attempt::mostExplained() {
  if (!usable)
    return 0;
  std::vector<Piece> pieces = pool(all);
  return pieces.empty() ? 0 : pieces.front().explains.count();
}

} // namespace pipec
