//===- Derivation.cpp - Closed forms of measured figures ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

#include "Derive/CaseFinder.h"
#include "Derive/GridFigures.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace pipec {

namespace {

/// A set of costs; without a cone, the costs of the schedule.
struct Regime {
  const CostCone *cone = nullptr;
  /// The index of the run at each of its vectors.
  std::vector<size_t> runs;
};

class Deriver {
public:
  explicit Deriver(const DeriveRequest &request)
      : request(request), schedule(request.schedule), measured(request) {}

  FailureOr<Derivation> run(function_ref<void()> advance);

private:
  LogicalResult measure(function_ref<void()> advance);
  void chooseRegimes();
  void findVariables();
  FitSamples samplesOf(size_t metric, const Regime &regime, bool perRank) const;
  std::optional<std::vector<std::string>>
  boundsOf(const FormulaCase &formulas, const FitSamples &samples) const;
  DerivedFigure derive(size_t metric) const;
  DerivedClause clauseOf(const FormulaCase &formulas, const Regime &regime,
                         const FitSamples &samples,
                         std::vector<std::string> conditions) const;
  std::string regimeText(const Regime &regime) const;
  std::string valueText(const FormulaCase &formulas, const Regime &regime,
                        ArrayRef<std::string> names) const;

  const DeriveRequest &request;
  const CheckedSchedule &schedule;
  GridFigures measured;
  std::vector<SizeFigures> sizes, outside;

  std::vector<CostVector> costs;
  std::vector<Regime> regimes;
  /// The parameters that formulas use, as indices of the parameters of the
  /// schedule, and the conditions on the others.
  std::vector<unsigned> variables;
  std::vector<std::string> fixed;
};

} // namespace

static constexpr size_t spanMetric = 1, peakMetric = 3;

//===----------------------------------------------------------------------===//
// Costs and variables
//===----------------------------------------------------------------------===//

std::string Deriver::regimeText(const Regime &regime) const {
  std::string text;
  if (!regime.cone) {
    for (const auto &[name, cost] : measured.own)
      raw_string_ostream(text)
          << (text.empty() ? "" : " && ") << name << " == " << cost;
    return text;
  }
  text = regime.cone->condition == "true" ? "" : regime.cone->condition.str();
  for (auto [word, letter] : {std::pair<StringRef, unsigned>("P2P", p2pLetter),
                              {"Overlap", overlapLetter}})
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), measured.letterText(letter));
  return text;
}

void Deriver::chooseRegimes() {
  std::optional<CostVector> own = measured.ownVector();
  for (const CostCone &cone : allCostCones())
    if (measured.onlyLetters && cone.steps == measured.steps() &&
        (!request.ownCosts || measured.costsVary ||
         (own && cone.meets(*own)))) {
      Regime &regime = regimes.emplace_back(Regime{&cone, {}});
      for (const CostVector &vector : cone.vectors) {
        regime.runs.push_back(find(costs, vector) - costs.begin());
        if (regime.runs.back() == costs.size())
          costs.push_back(vector);
      }
    }
}

/// Parameters that the grid gives several values are variables, micro-batches
/// first. The others have one value, or their default.
void Deriver::findVariables() {
  std::set<std::string> given;
  for (const auto &[name, value] : request.grid.point(*schedule.decl))
    given.insert(name);
  for (auto [i, param] : enumerate(schedule.decl->params)) {
    const std::string name = param.name.text.str();
    bool isGiven = given.count(name) || given.count(param.label.text.str());
    int64_t first = sizes[0].params[i].second;
    bool varies = any_of(sizes, [&, i = i](const SizeFigures &size) {
      return size.params[i].second != first;
    });
    if (varies && isGiven) {
      variables.push_back(i);
      continue;
    }
    std::string text = std::to_string(first);
    if (varies) {
      const char *begin = param.defaultValue->range.Start.getPointer();
      text.assign(begin, param.defaultValue->range.End.getPointer());
      if (!all_of(text, isWordByte))
        text = "(" + text + ")";
    }
    fixed.push_back(name + " == " + text);
  }
  std::stable_partition(variables.begin(), variables.end(), [&](unsigned i) {
    return &schedule.decl->params[i] == schedule.microbatches;
  });
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// The components of a metric at one size: the factors of the letters of a time
/// that is a sum over them in the whole cone (empty if it is not), or the
/// figure under the costs of the schedule.
static std::vector<Rational> valuesOf(size_t metric, const Regime &regime,
                                      const SizeFigures &size, unsigned rank) {
  if (!regime.cone)
    return {size.runs.back().values[metric][rank]};
  auto factors = [&](auto figure) {
    std::vector<Rational> values;
    for (size_t run : regime.runs)
      values.push_back(figure(size.runs[run]));
    return regime.cone->factors(values);
  };
  // A span is the end of a rank minus its start, which is convex only if the
  // start is a sum.
  if (metric == spanMetric)
    for (unsigned each = 0; each != size.numRanks; ++each)
      if (factors([&](const RunFigures &run) {
            return run.starts[each];
          }).empty())
        return {};
  return factors(
      [&](const RunFigures &run) { return run.values[metric][rank]; });
}

/// The samples of a metric inside and outside the grid, for each rank or for
/// all ranks together.
FitSamples Deriver::samplesOf(size_t metric, const Regime &regime,
                              bool perRank) const {
  std::vector<std::string> names;
  std::vector<std::pair<unsigned, unsigned>> divisions;
  for (auto [number, i] : enumerate(variables)) {
    names.push_back(schedule.decl->params[i].name.text.str());
    if (number != 0 && &schedule.decl->params[i] != schedule.chunks &&
        &schedule.decl->params[variables[0]] == schedule.microbatches)
      divisions.push_back({0, unsigned(number)});
  }
  if (perRank)
    names.push_back("rank");
  FitSamples samples(names, divisions, regime.cone ? CostVector().size() : 1);
  auto add = [&](const SizeFigures &size) {
    for (unsigned rank = 0; rank != (perRank ? size.numRanks : 1); ++rank) {
      SmallVector<int64_t, 4> point;
      for (unsigned i : variables)
        point.push_back(size.params[i].second);
      if (perRank)
        point.push_back(rank);
      samples.add(point, valuesOf(metric, regime, size, rank));
    }
  };
  llvm::for_each(sizes, add);
  samples.endInside(variables.size());
  llvm::for_each(outside, add);
  return samples;
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// The sum of the products of the letters and their factors; letters with the
/// same factor are added first.
std::string Deriver::valueText(const FormulaCase &formulas,
                               const Regime &regime,
                               ArrayRef<std::string> names) const {
  if (!regime.cone)
    return formulas.values[0].text(names, false);
  NameMap<std::vector<std::string>> products;
  for (auto [letter, formula] : enumerate(formulas.values))
    if (!formula.isZero())
      products[formula.text(names, true)].push_back(
          measured.letterText(letter));
  std::vector<std::string> terms;
  for (const auto &[factor, letters] : products) {
    std::string sum = join(letters, " + ");
    if (factor != "1")
      sum = factor + " * " + (letters.size() > 1 ? "(" + sum + ")" : sum);
    terms.push_back(std::move(sum));
  }
  return terms.empty() ? "0" : join(terms, " + ");
}

/// The conditions without which formulas are wrong at smaller sizes than those
/// of the grid; nothing if they are wrong at others.
std::optional<std::vector<std::string>>
Deriver::boundsOf(const FormulaCase &formulas,
                  const FitSamples &samples) const {
  BitVector wrong = formulas.wrong;
  std::vector<std::string> bounds;
  // One bound if it is enough, else every bound that helps.
  for (bool one : {true, false})
    for (size_t atom = 1; atom <= variables.size() && wrong.any(); ++atom) {
      auto value = [&](unsigned i) { return samples.samples[i].atoms[atom]; };
      int64_t least = value(0);
      for (unsigned i : seq<unsigned>(1, samples.numInside))
        least = std::min(least, value(i));
      BitVector others = wrong;
      for (unsigned i : wrong.set_bits())
        if (value(i) < least)
          others.reset(i);
      if (one ? others.any() : others == wrong)
        continue;
      wrong = std::move(others);
      bounds.push_back(samples.names[atom] + " >= " + std::to_string(least));
    }
  if (wrong.any())
    return std::nullopt;
  return bounds;
}

DerivedClause Deriver::clauseOf(const FormulaCase &formulas,
                                const Regime &regime, const FitSamples &samples,
                                std::vector<std::string> conditions) const {
  std::set<std::vector<int64_t>> fitted, heldOut;
  for (unsigned number : formulas.samples.set_bits()) {
    const FitSample &sample = samples.samples[number];
    (sample.heldOut ? heldOut : fitted)
        .insert({sample.atoms.begin(),
                 sample.atoms.begin() + 1 + variables.size()});
  }
  return {valueText(formulas, regime, samples.names), join(conditions, " && "),
          fitted.size(), heldOut.size(),
          20 * formulas.samples.count() < samples.numInside};
}

DerivedFigure Deriver::derive(size_t metric) const {
  DerivedFigure figure;
  figure.metric = derivedMetrics[metric];
  bool isTime = metric != peakMetric;
  const Regime own;
  std::vector<const Regime *> tried;
  if (isTime)
    for (const Regime &regime : regimes)
      tried.push_back(&regime);
  if (!isTime || ((request.ownCosts || regimes.empty()) && !measured.costsVary))
    tried.push_back(&own);

  bool perRank = any_of(sizes, [&](const SizeFigures &size) {
    return any_of(size.runs, [&](const RunFigures &run) {
      return !all_equal(run.values[metric]);
    });
  });
  FitSamples first = samplesOf(metric, own, perRank);
  // The figures that the clauses of each regime give.
  std::vector<std::pair<const Regime *, BitVector>> covered;
  BitVector all(first.numInside);
  for (const Regime *regime : tried) {
    BitVector before(all.size()), now(all.size());
    for (const auto &[other, numbers] : covered)
      if (!regime->cone ||
          (other->cone && other->cone->contains(*regime->cone)))
        before |= numbers;
    if (before.all())
      continue;
    FitSamples samples = samplesOf(metric, *regime, perRank);
    for (const FormulaCase &formulas : CaseFinder(samples).find()) {
      auto bounds = boundsOf(formulas, samples);
      if (!bounds || !formulas.samples.test(before))
        continue;
      std::vector<std::string> conditions = fixed;
      for (const Condition &condition : formulas.conditions)
        conditions.push_back(condition.text);
      append_range(conditions, *bounds);
      if (isTime && !regimeText(*regime).empty())
        conditions.push_back(regimeText(*regime));
      figure.clauses.push_back(
          clauseOf(formulas, *regime, samples, std::move(conditions)));
      now |= formulas.samples;
    }
    all |= now;
    covered.push_back({regime, std::move(now)});
  }
  llvm::stable_sort(figure.clauses,
                    [](const DerivedClause &a, const DerivedClause &b) {
                      return a.value.size() + a.condition.size() <
                             b.value.size() + b.condition.size();
                    });

  unsigned breaking = figure.clauses.empty()
                          ? CaseFinder(first).firstContradiction().value_or(0)
                          : all.find_first_unset();
  unsigned number = 0;
  for (const SizeFigures &size : sizes) {
    unsigned begin = number;
    number += perRank ? size.numRanks : 1;
    figure.uncovered += all.find_first_unset_in(begin, number) != -1;
    if (breaking >= begin && breaking < number)
      figure.firstUncovered = size.params;
  }
  return figure;
}

LogicalResult Deriver::measure(function_ref<void()> advance) {
  for (const ParamValues &params : measured.existing) {
    FailureOr<SizeFigures> size = measured.measure(params, costs);
    if (failed(size))
      return failure();
    sizes.push_back(std::move(*size));
    advance();
  }
  // Outside the grid, sizes with errors are left out.
  DiagEngine::ScopedFilter quiet(request.diags,
                                 [](Diagnostic &) { return false; });
  for (const ParamValues &params : measured.pointsOutside())
    if (FailureOr<SizeFigures> size = measured.measure(params, costs);
        succeeded(size))
      outside.push_back(std::move(*size));
  return success();
}

FailureOr<Derivation> Deriver::run(function_ref<void()> advance) {
  if (failed(measured.inspect()))
    return failure();
  size_t count = measured.existing.size();
  if (count < minDeriveSizes)
    return request.diags.report(
        schedule.decl->name.range, diag::DeriveTooFew, schedule.decl->name.text,
        countText(count, "size"), size_t(minDeriveSizes));
  chooseRegimes();
  if (failed(measure(advance)))
    return failure();
  findVariables();

  Derivation result;
  result.name = schedule.decl->name.text.str();
  result.path = request.source.path().str();
  result.refused = measured.refused;
  result.ownCostsOnly = regimes.empty();
  result.hasPlaces = measured.hasPlaces;
  if (request.ownCosts || result.ownCostsOnly)
    result.assumed = measured.assumed;
  FitSamples samples = samplesOf(0, {}, false);
  for (const FitSample &sample : ArrayRef(samples.samples).take_front(count))
    ++(sample.heldOut ? result.heldOut : result.fitted);
  for (size_t metric : seq(std::size(derivedMetrics)))
    result.figures.push_back(derive(metric));
  return result;
}

FailureOr<Derivation> derive(const DeriveRequest &request,
                             function_ref<void()> advance) {
  return Deriver(request).run(advance);
}

} // namespace pipec
