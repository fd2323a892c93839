//===- ClauseFinder.cpp - Formulas with conditions on sizes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/ClauseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace pipec {

/// The least number of samples that a formula explains, besides three per term,
/// of those held out, and of the samples of a clause with a condition.
static constexpr size_t minSamples = 6, minHeldOut = 4, minConditional = 12;
/// The number of equations after which no more are fitted.
static constexpr size_t maxWork = 30000000;

/// A quotient of two variables.
struct Quotient {
  const char *text;
  int64_t (*value)(int64_t a, int64_t b);
};
static constexpr Quotient quotients[] = {
    {"ceil_div({0}, {1})",
     [](int64_t a, int64_t b) { return divideCeilSigned(a, b); }},
    {"ceil_div({0} - 1, {1})",
     [](int64_t a, int64_t b) { return divideCeilSigned(a - 1, b); }},
    // The largest part of `a` in even parts of at least `b`.
    {"ceil_div({0}, max(1, ({0} - {0} % {1}) / {1}))",
     [](int64_t a, int64_t b) {
       return divideCeilSigned(a, std::max<int64_t>(1, a / b));
     }},
};

void FitSamples::addQuotients() {
  for (unsigned divisor : divisors)
    for (const Quotient &quotient : quotients)
      names.push_back(formatv(quotient.text, names[1], names[divisor]));
  // Smaller values do not overflow in products.
  constexpr int64_t limit = int64_t(1) << 30;
  for (FitSample &sample : samples) {
    std::vector<int64_t> &atoms = sample.atoms;
    if (any_of(atoms, [](int64_t atom) { return atom < 0 || atom > limit; }) ||
        any_of(divisors, [&](unsigned divisor) { return !atoms[divisor]; })) {
      sample.values.clear();
      atoms.clear();
      continue;
    }
    for (unsigned divisor : divisors)
      for (const Quotient &quotient : quotients)
        atoms.push_back(quotient.value(atoms[1], atoms[divisor]));
  }
}

namespace {

class ClauseFinder {
public:
  explicit ClauseFinder(const FitSamples &figure)
      : figure(figure), samples(figure.samples), inside(samples.size()),
        heldOut(samples.size()), unknown(samples.size()),
        valuesOf(1 + figure.numVariables) {
    for (auto [i, sample] : enumerate(samples)) {
      inside[i] = i < figure.numInside;
      heldOut[i] = sample.use == SampleUse::HeldOut;
      unknown[i] = sample.values.empty();
      for (auto [values, atom] : zip(valuesOf, sample.atoms))
        if (inside[i])
          values.insert(atom);
    }
    addFamilies();
    addConditions();
  }

  std::vector<FoundClause> find() {
    std::vector<FoundClause> clauses;
    Subset covered(samples.size());
    for (const auto &[text, holds, met] : conditions) {
      FoundClause clause;
      clause.samples = met;
      clause.samples &= inside;
      clause.holds = holds;
      if (!text.empty())
        clause.conditions.push_back(text);
      Subset fresh = clause.samples;
      size_t count = fresh.count(), added = fresh.reset(covered).count();
      if (added != 0 && 100 * added >= inside.count() &&
          (text.empty() || count >= minConditional) && addFormulas(clause) &&
          addBounds(met, clause)) {
        covered |= clause.samples;
        clauses.push_back(std::move(clause));
      }
    }
    return clauses;
  }

private:
  using Subset = BitVector;
  using Family = std::vector<AtomProduct>;

  /// The products of up to two variables and quotients, the simplest last:
  /// first without quotients, then with each; a variable that equals a quotient
  /// is simpler.
  void addFamilies() {
    for (unsigned quotient = figure.numVariables;
         quotient != figure.names.size(); ++quotient) {
      auto atoms = to_vector(seq<unsigned>(1, valuesOf.size()));
      if (quotient > figure.numVariables)
        atoms.insert(atoms.begin(), quotient);
      Family &family = families.emplace_back();
      for (size_t i = 0; i != atoms.size(); ++i)
        for (unsigned second : ArrayRef(atoms).drop_front(i))
          family.push_back(std::minmax(atoms[i], second));
      for (unsigned atom : atoms)
        family.push_back({0, atom});
      family.push_back({0, 0});
    }
  }

  void addCondition(std::string text,
                    std::function<bool(ArrayRef<int64_t>)> holds) {
    Subset met(samples.size());
    for (auto [i, sample] : enumerate(samples))
      met[i] = sample.atoms.empty() || holds(sample.atoms);
    conditions.push_back({std::move(text), std::move(holds), std::move(met)});
  }

  /// `x * a >= y * b + bound`, and the opposite.
  void addComparison(int64_t x, unsigned a, int64_t y, unsigned b,
                     int64_t bound) {
    auto product = [&](int64_t factor, unsigned atom) {
      return (factor == 1 ? "" : itostr(factor) + " * ") + figure.names[atom];
    };
    bool isOne = bound == 1;
    std::string rest = product(y, b);
    if (bound != 0 && !isOne)
      rest += (bound < 0 ? " - " : " + ") + itostr(std::abs(bound));
    auto above = [=](ArrayRef<int64_t> at) {
      return x * at[a] - y * at[b] >= bound;
    };
    addCondition(product(x, a) + (isOne ? " > " : " >= ") + rest, above);
    addCondition(product(x, a) + (isOne ? " <= " : " < ") + rest,
                 std::not_fn(above));
  }

  void addConditions() {
    addCondition("", [](ArrayRef<int64_t>) { return true; });
    for (unsigned a : seq<unsigned>(1, valuesOf.size()))
      for (int64_t modulus : {2, 3})
        for (int64_t rest = 0; rest != modulus; ++rest)
          addCondition(
              formatv("{0} % {1} == {2}", figure.names[a], modulus, rest),
              [=](ArrayRef<int64_t> at) { return at[a] % modulus == rest; });
    for (unsigned b : figure.divisors)
      for (bool divides : {true, false})
        addCondition(formatv("{0} % {1} {2} 0", figure.names[1],
                             figure.names[b], divides ? "==" : "!="),
                     [=](ArrayRef<int64_t> at) {
                       return (at[1] % at[b] == 0) == divides;
                     });
    for (unsigned a : seq<unsigned>(1, valuesOf.size()))
      for (unsigned b : seq<unsigned>(a + 1, valuesOf.size()))
        for (auto [x, y] : {std::pair(1, 1), {1, 2}, {2, 1}})
          for (int64_t bound = -3; bound <= 3; ++bound)
            addComparison(x, a, y, b, bound);
    llvm::stable_sort(conditions, [&](const auto &a, const auto &b) {
      return (Subset(inside) &= a.met).count() >
             (Subset(inside) &= b.met).count();
    });
  }

  /// The samples at which a formula has the value of a component.
  Subset exactAt(const Formula &formula, size_t component) const {
    Subset exact(samples.size());
    for (auto [i, sample] : enumerate(samples))
      exact[i] = !unknown[i] &&
                 formula.value(sample.atoms) == sample.values[component];
    return exact;
  }

  /// True if there are enough samples, with at least three values of each
  /// variable (or all of the grid), and of each atom two more values than terms
  /// of this atom alone. What holds for a few values may be a coincidence.
  bool isSupported(const Subset &subset, const Polynomial &polynomial) const {
    if (subset.count() < std::max(minSamples, 3 * polynomial.terms.size()) ||
        (Subset(subset) &= heldOut).count() < minHeldOut)
      return false;
    for (unsigned atom : seq<unsigned>(1, figure.names.size())) {
      size_t own = count_if(polynomial.terms, [&](const auto &term) {
        auto [a, b] = term.second;
        return b == atom && (a == 0 || a == atom);
      });
      size_t least = atom < valuesOf.size() ? valuesOf[atom].size() : 0;
      std::set<int64_t> values;
      for (unsigned i : subset.set_bits())
        values.insert(samples[i].atoms[atom]);
      if (values.size() < (own ? own + 2 : std::min<size_t>(3, least)))
        return false;
    }
    return true;
  }

  /// The polynomial that is exact at all samples of `subset`.
  std::optional<Polynomial> fit(const Subset &subset, size_t component,
                                const Family &family) {
    // Neighbours on the grid say little that is new. In strides, equations soon
    // contradict each other.
    constexpr size_t stride = 37;
    std::vector<Equation> equations;
    for (size_t begin = 0; begin != stride; ++begin)
      for (size_t i = begin; i < figure.numInside; i += stride)
        if (subset[i] && !heldOut[i] && equations.size() != 4 * family.size())
          equations.push_back({samples[i].atoms, samples[i].values[component]});
    if ((work += equations.size()) > maxWork)
      return std::nullopt;
    std::optional<Polynomial> polynomial = fitPolynomial(family, equations);
    if (polynomial && isSupported(subset, *polynomial) &&
        !subset.test(exactAt({{*polynomial}}, component)))
      return polynomial;
    return std::nullopt;
  }

  /// A polynomial is fitted to the samples on one side of a condition, all for
  /// the first one, and a second to those that it does not explain, if any: the
  /// formula is the least or the largest of both.
  std::optional<Formula> fit(const Subset &subset, size_t component,
                             const Family &family, size_t numSides) {
    Subset explained(samples.size());
    for (const SizeCondition &side :
         ArrayRef(conditions).take_front(numSides)) {
      Subset part = subset, rest = subset;
      part &= side.met;
      if (part.count() < minSamples || !part.test(explained))
        continue;
      std::optional<Polynomial> first = fit(part, component, family);
      if (!first)
        continue;
      explained = exactAt({{*first}}, component);
      if (rest.reset(explained).none())
        return Formula{{*first}};
      if (std::optional<Polynomial> second = fit(rest, component, family))
        for (bool isMax : {false, true})
          if (Formula formula{{*first, *second}, isMax};
              !subset.test(exactAt(formula, component)))
            return formula;
    }
    return std::nullopt;
  }

  /// Adds formulas for the samples of a clause, first one polynomial each.
  /// Returns false if there are none.
  bool addFormulas(FoundClause &clause) {
    if (clause.samples.anyCommon(unknown))
      return false;
    size_t numComponents = samples[clause.samples.find_first()].values.size();
    for (size_t component : seq(numComponents)) {
      std::optional<Formula> formula;
      for (size_t numSides : {size_t(1), conditions.size()})
        for (const Family &family : families)
          if (!formula && (numSides == 1 || clause.conditions.empty() ||
                           &family == &families[0]))
            formula = fit(clause.samples, component, family, numSides);
      if (!formula)
        return false;
      clause.values.push_back(std::move(*formula));
    }
    return true;
  }

  /// Adds bounds that exclude samples outside that are below the grid and have
  /// other values. Returns false if there are others.
  bool addBounds(const Subset &met, FoundClause &clause) const {
    Subset wrong(samples.size());
    for (auto [component, formula] : enumerate(clause.values))
      wrong |= exactAt(formula, component).flip();
    wrong &= met;
    // One bound if it is enough, else all that exclude samples.
    for (bool one : {true, false})
      for (unsigned atom : seq<unsigned>(1, valuesOf.size())) {
        int64_t least = *valuesOf[atom].begin();
        Subset others = wrong;
        for (unsigned i : wrong.set_bits())
          others[i] =
              samples[i].atoms.empty() || samples[i].atoms[atom] >= least;
        if (one ? others.any() || wrong.none() : others == wrong)
          continue;
        wrong = others;
        clause.conditions.push_back(figure.names[atom] +
                                    " >= " + itostr(least));
      }
    return wrong.none();
  }

  const FitSamples &figure;
  ArrayRef<FitSample> samples;
  Subset inside, heldOut, unknown;
  /// By variable, as an atom, the values inside the grid.
  std::vector<std::set<int64_t>> valuesOf;
  std::vector<Family> families;
  /// The first one is empty, and all samples meet it.
  std::vector<SizeCondition> conditions;
  /// The number of equations so far.
  size_t work = 0;
};

} // namespace

std::vector<FoundClause> findClauses(const FitSamples &samples) {
  return ClauseFinder(samples).find();
}

} // namespace pipec
