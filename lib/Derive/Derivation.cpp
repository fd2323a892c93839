//===- Derivation.cpp - Closed forms of measured figures ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace pipec {

bool Derivation::hasClauses() const {
  return any_of(figures, [](const DerivedFigure &figure) {
    return !figure.clauses.empty();
  });
}

namespace {

/// One set of costs, and the indices of its runs at a size.
struct Regime {
  const CostCone *cone;
  /// By ray, the index of the run; then the index of the inner point.
  std::vector<size_t> rays;
  size_t inside;
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
  FitSamples samplesOf(Expectation::Metric metric, const Regime *regime,
                       ArrayRef<SizeFigures> sizes, bool perRank) const;
  std::optional<std::vector<std::string>>
  boundsOf(const FormulaCase &formulas, const FitSamples &inside,
           const FitSamples &outside) const;
  DerivedFigure derive(Expectation::Metric metric) const;
  DerivedClause clauseOf(const FormulaCase &formulas, const Regime *regime,
                         const FitSamples &samples,
                         std::vector<std::string> conditions) const;
  std::string letterText(CostLetter letter) const;
  std::string regimeText(const Regime *regime) const;
  std::string valueText(const FormulaCase &formulas, const Regime *regime,
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

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static std::string overlapText(const CostSettings::Overlap &overlap) {
  return "cost(" + join(map_range(overlap.members, stepKindName), " & ") + ")";
}

std::string Deriver::letterText(CostLetter letter) const {
  if (letter == CostLetter::P2P)
    return "cost(p2p)";
  return letter == CostLetter::Overlap
             ? overlapText(measured.steps().overlaps.front())
             : stepKindName(StepKind(letter)).str();
}

/// The condition of a regime; without one, that the costs are those of the
/// schedule.
std::string Deriver::regimeText(const Regime *regime) const {
  const StepsUsed &used = measured.steps();
  if (regime) {
    std::string text = regime->cone->condition.str();
    constexpr StringLiteral overlap = "cost(&)";
    for (size_t at; (at = text.find(overlap)) != std::string::npos;)
      text.replace(at, overlap.size(), letterText(CostLetter::Overlap));
    return text;
  }
  std::vector<std::string> texts;
  auto add = [&](const std::string &cost, Rational value) {
    raw_string_ostream(texts.emplace_back()) << cost << " == " << value;
  };
  for (CostLetter letter :
       {CostLetter::F, CostLetter::B, CostLetter::I, CostLetter::W})
    if (used.letters[unsigned(letter)])
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
  for (unsigned letter = 0; letter != unsigned(CostLetter::P2P); ++letter)
    if (!used.letters[letter])
      own[letter] = 0;
  auto indexOf = [&](const CostVector &vector) {
    size_t index = find(costs, vector) - costs.begin();
    if (index == costs.size())
      costs.push_back(vector);
    return index;
  };
  for (const CostCone &cone : allCostCones())
    if (cone.steps == used.letters &&
        (!request.ownCosts || used.costsVary || cone.contains(own))) {
      Regime &regime = regimes.emplace_back(Regime{&cone, {}, 0});
      for (const CostVector &ray : cone.rays)
        regime.rays.push_back(indexOf(ray));
      regime.inside = indexOf(cone.inside());
    }
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static Rational timeOf(Expectation::Metric metric, const RunFigures &run,
                       unsigned rank) {
  if (metric == Expectation::Metric::Makespan)
    return run.makespan;
  return metric == Expectation::Metric::Span ? run.span : run.idle[rank];
}

/// The factors of the letters in a time that is a sum over them in the whole
/// regime; empty if it is not.
static std::vector<Rational> factors(Expectation::Metric metric,
                                     const SizeFigures &size, unsigned rank,
                                     const Regime &regime) {
  auto isSum = [&](auto time) {
    std::optional<Rational> sum = Rational(0);
    for (size_t ray : regime.rays)
      sum = sum ? Rational::add(*sum, time(size.runs[ray])) : sum;
    return sum == time(size.runs[regime.inside]);
  };
  auto time = [&](const RunFigures &run) { return timeOf(metric, run, rank); };
  bool good = isSum(time);
  // A span is the end of a rank minus its start, which is convex only if the
  // start is a sum.
  if (metric == Expectation::Metric::Span)
    for (unsigned each = 0; each != size.numRanks; ++each)
      good &= isSum([&](const RunFigures &run) { return run.starts[each]; });
  if (!good)
    return {};
  std::vector<Rational> values;
  for (size_t ray : regime.rays)
    values.push_back(time(size.runs[ray]));
  return regime.cone->factors(values).value_or(std::vector<Rational>());
}

/// The components of a metric at one size: of a time, the factors of the
/// letters of `regime`, or the time under the costs of the schedule without a
/// regime.
static std::vector<Rational> valuesOf(Expectation::Metric metric,
                                      const Regime *regime,
                                      const SizeFigures &size, unsigned rank) {
  if (metric == Expectation::Metric::Peak)
    return {size.peaks[rank]};
  return regime ? factors(metric, size, rank, *regime)
                : std::vector{timeOf(metric, size.runs.back(), rank)};
}

/// True if a metric of single ranks is not the same for all of them.
static bool ranksDiffer(Expectation::Metric metric, const Regime *regime,
                        const SizeFigures &size) {
  if (!isPerRank(metric))
    return false;
  std::vector<Rational> values = valuesOf(metric, regime, size, 0);
  return any_of(seq<unsigned>(1, size.numRanks), [&](unsigned rank) {
    return valuesOf(metric, regime, size, rank) != values;
  });
}

/// The samples of a metric, for each rank or for all ranks together. In the
/// latter, a size at which ranks differ has no values.
FitSamples Deriver::samplesOf(Expectation::Metric metric, const Regime *regime,
                              ArrayRef<SizeFigures> sizes, bool perRank) const {
  std::vector<std::string> names;
  std::vector<std::pair<unsigned, unsigned>> divisions;
  for (auto [number, i] : enumerate(variables)) {
    names.push_back(schedule.decl->params[i].name.text.str());
    for (auto [other, j] : enumerate(variables))
      if (&schedule.decl->params[i] == schedule.microbatches && i != j &&
          &schedule.decl->params[j] != schedule.chunks)
        divisions.push_back({unsigned(number), unsigned(other)});
  }
  if (perRank)
    names.push_back("rank");
  FitSamples samples(std::move(names), divisions,
                     regime ? regime->cone->letters.size() : 1);
  for (const SizeFigures &size : sizes) {
    SmallVector<int64_t, 4> point;
    for (unsigned i : variables)
      point.push_back(size.params[i].second);
    unsigned numRanks = isPerRank(metric) ? size.numRanks : 1;
    if (!perRank) {
      bool differ = ranksDiffer(metric, regime, size);
      samples.add(point,
                  differ ? std::vector<Rational>()
                         : valuesOf(metric, regime, size, 0),
                  numRanks);
      continue;
    }
    point.push_back(0);
    for (point.back() = 0; point.back() != numRanks; ++point.back())
      samples.add(point, valuesOf(metric, regime, size, point.back()));
  }
  samples.holdOut(variables.size());
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
  std::vector<std::pair<std::string, std::vector<std::string>>> products;
  for (auto [letter, formula] :
       zip_equal(regime->cone->letters, formulas.values)) {
    if (formula.isZero())
      continue;
    std::string factor = formula.factorText(names);
    auto it = find_if(
        products, [&](const auto &product) { return product.first == factor; });
    if (it == products.end())
      it = products.insert(it, {factor, {}});
    it->second.push_back(letterText(letter));
  }
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
Deriver::boundsOf(const FormulaCase &formulas, const FitSamples &inside,
                  const FitSamples &outside) const {
  std::vector<const FitSample *> wrong;
  for (const FitSample &sample : outside.samples)
    if (all_of(formulas.conditions,
               [&](const Condition &c) { return c.holds(sample.atoms); }) &&
        !formulas.hold(sample))
      wrong.push_back(&sample);
  // One bound if it is enough, else every bound that helps.
  std::vector<std::string> bounds;
  for (bool one : {true, false})
    for (size_t i = 0; i != variables.size() && !wrong.empty(); ++i) {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (const FitSample &sample : inside.samples)
        least = std::min(least, sample.variable(i));
      auto isBelow = [&](const FitSample *sample) {
        return sample->variable(i) < least;
      };
      if (one ? !all_of(wrong, isBelow) : none_of(wrong, isBelow))
        continue;
      erase_if(wrong, isBelow);
      bounds.push_back(inside.names[i + 1] + " >= " + std::to_string(least));
    }
  if (!wrong.empty())
    return std::nullopt;
  return bounds;
}

DerivedClause Deriver::clauseOf(const FormulaCase &formulas,
                                const Regime *regime, const FitSamples &samples,
                                std::vector<std::string> conditions) const {
  DerivedClause clause;
  clause.value = valueText(formulas, regime, samples.names);
  clause.condition = join(conditions, " && ");
  std::set<std::vector<int64_t>> fitted, heldOut;
  for (unsigned number : formulas.samples) {
    const FitSample &sample = samples.samples[number];
    (sample.heldOut ? heldOut : fitted)
        .insert({sample.atoms.begin(),
                 sample.atoms.begin() + 1 + variables.size()});
  }
  clause.fitted = fitted.size();
  clause.heldOut = heldOut.size();
  // A twentieth of the figures, or a tenth with residues of two parameters.
  size_t share = 0;
  for (unsigned number : formulas.samples)
    share += samples.samples[number].end - samples.samples[number].begin;
  bool isOdd = count_if(formulas.conditions, [](const Condition &condition) {
                 return condition.modulus && !condition.divisor;
               }) > 1;
  clause.isSliver = (isOdd ? 10 : 20) * share < samples.samples.back().end;
  return clause;
}

DerivedFigure Deriver::derive(Expectation::Metric metric) const {
  DerivedFigure figure;
  figure.metric = metric;
  bool isTime = metric != Expectation::Metric::Peak;
  std::vector<const Regime *> tried;
  if (isTime)
    for (const Regime &regime : regimes)
      tried.push_back(&regime);
  if (!isTime ||
      ((request.ownCosts || regimes.empty()) && !measured.steps().costsVary))
    tried.push_back(nullptr);

  FitSamples first = samplesOf(metric, nullptr, sizes, isPerRank(metric));
  // The figures that the clauses of each regime give.
  std::vector<std::pair<const Regime *, BitVector>> covered;
  BitVector all(first.samples.size());
  for (const Regime *regime : tried) {
    BitVector before(all.size()), now(all.size());
    for (const auto &[other, numbers] : covered)
      if (!regime || (other && other->cone->contains(*regime->cone)))
        before |= numbers;
    if (before.all())
      continue;
    bool perRank = any_of(sizes, [&](const SizeFigures &size) {
      return ranksDiffer(metric, regime, size);
    });
    FitSamples samples = samplesOf(metric, regime, sizes, perRank);
    FitSamples beyond = samplesOf(metric, regime, outside, perRank);
    for (const FormulaCase &formulas : CaseFinder(samples).find()) {
      BitVector gives(all.size());
      for (unsigned number : formulas.samples)
        gives.set(samples.samples[number].begin, samples.samples[number].end);
      std::optional<std::vector<std::string>> bounds =
          boundsOf(formulas, samples, beyond);
      if (!bounds || !gives.test(before))
        continue;
      std::vector<std::string> conditions = fixed;
      for (const Condition &condition : formulas.conditions)
        conditions.push_back(condition.text(samples.names));
      append_range(conditions, *bounds);
      if (isTime && !regimeText(regime).empty())
        conditions.push_back(regimeText(regime));
      figure.clauses.push_back(
          clauseOf(formulas, regime, samples, std::move(conditions)));
      now |= gives;
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
    number += isPerRank(metric) ? size.numRanks : 1;
    figure.uncovered += all.find_first_unset_in(begin, number) != -1;
    if (breaking >= begin && breaking < number)
      figure.firstUncovered = size.params;
  }
  return figure;
}

LogicalResult Deriver::measure(function_ref<void()> advance) {
  for (const ParamValues &params : measured.sizes()) {
    FailureOr<SizeFigures> size = measured.measure(params, costs);
    if (failed(size))
      return failure();
    sizes.push_back(std::move(*size));
    advance();
  }
  // Outside the grid, sizes with errors are left out.
  DiagEngine::ScopedFilter quiet(request.diags,
                                 [](Diagnostic &) { return false; });
  for (const ParamValues &params : measured.sizesOutside())
    if (FailureOr<SizeFigures> size = measured.measure(params, costs);
        succeeded(size))
      outside.push_back(std::move(*size));
  return success();
}

FailureOr<Derivation> Deriver::run(function_ref<void()> advance) {
  if (failed(measured.inspect()))
    return failure();
  size_t count = measured.sizes().size();
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
  result.refused = measured.numRefused();
  result.ownCostsOnly = regimes.empty();
  result.hasPlaces = measured.steps().hasPlaces;
  if (request.ownCosts || result.ownCostsOnly)
    result.assumed = measured.steps().assumed;
  for (const FitSample &sample :
       samplesOf(Expectation::Metric::Makespan, nullptr, sizes, false).samples)
    ++(sample.heldOut ? result.heldOut : result.fitted);
  for (Expectation::Metric metric :
       {Expectation::Metric::Makespan, Expectation::Metric::Span,
        Expectation::Metric::Idle, Expectation::Metric::Peak})
    result.figures.push_back(derive(metric));
  return result;
}

FailureOr<Derivation> derive(const DeriveRequest &request,
                             function_ref<void()> advance) {
  return Deriver(request).run(advance);
}

} // namespace pipec
