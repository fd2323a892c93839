//===- Pieces.cpp - Fitting polynomials to half-spaces --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/CaseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <limits>
#include <set>

using namespace llvm;

namespace pipec {

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
