//===- ClauseFinder.cpp - Formulas with conditions on sizes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/ClauseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Sequence.h"
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
      inside[i] = sample.use != SampleUse::Outside;
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
    llvm::stable_sort(conditions, [&](const Condition &a, const Condition &b) {
      return (Subset(inside) &= a.samples).count() >
             (Subset(inside) &= b.samples).count();
    });
    std::vector<FoundClause> clauses;
    Subset covered(samples.size());
    for (const auto &[text, met] : conditions) {
      FoundClause clause;
      clause.samples = met;
      clause.samples &= inside;
      Subset fresh = clause.samples, wrong = met;
      fresh.reset(covered);
      if (!text.empty())
        clause.conditions.push_back(text);
      if (clause.samples.anyCommon(unknown) || fresh.none() ||
          (!text.empty() && clause.samples.count() < minConditional) ||
          100 * fresh.count() < inside.count() || !addFormulas(clause))
        continue;
      Subset exact = met;
      for (auto [component, formula] : enumerate(clause.values))
        exact &= exactAt(formula, component);
      wrong.reset(exact);
      if (addBounds(wrong, clause)) {
        covered |= clause.samples;
        clauses.push_back(std::move(clause));
      }
    }
    return clauses;
  }

private:
  using Subset = BitVector;
  /// The products of a polynomial, the simplest last.
  using Family = std::vector<AtomProduct>;
  struct Condition {
    std::string text;
    Subset samples;
  };

  /// Products of variables, and of variables and one quotient.
  void addFamilies() {
    auto add = [&](ArrayRef<unsigned> atoms, bool products) {
      Family &family = families.emplace_back();
      for (size_t i = 0; products && i != atoms.size(); ++i)
        for (unsigned second : atoms.drop_front(i))
          family.push_back({atoms[i], second});
      // Where a quotient equals a variable, the variable is simpler.
      size_t last = family.size();
      for (unsigned atom : atoms)
        family.insert(atom < valuesOf.size() ? family.end()
                                             : family.begin() + last,
                      {0, atom});
      family.push_back({0, 0});
    };
    auto variables = to_vector(seq<unsigned>(1, 1 + figure.numVariables));
    add(variables, false);
    add(variables, true);
    for (unsigned atom : seq<unsigned>(valuesOf.size(), figure.names.size())) {
      variables.push_back(atom);
      add(variables, true);
      variables.pop_back();
    }
  }

  void addConditions() {
    using Atoms = ArrayRef<int64_t>;
    auto add = [&](std::string text, function_ref<bool(Atoms)> holds) {
      Subset &met = conditions.emplace_back(Condition{text, inside}).samples;
      for (auto [i, sample] : enumerate(samples))
        met[i] = sample.atoms.empty() || holds(sample.atoms);
    };
    auto product = [&](int64_t factor, unsigned atom) {
      return (factor == 1 ? "" : itostr(factor) + " * ") + figure.names[atom];
    };
    // `x * a >= y * b + bound`, or the opposite.
    auto compare = [&](unsigned a, unsigned b) {
      for (auto [x, y] : {std::pair(1, 1), {1, 2}, {2, 1}})
        for (int64_t bound = -3; bound <= 3; ++bound)
          for (bool wanted : {true, false}) {
            const char *relation = bound == 1 ? (wanted ? " > " : " <= ")
                                              : (wanted ? " >= " : " < ");
            std::string text = product(x, a) + relation + product(y, b);
            if (bound != 0 && bound != 1)
              text += (bound < 0 ? " - " : " + ") + itostr(std::abs(bound));
            add(text, [&, x = x, y = y](Atoms at) {
              return (x * at[a] - y * at[b] >= bound) == wanted;
            });
          }
    };
    add("", [](Atoms) { return true; });
    for (unsigned a : seq<unsigned>(1, valuesOf.size()))
      for (int64_t modulus : {2, 3})
        for (int64_t rest = 0; rest != modulus; ++rest)
          add(formatv("{0} % {1} == {2}", figure.names[a], modulus, rest),
              [&](Atoms at) { return at[a] % modulus == rest; });
    for (unsigned b : figure.divisors) {
      for (bool wanted : {true, false})
        add(formatv("{0} % {1} {2} 0", figure.names[1], figure.names[b],
                    wanted ? "==" : "!="),
            [&](Atoms at) { return (at[1] % at[b] == 0) == wanted; });
    }
    for (unsigned a : seq<unsigned>(1, valuesOf.size()))
      for (unsigned b : seq<unsigned>(a + 1, valuesOf.size()))
        compare(a, b);
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
      size_t needed = count_if(polynomial.terms, [&](const auto &term) {
        auto [a, b] = term.second;
        return b == atom && (a == 0 || a == atom);
      });
      if (needed)
        needed += 2;
      else if (atom < valuesOf.size())
        needed = std::min<size_t>(3, valuesOf[atom].size());
      std::set<int64_t> values;
      for (unsigned i : subset.set_bits())
        if (values.size() < needed)
          values.insert(samples[i].atoms[atom]);
      if (values.size() < needed)
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
      for (size_t i = begin; i < samples.size(); i += stride)
        if (subset[i] && !heldOut[i])
          equations.push_back({samples[i].atoms, samples[i].values[component]});
    if ((work += equations.size()) > maxWork)
      return std::nullopt;
    std::optional<Polynomial> polynomial = fitPolynomial(family, equations);
    if (polynomial && isSupported(subset, *polynomial) &&
        !subset.test(exactAt({{*polynomial}}, component)))
      return polynomial;
    return std::nullopt;
  }

  /// The least or the largest of two polynomials: one is fitted to the samples
  /// on one side of a comparison, the other to those that it does not explain.
  std::optional<Formula> pieces(const Subset &subset, size_t component,
                                const Family &family) {
    Subset explained(samples.size());
    for (const Condition &side : conditions) {
      Subset part = subset, rest = subset;
      part &= side.samples;
      if (part.count() < minSamples || part == rest || !part.test(explained))
        continue;
      std::optional<Polynomial> first = fit(part, component, family);
      if (!first)
        continue;
      explained = exactAt({{*first}}, component);
      rest.reset(explained);
      if (std::optional<Polynomial> second = fit(rest, component, family))
        for (bool isMax : {false, true})
          if (Formula formula{{*first, *second}, isMax};
              !subset.test(exactAt(formula, component)))
            return formula;
    }
    return std::nullopt;
  }

  /// Adds formulas for the samples of a clause. Returns false if there are
  /// none.
  bool addFormulas(FoundClause &clause) {
    size_t numWithPieces = clause.conditions.empty() ? families.size() : 1;
    for (size_t component : seq(figure.numComponents)) {
      std::optional<Formula> formula;
      for (const Family &family : families)
        if (!formula)
          if (auto polynomial = fit(clause.samples, component, family))
            formula = Formula{{*polynomial}};
      for (const Family &family : ArrayRef(families).take_front(numWithPieces))
        if (!formula)
          formula = pieces(clause.samples, component, family);
      if (!formula)
        return false;
      clause.values.push_back(std::move(*formula));
    }
    return true;
  }

  /// Adds conditions that exclude all samples of `wrong`, which have smaller
  /// values than those of the grid. Returns false if it has others.
  bool addBounds(Subset wrong, FoundClause &clause) const {
    // One bound if it is enough, else all that exclude samples.
    for (bool one : {true, false})
      for (unsigned atom : seq<unsigned>(1, valuesOf.size())) {
        int64_t least = *valuesOf[atom].begin();
        Subset others = wrong;
        for (unsigned i : wrong.set_bits())
          if (samples[i].atoms[atom] < least)
            others.reset(i);
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
  /// The first two have no quotients, and degrees 1 and 2.
  std::vector<Family> families;
  /// The first one is always met.
  std::vector<Condition> conditions;
  /// The number of equations so far.
  size_t work = 0;
};

} // namespace

std::vector<FoundClause> findClauses(const FitSamples &samples) {
  return ClauseFinder(samples).find();
}

} // namespace pipec
