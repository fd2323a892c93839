//===- ClauseFinder.cpp - Formulas with conditions on sizes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/ClauseFinder.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace llvm;

namespace pipec {

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

void FitSamples::addTerms() {
  numVariables = names.size() - 1;
  // Smaller values do not overflow in products.
  constexpr int64_t limit = int64_t(1) << 30;
  for (const FitSample &sample : samples)
    if (any_of(sample.atoms, [](int64_t x) { return x < 0 || x > limit; }) ||
        any_of(divisors, [&](unsigned b) { return !sample.atoms[b]; }))
      return samples.clear();
  auto add = [&](const std::string &text, auto value) {
    names.push_back(text);
    for (FitSample &sample : samples)
      sample.atoms.push_back(value(sample.atoms));
  };
  for (unsigned b : divisors)
    for (const Quotient &quotient : quotients)
      add(formatv(quotient.text, names[1], names[b]),
          [&](auto &at) { return quotient.value(at[1], at[b]); });
  std::vector<unsigned> variables(numVariables);
  std::iota(variables.begin(), variables.end(), 1);
  families = {variables};
  for (unsigned quotient : seq<unsigned>(numVariables, names.size())) {
    std::vector<unsigned> factors = variables;
    if (quotient > numVariables)
      factors.insert(factors.begin(), quotient);
    std::vector<unsigned> &family = families.emplace_back();
    for (auto [i, a] : enumerate(factors))
      for (unsigned b : ArrayRef(factors).drop_front(i)) {
        family.push_back(names.size());
        add(names[std::min(a, b)] + " * " + names[std::max(a, b)],
            [a = a, b](auto &at) { return at[a] * at[b]; });
      }
    append_range(family, factors);
  }
  for (std::vector<unsigned> &family : families)
    family.push_back(0);
}

namespace {

class ClauseFinder {
public:
  explicit ClauseFinder(const FitSamples &figure)
      : figure(figure), samples(figure.samples), fitted(samples.size()) {
    for (auto [i, sample] : enumerate(samples))
      fitted[i] = !sample.isHeldOut;
    addConditions();
  }

  /// Sizes with a variable that is 1 are often special: formulas are found for
  /// the other sizes, from the least fitted ones on, and a clause has the
  /// bounds that exclude sizes at which the formulas are wrong.
  std::vector<FoundClause> find() {
    std::vector<FoundClause> clauses;
    std::vector<std::vector<Candidate>> candidates;
    for (const FitSample &sample : samples)
      while (candidates.size() < sample.values.size())
        candidates.push_back(findFormulas(candidates.size()));
    Subset open(samples.size(), true);
    for (const SizeCondition &condition : conditions) {
      FoundClause clause{both(condition, bounds.back()), {}};
      const Subset &inner = clause.condition.met;
      Subset fresh = open, wrong(samples.size());
      size_t added = (fresh &= inner).count();
      // What holds for a few samples may be a coincidence.
      constexpr size_t minSamples = 12;
      if (added == 0 || candidates.empty() || 200 * added < samples.size() ||
          (!condition.text.empty() && inner.count() < minSamples))
        continue;
      for (const std::vector<Candidate> &known : candidates) {
        auto found = find_if(known, [&](const Candidate &each) {
          return !inner.test(each.exact);
        });
        if (found == known.end())
          break;
        clause.values.push_back(found->formula);
        wrong |= Subset(found->exact).flip();
      }
      if (clause.values.size() != candidates.size())
        continue;
      for (const SizeCondition &bound : reverse(bounds))
        if (SizeCondition bounded = both(condition, bound);
            bounded.met.count() >= inner.count() &&
            !bounded.met.anyCommon(wrong))
          clause.condition = bounded;
      open.reset(clause.condition.met);
      clauses.push_back(std::move(clause));
    }
    return clauses;
  }

private:
  using Subset = BitVector;

  /// A formula, and the samples at which it has the value of a component; of a
  /// polynomial, also those at which it is not below and not above it.
  struct Candidate {
    Formula formula;
    Subset exact;
    Subset notBelow = {}, notAbove = {};
  };

  SizeCondition make(std::string text,
                     std::function<bool(ArrayRef<int64_t>)> holds) const {
    Subset met(samples.size());
    for (auto [i, sample] : enumerate(samples))
      met[i] = holds(sample.atoms);
    return {std::move(text), std::move(holds), std::move(met)};
  }

  SizeCondition both(const SizeCondition &a, const SizeCondition &b) const {
    bool isEither = a.text.empty() || b.text.empty();
    return make(a.text + (isEither ? "" : " && ") + b.text,
                [a = a.holds, b = b.holds](auto at) { return a(at) && b(at); });
  }

  void addConditions() {
    bounds = {make("", [](auto) { return true; })};
    conditions = bounds;
    auto add = [&](const auto &text, auto holds) {
      conditions.push_back(make(text, holds));
    };
    auto product = [&](int64_t factor, unsigned a) {
      return (factor == 1 ? "" : itostr(factor) + " * ") + figure.names[a];
    };
    auto offset = [](int64_t more) {
      std::string number = itostr(std::abs(more));
      return more == 0 ? "" : (more < 0 ? " - " : " + ") + number;
    };
    for (unsigned a : seq<unsigned>(1, figure.numVariables + 1)) {
      const std::string &name = figure.names[a];
      for (int64_t modulus : {2, 3})
        for (int64_t rest = 0; rest != modulus; ++rest)
          add(formatv("{0} % {1} == {2}", name, modulus, rest),
              [=](auto at) { return at[a] % modulus == rest; });
      if (is_contained(figure.divisors, a))
        for (bool divides : {true, false})
          add(formatv("{0} % {1} {2} 0", figure.names[1], name,
                      divides ? "==" : "!="),
              [=](auto at) { return (at[1] % at[a] == 0) == divides; });
      for (unsigned b : seq<unsigned>(a + 1, figure.numVariables + 1))
        for (auto [x, y] : {std::pair(1, 1), {1, 2}, {2, 1}})
          for (int64_t more = -3; more <= 3; ++more)
            for (int64_t sign : {1, -1})
              add(product(x, a) + (sign == 1 ? " >= " : " <= ") +
                      product(y, b) + offset(more),
                  [=, x = x, y = y](auto at) {
                    return sign * (x * at[a] - y * at[b] - more) >= 0;
                  });
      std::set<int64_t> values = valuesOf(a, fitted);
      values.erase(1);
      if (values.empty() || *values.begin() == 0)
        continue;
      int64_t least = *values.begin();
      SizeCondition bound = make(name + " >= " + itostr(least),
                                 [=](auto at) { return at[a] >= least; });
      for (size_t i = 0, end = bounds.size(); i != end; ++i)
        bounds.push_back(both(bounds[i], bound));
    }
    llvm::stable_sort(conditions, [](const auto &a, const auto &b) {
      return a.met.count() > b.met.count();
    });
  }

  /// The values of an atom.
  std::set<int64_t> valuesOf(unsigned atom, const Subset &subset) const {
    std::set<int64_t> values;
    for (unsigned i : subset.set_bits())
      values.insert(samples[i].atoms[atom]);
    return values;
  }

  Candidate candidate(const Polynomial &polynomial, size_t component) const {
    Subset notBelow(samples.size()), notAbove = notBelow;
    for (auto [i, sample] : enumerate(samples))
      if (std::optional<Rational> value = polynomial.value(sample.atoms);
          value && !sample.values.empty()) {
        notBelow[i] = *value >= sample.values[component];
        notAbove[i] = *value <= sample.values[component];
      }
    Subset exact = notBelow;
    exact &= notAbove;
    return {{{polynomial}}, std::move(exact), notBelow, notAbove};
  }

  /// The least or the largest of two polynomials.
  static Candidate both(const Candidate &a, const Candidate &b, bool isMax) {
    Subset first = isMax ? b.notAbove : b.notBelow,
           second = isMax ? a.notAbove : a.notBelow;
    first &= a.exact;
    second &= b.exact;
    return {{{a.formula.parts[0], b.formula.parts[0]}, isMax}, first |= second};
  }

  /// The polynomial that is exact at all samples of `subset`, if these are many
  /// more than could determine it, with enough values of each variable.
  std::optional<Candidate> fit(const Subset &subset, size_t component,
                               ArrayRef<unsigned> family) const {
    // Neighbours on the grid say little that is new. In strides, equations soon
    // contradict each other.
    constexpr size_t stride = 37, minSamples = 6, minHeldOut = 4;
    std::vector<Equation> equations;
    size_t numHeldOut = 0;
    for (size_t begin = 0; begin != stride; ++begin)
      for (size_t i = begin; i < samples.size(); i += stride)
        if (subset[i] && samples[i].values.empty())
          return std::nullopt;
        else if (subset[i] && samples[i].isHeldOut)
          ++numHeldOut;
        else if (subset[i] && equations.size() != 4 * family.size())
          equations.push_back({samples[i].atoms, samples[i].values[component]});
    if (numHeldOut < minHeldOut || subset.count() < minSamples)
      return std::nullopt;
    std::optional<Polynomial> polynomial = fitPolynomial(family, equations);
    if (!polynomial || subset.count() < 3 * polynomial->terms.size())
      return std::nullopt;
    for (unsigned i : subset.set_bits())
      if (polynomial->value(samples[i].atoms) != samples[i].values[component])
        return std::nullopt;
    for (unsigned atom : seq<unsigned>(1, figure.names.size())) {
      bool isVariable = atom <= figure.numVariables;
      size_t least =
          isVariable ? std::min<size_t>(3, valuesOf(atom, bounds[0].met).size())
                     : 0;
      if (is_contained(make_second_range(polynomial->terms), atom))
        least = isVariable ? 3 : 4;
      if (valuesOf(atom, subset).size() < least)
        return std::nullopt;
    }
    return candidate(*polynomial, component);
  }

  /// The polynomials that are exact where one or two conditions are met, and
  /// the least and the largest of two of them.
  std::vector<Candidate> findFormulas(size_t component) const {
    std::vector<Candidate> found;
    for (ArrayRef<unsigned> family : figure.families) {
      DenseSet<Subset> tried;
      for (size_t i = 0; i != conditions.size(); ++i)
        for (const SizeCondition &other :
             ArrayRef(conditions)
                 .take_front(family == ArrayRef(figure.families[0]) ? i + 1
                                                                    : 1)) {
          Subset side = bounds.back().met;
          side &= conditions[i].met;
          side &= other.met;
          if (tried.insert(side).second && none_of(found, [&](auto &each) {
                return !side.test(each.exact);
              }))
            if (auto first = fit(side, component, family))
              found.push_back(*first);
        }
    }
    for (size_t i = 0, end = found.size(); i != end; ++i)
      for (size_t j = 0; j != i; ++j)
        for (bool isMax : {false, true})
          found.push_back(both(found[j], found[i], isMax));
    return found;
  }

  const FitSamples &figure;
  ArrayRef<FitSample> samples;
  Subset fitted;
  /// The first of both is empty, and all samples meet it. The last bound
  /// excludes all sizes for which formulas are not found.
  std::vector<SizeCondition> conditions, bounds;
};

} // namespace

std::vector<FoundClause> findClauses(const FitSamples &samples) {
  return ClauseFinder(samples).find();
}

} // namespace pipec
