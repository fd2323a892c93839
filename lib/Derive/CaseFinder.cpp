//===- CaseFinder.cpp - Finding the cases of a figure ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/CaseFinder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

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
/// those of the best few are divided further.
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

} // namespace pipec
