//===- Derivation.cpp - Closed forms of measured figures ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/Derivation.h"

#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace llvm;

namespace pipec {

bool Derivation::hasClauses() const {
  return any_of(figures, [](const DerivedFigure &figure) {
    return !figure.clauses.empty();
  });
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static std::string overlapText(const CostSettings::Overlap &overlap) {
  std::vector<std::string> members;
  for (StepKind kind : overlap.members)
    members.push_back(stepKindName(kind).str());
  return "cost(" + join(members, " & ") + ")";
}

std::string Deriver::letterText(CostLetter letter) const {
  switch (letter) {
  case CostLetter::F:
    return "F";
  case CostLetter::B:
    return "B";
  case CostLetter::I:
    return "I";
  case CostLetter::W:
    return "W";
  case CostLetter::P2P:
    return "cost(p2p)";
  case CostLetter::Overlap:
    return overlapText(measured.steps().overlaps.front());
  }
  llvm_unreachable("every letter has a text");
}

/// The condition that the costs are those of the schedule.
std::string Deriver::ownCostsText() const {
  const StepsUsed &used = measured.steps();
  std::vector<std::string> texts;
  auto add = [&](const std::string &cost, Rational value) {
    std::string text;
    raw_string_ostream(text) << cost << " == " << value;
    texts.push_back(text);
  };
  for (CostLetter letter :
       {CostLetter::F, CostLetter::B, CostLetter::I, CostLetter::W})
    if (StringRef(used.letters).contains("FBIW"[unsigned(letter)]))
      add(letterText(letter), used.costs[unsigned(letter)]);
  for (const CostSettings::Overlap &overlap : used.overlaps)
    add(overlapText(overlap), overlap.cost);
  add("cost(p2p)", used.costs[unsigned(CostLetter::P2P)]);
  if (!used.occupancy.isZero())
    add("cost(occupancy)", used.occupancy);
  return join(texts, " && ");
}

void Deriver::chooseRegimes() {
  const StepsUsed &used = measured.steps();
  if (!used.onlyLetters)
    return;
  // The cones have the letters of the steps only.
  CostVector own = used.costs;
  for (unsigned letter = 0; letter != std::size("FBIW&") - 1; ++letter)
    if (!StringRef(used.letters).contains("FBIW&"[letter]))
      own[letter] = 0;
  auto indexOf = [&](const CostVector &vector) {
    auto it = find(costs, vector);
    size_t index = it - costs.begin();
    if (it == costs.end())
      costs.push_back(vector);
    return index;
  };
  for (CostCone &cone : costConesFor(used.letters)) {
    if (ownCosts && !used.costsVary && !cone.contains(own))
      continue;
    Regime regime;
    for (const CostVector &ray : cone.rays)
      regime.rays.push_back(indexOf(ray));
    regime.inside = indexOf(cone.inside());
    regime.condition = cone.condition.str();
    constexpr StringLiteral overlap = "cost(&)";
    for (size_t at; (at = regime.condition.find(overlap)) != std::string::npos;)
      regime.condition.replace(at, overlap.size(),
                               letterText(CostLetter::Overlap));
    regime.cone = std::move(cone);
    regimes.push_back(std::move(regime));
  }
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// The text of a default value, as an operand of `==`.
static std::string defaultText(const ast::Expr *value) {
  const char *begin = value->range.Start.getPointer();
  StringRef text(begin, value->range.End.getPointer() - begin);
  bool word = all_of(text, isWordByte);
  return word ? text.str() : "(" + text.str() + ")";
}

/// Parameters that the grid gives several values are variables, micro-batches
/// first. The others have one value, or that of their default.
void Deriver::findVariables() {
  std::set<std::string> given;
  for (const auto &[name, value] : grid.point(*schedule.decl))
    given.insert(name);
  ArrayRef<SizeFigures> sizes = measured.sizes();
  for (auto [i, param] : enumerate(schedule.decl->params)) {
    const std::string name = param.name.text.str();
    bool isGiven = given.count(name) || given.count(param.label.text.str());
    int64_t first = sizes[0].params[i].second;
    bool varies = any_of(sizes, [&, i = i](const SizeFigures &size) {
      return size.params[i].second != first;
    });
    if (isGiven && varies)
      variables.push_back(i);
    else if (isGiven || !varies)
      fixed.push_back(name + " == " + std::to_string(first));
    else
      fixed.push_back(name + " == " + defaultText(param.defaultValue));
  }
  auto order = [&](unsigned i) {
    const ast::ParamDecl *param = &schedule.decl->params[i];
    return param == schedule.microbatches ? 0
           : param == schedule.ranks      ? 1
           : param == schedule.chunks     ? 2
                                          : 3;
  };
  llvm::stable_sort(
      variables, [&](unsigned a, unsigned b) { return order(a) < order(b); });
}

FitSamples Deriver::emptySamples(bool perRank) const {
  FitSamples samples;
  for (unsigned i : variables)
    samples.names.push_back(schedule.decl->params[i].name.text.str());
  if (perRank)
    samples.names.push_back("rank");
  for (auto [number, i] : enumerate(variables))
    if (&schedule.decl->params[i] == schedule.microbatches)
      for (auto [other, j] : enumerate(variables))
        if (&schedule.decl->params[j] != schedule.chunks && i != j)
          samples.divisions.push_back({unsigned(number), unsigned(other)});
  return samples;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static Rational timeOf(Expectation::Metric metric, const TimesUnder &times,
                       unsigned rank) {
  switch (metric) {
  case Expectation::Metric::Makespan:
    return times.makespan;
  case Expectation::Metric::Span:
    return times.span;
  default:
    return times.idle[rank];
  }
}

/// The factors of the letters in a time that is a sum over them in the whole
/// regime; empty if it is not.
std::vector<Rational> Deriver::factors(Expectation::Metric metric,
                                       const SizeFigures &size, unsigned rank,
                                       const Regime &regime) const {
  auto isSum = [&](auto time) {
    std::optional<Rational> sum = Rational(0);
    for (size_t ray : regime.rays) {
      sum = Rational::add(*sum, time(size.under[ray]));
      if (!sum)
        return false;
    }
    return *sum == time(size.under[regime.inside]);
  };
  auto time = [&](const TimesUnder &times) {
    return timeOf(metric, times, rank);
  };
  if (!isSum(time))
    return {};
  // A span is the end of a rank minus its start, which is convex only if the
  // start is a sum.
  for (unsigned each = 0;
       metric == Expectation::Metric::Span && each != size.numRanks; ++each)
    if (!isSum([&](const TimesUnder &times) { return times.starts[each]; }))
      return {};
  std::vector<Rational> values;
  for (size_t ray : regime.rays)
    values.push_back(time(size.under[ray]));
  return regime.cone.factors(values).value_or(std::vector<Rational>());
}

/// The samples of a metric: of a time, the factors of the letters of `regime`,
/// or the time under the costs of the schedule without a regime.
FitSamples Deriver::samplesOf(Expectation::Metric metric, const Regime *regime,
                              ArrayRef<SizeFigures> sizes) const {
  bool perRank = isPerRank(metric);
  FitSamples samples = emptySamples(perRank);
  for (const SizeFigures &size : sizes)
    for (unsigned rank = 0; rank != (perRank ? size.numRanks : 1); ++rank) {
      FitSample &sample = samples.samples.emplace_back();
      for (unsigned i : variables)
        sample.variables.push_back(size.params[i].second);
      if (perRank)
        sample.variables.push_back(rank);
      if (metric == Expectation::Metric::Peak)
        sample.values = {size.peaks[rank]};
      else if (regime)
        sample.values = factors(metric, size, rank, *regime);
      else
        sample.values = {timeOf(metric, size.own, rank)};
      if (regime && sample.values.empty()) {
        sample.known = false;
        sample.values.resize(regime->cone.letters.size());
      }
    }
  holdOut(samples, variables.size());
  return samples;
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// The sum of the products of the letters and their factors; letters with the
/// same factor are added first.
std::string Deriver::valueText(const FormulaCase &formulas,
                               const Regime *regime,
                               ArrayRef<std::string> names) const {
  if (!regime)
    return formulas.values[0].text(names);
  std::vector<std::pair<const PiecewiseFormula *, std::vector<std::string>>>
      products;
  for (auto [letter, formula] :
       zip_equal(regime->cone.letters, formulas.values)) {
    if (formula.isZero())
      continue;
    std::string text = formula.text(names);
    auto it = find_if(products, [&](const auto &product) {
      return product.first->text(names) == text;
    });
    if (it == products.end())
      it = products.insert(products.end(), {&formula, {}});
    it->second.push_back(letterText(letter));
  }
  std::string sum;
  for (const auto &[formula, letters] : products) {
    std::string factor = formula->factorText(names);
    std::string all = join(letters, " + ");
    sum += sum.empty() ? "" : " + ";
    if (factor == "1")
      sum += all;
    else
      sum += factor + " * " + (letters.size() > 1 ? "(" + all + ")" : all);
  }
  return sum.empty() ? "0" : sum;
}

std::optional<std::vector<std::string>>
Deriver::boundsOf(const FormulaCase &formulas, const FitSamples &inside,
                  const FitSamples &outside) const {
  std::vector<int64_t> least = inside.samples.front().variables;
  for (const FitSample &sample : inside.samples)
    for (size_t i = 0; i != variables.size(); ++i)
      least[i] = std::min(least[i], sample.variables[i]);
  auto isRight = [&](const FitSample &sample) {
    return sample.known &&
           all_of(zip_equal(formulas.values, sample.values), [&](auto pair) {
             auto &[formula, value] = pair;
             std::optional<Rational> found = formula.value(sample.variables);
             return !found || *found == value;
           });
  };
  // The variables that are below the grid at all wrong sizes, and at some.
  BitVector always(variables.size(), true), ever(variables.size());
  for (const FitSample &sample : outside.samples) {
    if (!all_of(
            formulas.conditions,
            [&](const Condition &c) { return c.holds(sample.variables); }) ||
        isRight(sample))
      continue;
    BitVector below(variables.size());
    for (size_t i = 0; i != variables.size(); ++i)
      below[i] = sample.variables[i] < least[i];
    if (below.none())
      return std::nullopt;
    always &= below;
    ever |= below;
  }
  if (always.any() && ever.any()) {
    int only = always.find_first();
    ever.reset();
    ever.set(only);
  }
  std::vector<std::string> bounds;
  for (unsigned i : ever.set_bits())
    bounds.push_back(inside.names[i] + " >= " + std::to_string(least[i]));
  return bounds;
}

DerivedFigure Deriver::derive(Expectation::Metric metric) {
  DerivedFigure figure;
  figure.metric = metric;
  std::vector<const Regime *> tried;
  bool isTime = metric != Expectation::Metric::Peak;
  for (const Regime &regime : regimes)
    if (isTime)
      tried.push_back(&regime);
  if (!isTime || ((ownCosts || regimes.empty()) && !measured.steps().costsVary))
    tried.push_back(nullptr);

  FitSamples first = samplesOf(metric, nullptr, measured.sizes());
  // The samples that the clauses of each regime give.
  std::vector<std::pair<const Regime *, BitVector>> covered;
  BitVector all(first.samples.size());
  for (const Regime *regime : tried) {
    BitVector before(first.samples.size());
    for (const auto &[other, samples] : covered)
      if (!regime || (other && other->cone.contains(regime->cone)))
        before |= samples;
    if (before.all())
      continue;
    FitSamples samples = samplesOf(metric, regime, measured.sizes());
    FitSamples outside = samplesOf(metric, regime, measured.sizesOutside());
    std::vector<unsigned> numbers(samples.samples.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    CaseFinder finder(samples);
    BitVector now(samples.samples.size());
    for (const FormulaCase &formulas : finder.find(numbers).cases) {
      if (all_of(formulas.samples,
                 [&](unsigned number) { return before[number]; }))
        continue;
      auto bounds = boundsOf(formulas, samples, outside);
      if (!bounds)
        continue;
      DerivedClause clause;
      clause.value = valueText(formulas, regime, samples.names);
      std::vector<std::string> conditions = fixed;
      for (const Condition &condition : formulas.conditions)
        conditions.push_back(condition.text(samples.names));
      llvm::append_range(conditions, *bounds);
      if (regime && !regime->condition.empty())
        conditions.push_back(regime->condition);
      if (isTime && !regime)
        conditions.push_back(ownCostsText());
      clause.condition = join(conditions, " && ");
      std::set<std::vector<int64_t>> fitted, heldOut;
      for (unsigned number : formulas.samples) {
        const FitSample &sample = samples.samples[number];
        (sample.heldOut ? heldOut : fitted)
            .insert({sample.variables.begin(),
                     sample.variables.begin() + variables.size()});
        now.set(number);
      }
      clause.fitted = fitted.size();
      clause.heldOut = heldOut.size();
      figure.clauses.push_back(std::move(clause));
    }
    all |= now;
    covered.push_back({regime, std::move(now)});
  }

  unsigned breaking = figure.clauses.empty()
                          ? firstContradiction(first).value_or(0)
                          : all.find_first_unset();
  unsigned number = 0;
  for (const SizeFigures &size : measured.sizes()) {
    unsigned begin = number;
    number += isPerRank(metric) ? size.numRanks : 1;
    figure.uncovered += all.find_first_unset_in(begin, number) != -1;
    if (breaking >= begin && breaking < number)
      figure.firstUncovered = size.params;
  }
  return figure;
}

FailureOr<Derivation> Deriver::run(function_ref<void()> advance) {
  if (failed(measured.inspect(grid)))
    return failure();
  if (measured.numSizes() < minDeriveSizes)
    return diags.report(
        schedule.decl->name.range, diag::DeriveTooFew, schedule.decl->name.text,
        countText(measured.numSizes(), "size"), size_t(minDeriveSizes));
  chooseRegimes();
  if (failed(measured.measure(costs, advance)))
    return failure();
  measured.measureOutside(costs);
  findVariables();

  Derivation result;
  result.name = schedule.decl->name.text.str();
  result.path = source.path().str();
  result.refused = measured.numRefused();
  result.ownCostsOnly = regimes.empty();
  result.hasPlaces = measured.steps().hasPlaces;
  for (const FitSample &sample :
       samplesOf(Expectation::Metric::Makespan, nullptr, measured.sizes())
           .samples)
    ++(sample.heldOut ? result.heldOut : result.fitted);
  for (Expectation::Metric metric :
       {Expectation::Metric::Makespan, Expectation::Metric::Span,
        Expectation::Metric::Idle, Expectation::Metric::Peak})
    result.figures.push_back(derive(metric));
  return result;
}

} // namespace pipec
