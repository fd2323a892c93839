//===- CaseFinder.cpp - Finding the cases of a figure ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/CaseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <limits>
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

CaseFinder::CaseFinder(const FitSamples &samples) : samples(samples) {
  // The families: variables, their products, and those with one quotient.
  std::vector<unsigned> atoms(1 + samples.numVariables);
  std::iota(atoms.begin(), atoms.end(), 0);
  auto addFamily = [&](unsigned degree) {
    Family &family = families.emplace_back();
    for (size_t i = 0; i != (degree == 1 ? 1 : atoms.size()); ++i)
      for (unsigned second : ArrayRef(atoms).drop_front(i))
        family.products.push_back({atoms[i], second});
    for (const FitSample &sample : samples.samples) {
      std::vector<Residue> &row = family.equations.emplace_back();
      for (auto [a, b] : family.products)
        row.push_back(sample.atoms[a] * sample.atoms[b]);
      for (Rational value : sample.values)
        row.push_back(Residue(value));
    }
  };
  addFamily(1);
  addFamily(2);
  atoms.push_back(0);
  for (size_t atom = atoms.size() - 1; atom != samples.names.size(); ++atom) {
    atoms.back() = atom;
    addFamily(2);
  }

  // The forms of half-spaces.
  std::vector<unsigned> varied = samples.varied(), orNone = varied;
  orNone.push_back(0);
  auto add = [&](std::array<int64_t, 3> factors, unsigned a, unsigned b,
                 unsigned c) {
    Condition half;
    half.factors.resize(1 + samples.numVariables);
    half.factors[a] = factors[0];
    half.factors[b] += factors[1];
    half.factors[c] += factors[2];
    if (any_of(forms, [&](const Condition &other) {
          return other.factors == half.factors;
        }))
      return;
    forms.push_back(half);
    std::vector<int64_t> &values = formValues.emplace_back();
    for (const FitSample &sample : samples.samples)
      values.push_back(half.value(sample.atoms));
  };
  add({0, 0, 0}, 0, 0, 0);
  static constexpr std::array<int64_t, 3> patterns[] = {
      {1, 0, 0},  {1, -1, 0}, {1, -2, 0}, {1, -3, 0},
      {1, 1, -1}, {1, 1, -2}, {1, 2, -2}};
  for (auto [x, y, z] : patterns)
    for (unsigned a : varied)
      for (unsigned b : orNone)
        for (unsigned c : orNone)
          if (!y == !b && !z == !c && a != b && a != c && (!b || b != c)) {
            add({x, y, z}, a, b, c);
            add({-x, -y, -z}, a, b, c);
          }

  // The ways to divide samples into cases, the simplest first.
  auto condition = [&](unsigned a, Condition::Relation relation, int64_t bound,
                       int64_t modulus, unsigned divisor) {
    Condition condition{{}, relation, bound, modulus, divisor};
    condition.factors.resize(1 + samples.numVariables);
    condition.factors[a] = 1;
    return condition;
  };
  for (int64_t modulus : {2, 3})
    for (unsigned a : varied)
      for (Split &split = splits.emplace_back();
           split.size() != size_t(modulus);)
        split.push_back(
            condition(a, Condition::Relation::Equal, split.size(), modulus, 0));
  for (auto [a, b] : samples.divisions) {
    if (!is_contained(varied, a) || !is_contained(varied, b))
      continue;
    splits.push_back({condition(a, Condition::Relation::Equal, 0, 1, b),
                      condition(a, Condition::Relation::NotEqual, 0, 1, b)});
    for (auto [over, by] : {std::pair<int64_t, int64_t>(1, 1), {1, 2}, {2, 1}})
      for (int64_t bound : {0, 1, -1}) {
        Condition side =
            condition(a, Condition::Relation::AtLeast, bound, 0, 0);
        side.factors[a] = over, side.factors[b] = -by;
        splits.push_back({side, side.negated()});
      }
  }
}

const std::optional<std::vector<Formula>> &
CaseFinder::formulasOf(const Subset &subset) {
  auto [it, fresh] = known.try_emplace(subset);
  bool divided = subset.size() != samples.samples.size();
  if (!fresh || subset.size() < minSamples || !isSpread(subset) ||
      (divided && size_t(count_if(subset, [&](unsigned number) {
                    return samples.samples[number].heldOut;
                  })) < minHeldOut))
    return it->second;
  std::optional<std::vector<Formula>> formulas;
  for (const Family &family : families)
    if (std::optional<Piece> piece = fit(subset, family, 0, 0)) {
      formulas.emplace();
      for (Polynomial &value : piece->values)
        formulas->push_back({false, {std::move(value)}});
      break;
    }
  for (const Family &family : ArrayRef(families).take_front(divided ? 2 : ~0u))
    if (!formulas)
      formulas = several(subset, subset, {}, family);
  bool isConstant = true;
  size_t most = 0;
  for (const Formula &formula : formulas.value_or(std::vector<Formula>())) {
    most = std::max(most, formula.size());
    for (const Polynomial &part : formula.parts)
      for (const Polynomial::Term &term : part.terms)
        isConstant &= !term.atoms.second;
  }
  if (subset.size() >=
      std::max(3 * most, divided && isConstant ? minConstant : 0))
    it->second = std::move(formulas);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// The number of samples in the cases, where each case costs 1 % of `all`.
static int64_t worth(ArrayRef<FormulaCase> cases, size_t all) {
  int64_t worth = 0;
  for (const FormulaCase &one : cases)
    worth += 100 * int64_t(one.samples.size()) - int64_t(all);
  return worth;
}

/// The best of at most `divisions` divisions of `subset`, each of a side of the
/// one before. All divisions are tried first; of the sides without formulas,
/// the best few are divided further.
std::vector<FormulaCase> CaseFinder::findCases(const Subset &subset,
                                               unsigned divisions) {
  if (const auto &formulas = formulasOf(subset))
    return {{{}, *formulas, subset}};
  if (divisions == 0 || subset.size() < 2 * minSamples)
    return {};
  std::vector<Split> tried = splits;
  for (const Piece &piece : pool(subset, families.front()))
    tried.push_back({piece.half, piece.half.negated()});
  struct Way {
    Split split;
    std::vector<Subset> sides;
    size_t explained = 0;
  };
  std::vector<Way> ways;
  for (Split &split : tried) {
    Way &way = ways.emplace_back(Way{std::move(split), {}});
    for (const Condition &condition : way.split) {
      Subset &side = way.sides.emplace_back();
      copy_if(subset, std::back_inserter(side), [&](unsigned number) {
        return condition.holds(samples.samples[number].atoms);
      });
    }
    if (is_contained(way.sides, subset)) {
      ways.pop_back();
      continue;
    }
    bool complete = true;
    for (const Subset &side : way.sides) {
      bool found = formulasOf(side).has_value();
      complete &= found;
      if (found)
        way.explained += side.size();
      else if (divisions > 1 && none_of(side, [&](unsigned number) {
                 return samples.samples[number].values.empty();
               }))
        if (std::vector<Piece> pieces = pool(side, families.front());
            !pieces.empty())
          way.explained += pieces.front().numExplained;
    }
    if (complete)
      break;
  }
  llvm::stable_sort(ways, [](const Way &a, const Way &b) {
    return a.explained > b.explained;
  });
  std::vector<FormulaCase> best;
  for (const Way &way : ArrayRef(ways).take_front(maxWays)) {
    std::vector<FormulaCase> cases;
    size_t covered = 0;
    for (auto [side, condition] : zip_equal(way.sides, way.split))
      for (FormulaCase &one : findCases(side, divisions - 1)) {
        one.conditions.insert(one.conditions.begin(), condition);
        covered += one.samples.size();
        cases.push_back(std::move(one));
      }
    if (worth(cases, samples.samples.size()) >
        worth(best, samples.samples.size()))
      best = std::move(cases);
    if (covered == subset.size())
      break;
  }
  return best;
}

std::vector<FormulaCase> CaseFinder::find() {
  Subset all(samples.samples.size());
  std::iota(all.begin(), all.end(), 0);
  return findCases(all, maxDivisions);
}

std::optional<unsigned> CaseFinder::firstContradiction() const {
  LinearSystem system(families[1].products.size(), samples.numComponents);
  for (unsigned number = 0; number != samples.samples.size(); ++number)
    if (!system.add(families[1].equations[number]))
      return number;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Fitting polynomials to half-spaces
//===----------------------------------------------------------------------===//

/// How many pieces are tried, and the bounds of half-spaces.
static constexpr size_t maxPieces = 6;
static constexpr int64_t maxBound = 3;
/// The number of equations after which no more half-spaces are tried.
static constexpr size_t maxWork = 3000000;

/// True if the formulas, one per component, have the values of a sample.
template <typename FormulaT>
static bool haveValues(const std::vector<FormulaT> &formulas,
                       const FitSample &sample) {
  return !sample.values.empty() &&
         all_of(zip_equal(formulas, sample.values), [&](auto pair) {
           return std::get<0>(pair).value(sample.atoms) == std::get<1>(pair);
         });
}

bool FormulaCase::hold(const FitSample &sample) const {
  return haveValues(values, sample);
}

/// True if each variable has three values among `subset`, or all that it has.
/// What holds for one or two values of a variable may be a coincidence.
bool CaseFinder::isSpread(const Subset &subset) const {
  auto count = [&](unsigned variable, auto numbers) {
    std::set<int64_t> values;
    for (unsigned number : numbers) {
      values.insert(samples.samples[number].variable(variable));
      if (values.size() == 3)
        break;
    }
    return values.size();
  };
  auto all = seq<unsigned>(0, samples.samples.size());
  return all_of(seq<unsigned>(0, samples.numVariables), [&](unsigned i) {
    return count(i, subset) == count(i, all) || count(i, subset) == 3;
  });
}

/// True if the terms of each set of atoms have more different values of these
/// atoms in `subset` than determine them: samples that differ only in other
/// atoms say nothing about them.
bool CaseFinder::isSupported(const Polynomial &polynomial,
                             const Subset &subset) const {
  std::vector<unsigned> used;
  for (const Polynomial::Term &term : polynomial.terms)
    for (unsigned atom : {term.atoms.first, term.atoms.second})
      if (atom && !is_contained(used, atom))
        used.push_back(atom);
  for (unsigned set = 1; set < 1u << used.size(); ++set) {
    Subset atoms = {0};
    for (auto [i, atom] : enumerate(used))
      if (set >> i & 1)
        atoms.push_back(atom);
    size_t terms = count_if(polynomial.terms, [&](const auto &term) {
      return term.atoms.second && is_contained(atoms, term.atoms.first) &&
             is_contained(atoms, term.atoms.second);
    });
    size_t needed = terms ? std::max(terms + 2, 2 * terms) : 0;
    std::set<std::vector<int64_t>> different;
    for (unsigned number : subset) {
      if (different.size() >= needed)
        break;
      std::vector<int64_t> values;
      for (unsigned atom : atoms)
        values.push_back(samples.samples[number].atoms[atom]);
      different.insert(std::move(values));
    }
    if (different.size() < needed)
      return false;
  }
  return true;
}

/// Fits polynomials to the samples of `subset` in a half-space: those that are
/// not held out determine them, and they must agree with the others.
std::optional<CaseFinder::Piece> CaseFinder::fit(const Subset &subset,
                                                 const Family &family,
                                                 unsigned form, int64_t bound) {
  LinearSystem system(family.products.size(), samples.numComponents);
  Subset inside;
  bool tested = false;
  // Neighbours on the grid say little that is new. In strides, a system of
  // equations soon contradicts itself.
  constexpr size_t stride = 37;
  for (size_t begin = 0; begin != stride; ++begin)
    for (size_t i = begin; i < subset.size(); i += stride) {
      unsigned number = subset[i];
      if (formValues[form][number] < bound)
        continue;
      if (samples.samples[number].values.empty())
        return std::nullopt;
      inside.push_back(number);
      if (samples.samples[number].heldOut) {
        tested = true;
        continue;
      }
      ++work;
      if (!system.add(family.equations[number]))
        return std::nullopt;
    }
  auto solution = system.solution();
  if (!tested || !solution)
    return std::nullopt;
  Piece piece;
  for (const std::vector<Rational> &factors : *solution) {
    Polynomial &polynomial = piece.values.emplace_back();
    for (auto [factor, atoms] : zip_equal(factors, family.products))
      if (!factor.isZero())
        polynomial.terms.push_back({factor, atoms});
    if (inside.size() < 2 * polynomial.terms.size() + 2 ||
        !isSupported(polynomial, inside))
      return std::nullopt;
  }
  piece.explains.resize(samples.samples.size());
  for (unsigned number : inside)
    if (!haveValues(piece.values, samples.samples[number]))
      return std::nullopt;
  for (auto [number, sample] : enumerate(samples.samples))
    if (haveValues(piece.values, sample))
      piece.explains.set(number);
  piece.half = forms[form];
  piece.half.bound = bound;
  piece.numInside = inside.size();
  return piece;
}

/// The pieces of half-spaces, those that explain the most samples first.
std::vector<CaseFinder::Piece> CaseFinder::pool(const Subset &subset,
                                                const Family &family) {
  std::vector<Piece> pieces;
  for (unsigned form = 1; form != forms.size(); ++form)
    for (int64_t bound = -maxBound; bound <= maxBound; ++bound) {
      if (work > maxWork)
        return pieces;
      std::optional<Piece> piece = fit(subset, family, form, bound);
      if (!piece)
        continue;
      piece->numExplained = count_if(
          subset, [&](unsigned number) { return piece->explains[number]; });
      // Of the bounds with the same samples, the one nearest to 0.
      int64_t least = std::numeric_limits<int64_t>::max(), most = -least;
      for (unsigned number : subset) {
        int64_t value = formValues[form][number];
        if (value >= bound)
          least = std::min(least, value);
        else
          most = std::max(most, value);
      }
      piece->half.bound = std::min(least, std::max<int64_t>(most + 1, 0));
      auto same = find_if(pieces, [&](const Piece &other) {
        return other.values == piece->values;
      });
      if (same == pieces.end())
        pieces.push_back(std::move(*piece));
      else if (same->numInside < piece->numInside)
        *same = std::move(*piece);
      break;
    }
  llvm::stable_sort(pieces, [](const Piece &a, const Piece &b) {
    return a.numExplained > b.numExplained;
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
std::optional<std::vector<Formula>>
CaseFinder::compose(ArrayRef<const Piece *> pieces,
                    const Subset &subset) const {
  for (const Piece *piece : pieces) {
    Subset alone;
    for (unsigned number : subset)
      if (none_of(pieces, [&](const Piece *other) {
            return other->explains[number] != (other == piece);
          }))
        alone.push_back(number);
    if (none_of(alone,
                [&](unsigned i) { return samples.samples[i].heldOut; }) ||
        any_of(piece->values,
               [&](const Polynomial &value) {
                 return alone.size() < 2 * value.terms.size();
               }) ||
        !isSpread(alone))
      return std::nullopt;
  }
  std::vector<Formula> formulas;
  for (unsigned i = 0; i != samples.numComponents; ++i) {
    Formula &formula = formulas.emplace_back();
    for (const Piece *piece : pieces)
      if (!is_contained(formula.parts, piece->values[i]))
        formula.parts.push_back(piece->values[i]);
    auto holds = [&](bool isMax) {
      formula.isMax = isMax;
      return all_of(subset, [&](unsigned number) {
        const FitSample &sample = samples.samples[number];
        return formula.value(sample.atoms) == sample.values[i];
      });
    };
    if (!holds(false) && !holds(true))
      return std::nullopt;
  }
  return formulas;
}

/// Formulas of `chosen` and one or two more pieces, which explain `rest`.
std::optional<std::vector<Formula>>
CaseFinder::several(const Subset &subset, const Subset &rest,
                    SmallVector<const Piece *, 3> chosen,
                    const Family &family) {
  if (!chosen.empty())
    if (std::optional<Piece> last = fit(rest, family, 0, 0)) {
      chosen.push_back(&*last);
      return compose(chosen, subset);
    }
  if (chosen.size() == 2)
    return std::nullopt;
  chosen.push_back(nullptr);
  for (const Piece &piece : pool(rest, family)) {
    Subset unexplained;
    copy_if(rest, std::back_inserter(unexplained),
            [&](unsigned number) { return !piece.explains[number]; });
    chosen.back() = &piece;
    if (auto formulas = several(subset, unexplained, chosen, family))
      return formulas;
  }
  return std::nullopt;
}

} // namespace pipec
