//===- CaseFinder.cpp - Finding the cases of a figure ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/CaseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace llvm;

namespace pipec {

/// A case has at least so many samples, and three times as many as a formula
/// has terms. Of one case of several, so many are held out.
static constexpr size_t minSamples = 6;
static constexpr size_t minHeldOut = 4;
/// The same for a case with a constant.
static constexpr size_t minConstant = 16;
/// How often the samples are divided, and how many ways to divide them are
/// divided further.
static constexpr unsigned maxDivisions = 3;
static constexpr size_t maxWays = 10;
/// How many pieces are combined, and the number of equations after which no
/// more are fitted.
static constexpr size_t maxPieces = 3;
static constexpr size_t maxWork = 3000000;

/// True if the formulas, one per component, have the values of a sample.
template <typename FormulaT>
static bool haveValues(ArrayRef<FormulaT> formulas, const FitSample &sample) {
  return !sample.values.empty() &&
         all_of(zip_equal(formulas, sample.values), [&](auto pair) {
           return std::get<0>(pair).value(sample.atoms) == std::get<1>(pair);
         });
}

CaseFinder::CaseFinder(const FitSamples &samples)
    : samples(samples), all(samples.samples.size()), heldOut(all.size()),
      unknown(all.size()) {
  all.set(0, samples.numInside);
  for (auto [i, sample] : enumerate(samples.samples)) {
    heldOut[i] = sample.heldOut;
    unknown[i] = sample.values.empty();
  }
  // Neighbours on the grid say little that is new. In strides, a system of
  // equations soon contradicts itself.
  constexpr size_t stride = 37;
  for (size_t begin = 0; begin != stride; ++begin)
    for (size_t i = begin; i < samples.numInside; i += stride)
      order.push_back(i);

  // The families: variables, their products, and those with one quotient.
  std::vector<unsigned> atoms(1 + samples.numVariables);
  std::iota(atoms.begin(), atoms.end(), 0);
  auto addFamily = [&](bool products) {
    Family &family = families.emplace_back();
    for (size_t i = 0; i != (products ? atoms.size() : 1); ++i)
      for (unsigned second : ArrayRef(atoms).drop_front(i))
        family.push_back({atoms[i], second});
  };
  addFamily(false);
  addFamily(true);
  atoms.push_back(0);
  for (size_t atom = atoms.size() - 1; atom != samples.names.size(); ++atom) {
    atoms.back() = atom;
    addFamily(true);
  }
  addConditions();
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// Formulas for all samples of `subset`.
CaseFinder::Result CaseFinder::resultOf(const Subset &subset) {
  auto [it, fresh] = known.try_emplace(subset);
  bool divided = subset != all;
  if (!fresh || subset.count() < minSamples || subset.anyCommon(unknown) ||
      !isSpread(subset, {}) ||
      (divided && (BitVector(subset) &= heldOut).count() < minHeldOut))
    return it->second;
  Result result;
  for (const Family &family : families)
    if (std::optional<Piece> piece = fit(subset, family)) {
      for (Polynomial &value : piece->values)
        result.formulas.push_back({{std::move(value)}});
      break;
    }
  for (const Family &family : ArrayRef(families).take_front(divided ? 1 : ~0u))
    if (result.formulas.empty()) {
      std::vector<Piece> pieces = pool(subset, family);
      if (!pieces.empty())
        result.explained = std::max<size_t>(
            result.explained,
            (BitVector(subset) &= pieces.front().explains).count());
      result.formulas = several(subset, subset, {}, pieces, family);
    }
  bool isConstant = divided;
  size_t most = 0;
  for (const Formula &formula : result.formulas) {
    size_t terms = 0;
    for (const Polynomial &part : formula.parts) {
      terms += part.terms.size();
      for (const auto &[_, atoms] : part.terms)
        isConstant &= atoms.second == 0;
    }
    most = std::max(most, terms);
  }
  if (subset.count() < std::max(3 * most, isConstant ? minConstant : 0))
    result.formulas.clear();
  if (!result.formulas.empty())
    result.explained = subset.count();
  return known[subset] = std::move(result);
}

/// The number of samples in the cases, where each case costs 1 % of `all`.
static int64_t worth(ArrayRef<FormulaCase> cases, size_t all) {
  int64_t worth = 0;
  for (const FormulaCase &one : cases)
    worth += 100 * int64_t(one.samples.count()) - int64_t(all);
  return worth;
}

/// The best of at most `divisions` divisions of `subset`, each of a side of the
/// one before. All divisions are tried first; of the sides without formulas,
/// the best few are divided further.
std::vector<FormulaCase> CaseFinder::findCases(const Subset &subset,
                                               unsigned divisions) {
  if (Result result = resultOf(subset); !result.formulas.empty())
    return {{{}, std::move(result.formulas), subset, {}}};
  if (divisions == 0 || subset.count() < 2 * minSamples)
    return {};
  struct Way {
    ArrayRef<Condition> split;
    std::vector<Subset> sides;
    size_t explained = 0;
  };
  std::vector<Way> ways;
  for (const std::vector<Condition> &split : splits) {
    Way way{split, {}};
    for (const Condition &side : split) {
      Subset &part = way.sides.emplace_back(subset);
      part &= side.samples;
      way.explained += resultOf(part).explained;
    }
    if (!is_contained(way.sides, subset))
      ways.push_back(std::move(way));
  }
  llvm::stable_sort(ways, [](const Way &a, const Way &b) {
    return a.explained > b.explained;
  });
  std::vector<FormulaCase> best;
  for (const Way &way : ArrayRef(ways).take_front(maxWays)) {
    std::vector<FormulaCase> cases;
    size_t covered = 0;
    for (auto [part, side] : zip_equal(way.sides, way.split))
      for (FormulaCase &one : findCases(part, divisions - 1)) {
        one.conditions.insert(one.conditions.begin(), side);
        covered += one.samples.count();
        cases.push_back(std::move(one));
      }
    if (worth(cases, samples.numInside) > worth(best, samples.numInside))
      best = std::move(cases);
    if (covered == subset.count())
      break;
  }
  return best;
}

std::vector<FormulaCase> CaseFinder::find() {
  std::vector<FormulaCase> cases = findCases(all, maxDivisions);
  for (FormulaCase &one : cases) {
    one.wrong = all;
    one.wrong.flip();
    for (const Condition &condition : one.conditions)
      one.wrong &= condition.samples;
    for (unsigned i : one.wrong.set_bits())
      if (haveValues(ArrayRef(one.values), samples.samples[i]))
        one.wrong.reset(i);
    one.samples.resize(samples.numInside);
  }
  return cases;
}

std::optional<unsigned> CaseFinder::firstContradiction() const {
  LinearSystem system(families[1].size());
  for (unsigned i = 0; i != samples.numInside; ++i)
    if (unknown[i] || !system.add(equation(i, families[1])))
      return i;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

std::vector<uint64_t> CaseFinder::equation(unsigned number,
                                           const Family &family) const {
  const FitSample &sample = samples.samples[number];
  std::vector<uint64_t> row;
  for (auto [a, b] : family)
    row.push_back(LinearSystem::residue(sample.atoms[a] * sample.atoms[b]));
  append_range(row, map_range(sample.values, LinearSystem::residue));
  return row;
}

/// True if each variable has three values among `subset`, or all that it has,
/// and each atom more values than determine the terms of this atom alone. What
/// holds for a few values of a variable may be a coincidence.
bool CaseFinder::isSpread(const Subset &subset,
                          ArrayRef<Polynomial> polynomials) const {
  auto hasValues = [&](unsigned atom, const Subset &numbers, size_t needed) {
    std::set<int64_t> values;
    for (unsigned i : numbers.set_bits()) {
      if (values.size() >= needed)
        break;
      values.insert(samples.samples[i].atoms[atom]);
    }
    return values.size() >= needed;
  };
  for (unsigned atom = 1; atom != samples.names.size(); ++atom) {
    size_t needed = atom > samples.numVariables ? 0 : 3;
    while (needed && needed <= 3 && !hasValues(atom, all, needed))
      --needed;
    for (const Polynomial &polynomial : polynomials)
      if (size_t terms = count_if(polynomial.terms, [&](const auto &term) {
            auto [a, b] = term.second;
            return b == atom && (a == 0 || a == atom);
          }))
        needed = std::max({needed, terms + 2, 2 * terms});
    if (!hasValues(atom, subset, needed))
      return false;
  }
  return true;
}

/// Fits polynomials to all samples of `subset`: those that are not held out
/// determine them, and they must agree with the others.
std::optional<CaseFinder::Piece> CaseFinder::fit(const Subset &subset,
                                                 const Family &family) {
  if (subset.anyCommon(unknown) || !subset.anyCommon(heldOut))
    return std::nullopt;
  LinearSystem system(family.size());
  for (unsigned i : order)
    if (subset[i] && !heldOut[i] &&
        (++work > maxWork || !system.add(equation(i, family))))
      return std::nullopt;
  Piece piece{{}, Subset(all.size())};
  for (const auto &factors : system.solution(samples.numComponents)) {
    Polynomial &polynomial = piece.values.emplace_back();
    for (auto [factor, atoms] : zip_equal(factors, family))
      if (!factor.isZero())
        polynomial.terms.push_back({factor, atoms});
    if (subset.count() < 2 * polynomial.terms.size() + 2)
      return std::nullopt;
  }
  auto explains = [&](unsigned i) {
    return haveValues(ArrayRef(piece.values), samples.samples[i]);
  };
  if (!isSpread(subset, piece.values) || !all_of(subset.set_bits(), explains))
    return std::nullopt;
  for (unsigned i : all.set_bits())
    piece.explains[i] = explains(i);
  return piece;
}

/// The pieces of half-spaces, those that explain the most samples first.
std::vector<CaseFinder::Piece> CaseFinder::pool(const Subset &subset,
                                                const Family &family) {
  std::vector<Piece> pieces;
  for (const Subset &half : halves) {
    Subset inside = subset;
    inside &= half;
    if (inside.count() < minSamples || any_of(pieces, [&](const Piece &known) {
          return !inside.test(known.explains);
        }))
      continue;
    if (std::optional<Piece> piece = fit(inside, family))
      pieces.push_back(std::move(*piece));
  }
  auto size = [&](const Piece &piece) {
    return (BitVector(subset) &= piece.explains).count();
  };
  llvm::stable_sort(pieces, [&](const Piece &a, const Piece &b) {
    return size(a) > size(b);
  });
  if (pieces.size() > maxPieces)
    pieces.resize(maxPieces);
  return pieces;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// The least or the largest of pieces that explain everything in `subset`. Each
/// alone explains twice as many samples as it has terms, which differ in all
/// variables and of which one is held out: a piece for a few samples could have
/// any form.
std::vector<Formula> CaseFinder::compose(ArrayRef<const Piece *> pieces,
                                         const Subset &subset) const {
  for (const Piece *piece : pieces) {
    Subset alone = subset;
    for (const Piece *other : pieces)
      if (other != piece)
        alone.reset(other->explains);
    if (!alone.anyCommon(heldOut) || !isSpread(alone, {}) ||
        any_of(piece->values, [&](const Polynomial &value) {
          return alone.count() < 2 * value.terms.size();
        }))
      return {};
  }
  std::vector<Formula> formulas(samples.numComponents);
  for (auto [i, formula] : enumerate(formulas)) {
    for (const Piece *piece : pieces)
      if (!is_contained(formula.parts, piece->values[i]))
        formula.parts.push_back(piece->values[i]);
    auto holds = [&, i = i, &formula = formula](bool isMax) {
      formula.isMax = isMax;
      return all_of(subset.set_bits(), [&](unsigned number) {
        const FitSample &sample = samples.samples[number];
        return formula.value(sample.atoms) == sample.values[i];
      });
    };
    if (!holds(false) && !holds(true))
      return {};
  }
  return formulas;
}

/// Formulas of `chosen`, one of `pieces`, and one or two more that explain what
/// remains of `rest`.
std::vector<Formula> CaseFinder::several(const Subset &subset,
                                         const Subset &rest,
                                         std::vector<const Piece *> chosen,
                                         ArrayRef<Piece> pieces,
                                         const Family &family) {
  chosen.push_back(nullptr);
  for (const Piece &piece : pieces) {
    Subset unexplained = rest;
    unexplained.reset(piece.explains);
    chosen.back() = &piece;
    std::vector<Formula> formulas;
    if (std::optional<Piece> last = fit(unexplained, family)) {
      chosen.push_back(&*last);
      formulas = compose(chosen, subset);
      chosen.pop_back();
    } else if (chosen.size() == 1) {
      formulas = several(subset, unexplained, chosen, pool(unexplained, family),
                         family);
    }
    if (!formulas.empty())
      return formulas;
  }
  return {};
}

} // namespace pipec
