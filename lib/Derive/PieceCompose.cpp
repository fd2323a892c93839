//===- PieceCompose.cpp - Formulas of several pieces ----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/PieceSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;

namespace pipec {

bool PieceFinder::Attempt::isEverywhere(const PiecewiseFormula &formula,
                                        ArrayRef<unsigned> positions) const {
  return all_of(positions, [&](unsigned position) {
    std::optional<Rational> value = formula.value(sample(position).variables);
    return value && *value == wanted[position];
  });
}

/// A condition that holds at all positions `inside` and at none `outside`: a
/// comparison, with the bound nearest to 0, or a residue.
std::optional<Condition>
PieceFinder::Attempt::separate(ArrayRef<unsigned> inside,
                               ArrayRef<unsigned> outside) const {
  for (auto [form, values] : zip_equal(finder.forms, finder.formValues)) {
    int64_t least = std::numeric_limits<int64_t>::max();
    int64_t most = std::numeric_limits<int64_t>::min();
    for (unsigned position : inside)
      least = std::min(least, values[subset[position]]);
    for (unsigned position : outside)
      most = std::max(most, values[subset[position]]);
    if (least > most)
      return Condition::atLeast(
          form, std::min(least, std::max<int64_t>(most + 1, 0)));
  }
  for (const Split &split : caseSplits(finder.samples))
    for (const Condition &side : split) {
      if (side.kind == Condition::Kind::Linear)
        continue;
      auto holds = [&](unsigned position) {
        return side.holds(sample(position).variables);
      };
      if (all_of(inside, holds) && none_of(outside, holds))
        return side;
    }
  return std::nullopt;
}

/// A formula of two pieces that explain everything at `positions`.
std::optional<PiecewiseFormula>
PieceFinder::Attempt::compose(const Piece &f, const Piece &g,
                              ArrayRef<unsigned> positions) const {
  using Formula = PiecewiseFormula;
  Formula first = Formula::of(f.polynomial);
  Formula second = Formula::of(g.polynomial);
  for (Formula::Kind kind : {Formula::Kind::Min, Formula::Kind::Max}) {
    Formula formula = Formula::of(kind, {first, second});
    if (isEverywhere(formula, positions))
      return formula;
  }
  Positions onlyFirst, onlySecond;
  for (unsigned position : positions) {
    if (!g.explains[position])
      onlyFirst.push_back(position);
    else if (!f.explains[position])
      onlySecond.push_back(position);
  }
  if (onlySecond.empty())
    return first;
  if (onlyFirst.empty())
    return second;
  if (std::optional<Condition> condition = separate(onlyFirst, onlySecond))
    return Formula::choice(std::move(*condition), first, second);
  return std::nullopt;
}

/// A choice of `f`, or a formula of the two others.
std::optional<PiecewiseFormula>
PieceFinder::Attempt::chooseFirst(const Piece &f, const Piece &g,
                                  const Piece &h) const {
  Positions onlyFirst, notFirst;
  for (unsigned position : all) {
    if (!g.explains[position] && !h.explains[position])
      onlyFirst.push_back(position);
    if (!f.explains[position])
      notFirst.push_back(position);
  }
  std::optional<Condition> condition = separate(onlyFirst, notFirst);
  if (!condition)
    return std::nullopt;
  Positions rest;
  for (unsigned position : all)
    if (!condition->holds(sample(position).variables))
      rest.push_back(position);
  std::optional<PiecewiseFormula> other = compose(g, h, rest);
  if (!other)
    return std::nullopt;
  return PiecewiseFormula::choice(std::move(*condition),
                                  PiecewiseFormula::of(f.polynomial),
                                  std::move(*other));
}

std::optional<PiecewiseFormula>
PieceFinder::Attempt::compose(const Piece &f, const Piece &g,
                              const Piece &h) const {
  using Formula = PiecewiseFormula;
  const Piece *pieces[] = {&f, &g, &h};
  std::vector<Formula> parts;
  for (const Piece *piece : pieces)
    parts.push_back(Formula::of(piece->polynomial));
  constexpr Formula::Kind kinds[] = {Formula::Kind::Min, Formula::Kind::Max};
  for (Formula::Kind kind : kinds) {
    Formula formula = Formula::of(kind, parts);
    if (isEverywhere(formula, all))
      return formula;
  }
  for (unsigned i = 0; i != 3; ++i)
    for (Formula::Kind kind : kinds) {
      Formula::Kind other = kind == kinds[0] ? kinds[1] : kinds[0];
      Formula inner =
          Formula::of(other, {parts[(i + 1) % 3], parts[(i + 2) % 3]});
      Formula formula = Formula::of(kind, {parts[i], inner});
      if (isEverywhere(formula, all))
        return formula;
    }
  for (unsigned i = 0; i != 3; ++i)
    if (std::optional<Formula> formula =
            chooseFirst(*pieces[i], *pieces[(i + 1) % 3], *pieces[(i + 2) % 3]))
      return formula;
  return std::nullopt;
}

} // namespace pipec
