//===- Derivation.cpp - Closed forms of measured figures ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

#include "Cost/SettingsText.h"
#include "Derive/ClauseFinder.h"
#include "Driver/Figures.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace llvm;

namespace pipec {

namespace {

/// A set of costs under which the time of a run may be one sum over letters,
/// for schedules with exactly the kinds of steps in `steps`: the sums of
/// multiples of rays. A ray is a sum of the letters F, B, I, W, O for an
/// overlap ("{0}" in the condition), and P for p2p. The last of `words` is
/// inside, a sum of multiples of all rays. Without words, the time is a number:
/// the one under the costs of the schedule.
struct CostCone {
  StringRef steps, condition, words;
};

/// The largest sets first.
constexpr CostCone allCones[] = {
    {"F", "", "F P FP"},
    {"FB", "", "F B P FBP"},
    {"FB", "2 * cost(p2p) <= F + B", "F B FFP BBP FFBBP"},
    {"FB", "cost(p2p) <= min(F, B)", "F B FBP FFBBP"},
    {"FB", "cost(p2p) == 0", "F B FB"},
    {"FB", "F <= B && cost(p2p) == 0", "B FB FBB"},
    {"FB", "B <= F && cost(p2p) == 0", "F FB FFB"},
    {"FIW", "W <= min(F, I) && cost(p2p) == 0", "F I FIW FFIIW"},
    {"FIW", "W <= min(F, I) && I <= 2 * W && cost(p2p) == 0",
     "F FIW FIIW FFFIIIWW"},
    {"FIW", "F == I && I == W && cost(p2p) == 0", "FIW"},
    {"FBO", "cost(p2p) == 0", "F B O FBO"},
    {"FBO", "max(F, B) <= {0} && cost(p2p) == 0", "O FO BO FBO FBOO"},
    {"FBIW", "F == I && I == W && B == I + W && cost(p2p) == 0", "FBBIW"},
    {"FBIWO", "F == I && I == W && B == I + W && B <= {0} && cost(p2p) == 0",
     "O FBBIWOO FBBIWOOO"},
};
constexpr StringRef letterNames = "FBIWPO";
constexpr unsigned p2pLetter = 4, overlapLetter = 5;

constexpr Expectation::Metric derivedMetrics[] = {
    Expectation::Metric::Makespan, Expectation::Metric::Span,
    Expectation::Metric::Idle, Expectation::Metric::Peak};
constexpr size_t spanMetric = 1, peakMetric = 3, startMetric = 4;

/// The figures at one size.
struct SizeFigures {
  SampleUse use;
  /// All parameters of the schedule, in the order of the program.
  ParamValues params;
  unsigned numRanks;
  /// By costs, a sum of letters or none for those of the schedule, and by
  /// metric, with the starts of the ranks: one value or one per rank.
  std::map<StringRef, std::array<std::vector<Rational>, startMetric + 1>> runs;
};

/// The factors of the letters in a time that is a sum over them in the whole
/// cone, 0 for redundant letters, or the time if it is a number; else empty.
std::vector<Rational> factorsOf(size_t metric, const CostCone &cone,
                                const SizeFigures &size, unsigned rank) {
  if (cone.words.empty())
    return {size.runs.at("")[metric][rank]};
  // A span is the end of a rank minus its start, which is convex only if the
  // start is a sum.
  for (unsigned each = 0; metric == spanMetric && each != size.numRanks; ++each)
    if (factorsOf(startMetric, cone, size, each).empty())
      return {};
  std::vector<AtomProduct> products;
  for (unsigned letter = letterNames.size(); letter != 0; --letter)
    products.push_back({0, letter});
  std::vector<Equation> equations;
  std::vector<std::vector<int64_t>> costs;
  for (StringRef word : split(cone.words, ' ')) {
    costs.push_back({1});
    for (char letter : letterNames)
      costs.back().push_back(word.count(letter));
    equations.push_back({costs.back(), size.runs.at(word)[metric][rank]});
  }
  std::optional<Polynomial> sum = fitPolynomial(products, equations);
  if (!sum)
    return {};
  std::vector<Rational> factors(letterNames.size());
  for (const auto &[factor, product] : sum->terms)
    factors[product.second - 1] = factor;
  return factors;
}

/// Derives the clauses of one schedule.
class Deriver {
public:
  explicit Deriver(const DeriveRequest &request)
      : request(request), decl(*request.schedule.decl), diags(request.diags) {}

  FailureOr<Derivation> run(function_ref<void()> advance) {
    bool good = true;
    std::vector<ParamValues> points;
    request.grid.forEachPoint(decl, [&](const ParamValues &at) {
      bool refused = false;
      if (good && succeeded(measure(at, refused, /*isInside=*/true)))
        points.push_back(at);
      else
        good &= refused;
      result.refused += refused;
      advance();
    });
    if (!good)
      return failure();
    constexpr size_t minSizes = 8;
    if (points.size() < minSizes)
      return diags.report(decl.name.range, diag::DeriveTooFew, decl.name.text,
                          countText(points.size(), "size"), minSizes);
    findVariables();
    measureOutside(points);
    for (const auto &[name, cost] : own)
      raw_string_ostream(ownCondition)
          << (ownCondition.empty() ? "" : " && ") << name << " == " << cost;
    chooseCones();
    result.name = decl.name.text.str();
    result.path = request.source.path().str();
    for (size_t metric = 0; metric <= peakMetric; ++metric)
      result.figures.push_back(derive(metric));
    return std::move(result);
  }

private:
  /// Notes the steps and costs of the schedule at a size inside the grid.
  void noteCosts(const Schedule &schedule, StringRef kinds) {
    const CostSettings &costs = schedule.costs;
    auto note = [&](const std::string &name, std::optional<Rational> cost) {
      auto [it, fresh] = own.insert({name, cost.value_or(0)});
      costsVary |= it->second != cost;
    };
    for (char kind : kinds)
      note({kind}, costs.of(StepKind(letterNames.find(kind)), anyStage));
    for (const StepList &list : schedule.ranks)
      for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
        end = Schedule::groupEnd(list, begin);
        SmallVector<StepKind, 2> members;
        for (Step step : ArrayRef(list).slice(begin, end - begin))
          members.push_back(step.kind());
        if (members.size() > 1 && isCompute(members[0]) &&
            !is_contained(overlaps, members))
          overlaps.push_back(members);
      }
    for (ArrayRef<StepKind> members : overlaps) {
      letters[overlapLetter] = "cost(" + overlapText(members) + ")";
      note(letters[overlapLetter], costs.generalOverlap(members));
    }
    note(letters[p2pLetter], costs.general(Figure::P2P));
    if (costs.has(Figure::Occupancy))
      note("cost(occupancy)", costs.general(Figure::Occupancy));
    for (const auto &[place, row] : costs.places())
      result.hasPlaces |= place.scope != FigureScope::Whole;
    result.assumed.add(schedule.assumedCosts());
  }

  /// Adds the figures at a size, without P2P contention. Sets `refused` if a
  /// requirement refuses the size, which is not reported.
  LogicalResult measure(const ParamValues &params, bool &refused,
                        bool isInside) {
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &found) {
      bool refusal = isSizeRefusal(found);
      refused |= refusal;
      if (!refusal && found.severity == Severity::Error)
        noteSize(found, paramText(params));
      return !refusal;
    });
    LowerOptions options = request.lowering;
    // The program's own clauses are not evaluated; they may not have a value.
    options.expectations = false;
    append_range(options.params, params);
    FailureOr<Schedule> schedule =
        request.source.lower(request.schedule, options, diags);
    if (failed(schedule) ||
        failed(verify(*schedule, VerifyLevel::Compute, diags)))
      return failure();
    FailureOr<std::vector<Rational>> peaks = peakMemory(*schedule, diags);
    if (failed(peaks))
      return failure();
    // About a third of the sizes are held out.
    SampleUse use = !isInside                            ? SampleUse::Outside
                    : xxh3_64bits(paramText(params)) % 3 ? SampleUse::Fitted
                                                         : SampleUse::HeldOut;
    result.fitted += use == SampleUse::Fitted;
    result.heldOut += use == SampleUse::HeldOut;
    std::string kinds;
    for (unsigned kind = 0; kind != p2pLetter; ++kind)
      if (schedule->costUse().kinds() >> kind & 1)
        kinds += letterNames[kind];
    if (isInside)
      noteCosts(*schedule, kinds);

    SizeFigures size{use, schedule->params, schedule->numRanks, {}};
    const CostSettings ownCosts = schedule->costs;
    erase_if(cones, [&](const CostCone &cone) {
      return cone.steps != kinds && cone.steps != kinds + "O";
    });
    std::set<StringRef> words = {""};
    for (const CostCone &cone : cones)
      words.insert(split(cone.words, ' ').begin(),
                   split(cone.words, ' ').end());
    for (StringRef word : words) {
      schedule->costs = ownCosts;
      if (!word.empty()) {
        for (unsigned letter = 0; letter <= p2pLetter; ++letter)
          schedule->costs.set(letter == p2pLetter ? Figure::P2P
                                                  : Figure(letter),
                              int64_t(word.count(letterNames[letter])));
        for (const auto &members : overlaps)
          schedule->costs.set({members, int64_t(word.count('O')), false});
      }
      FailureOr<Simulation> run = simulate(*schedule, diags);
      if (failed(run))
        return failure();
      auto &[makespan, span, idle, peak, starts] = size.runs[word];
      makespan = {run->time(run->makespan())};
      span = {run->time(run->span())};
      peak = *peaks;
      for (const RankTimes &rank : run->ranks()) {
        idle.push_back(run->time(run->makespan() - rank.work));
        starts.push_back(run->time(rank.start));
      }
    }
    sizes.push_back(std::move(size));
    return success();
  }

  /// Measures some points outside the grid, with values from 1 to twice the
  /// largest ones, at most as many as the grid has, or 256. Leaves out those
  /// with errors.
  void measureOutside(ArrayRef<ParamValues> inside) {
    Grid wide;
    for (const auto &[name, first] : inside[0]) {
      auto [least, most] = std::ranges::minmax(request.grid.valuesOf(name));
      std::vector<int64_t> values = {first};
      // Neighbours, for residues.
      if (least != most && most <= maxUnits && wide.numPoints(decl) <= 4096)
        values = {1,        least,    (least + most) / 2, most + 1, most + 2,
                  most + 3, most + 4, most + 5,           most + 6, 2 * most};
      wide.setDefault(name, values);
    }
    std::set<ParamValues> known(inside.begin(), inside.end());
    std::vector<ParamValues> points;
    wide.forEachPoint(decl, [&](const ParamValues &at) {
      if (known.insert(at).second)
        points.push_back(at);
    });
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    size_t step = 1 + points.size() / std::max<size_t>(256, inside.size());
    bool refused = false;
    for (size_t i = 0; i < points.size(); i += step)
      (void)measure(points[i], refused, /*isInside=*/false);
  }

  /// Parameters that the grid gives several values are variables, micro-batches
  /// first. The others have one value, or their default.
  void findVariables() {
    for (auto [i, param] : enumerate(decl.params)) {
      auto valueAt = [i = i](const SizeFigures &size) {
        return size.params[i].second;
      };
      std::string name = param.name.text.str();
      bool isGiven = !request.grid.valuesOf(name).empty() ||
                     !request.grid.valuesOf(param.label.text).empty();
      if (isGiven && !all_equal(map_range(sizes, valueAt))) {
        bool isFirst = &param == request.schedule.microbatches;
        variables.insert(isFirst ? variables.begin() : variables.end(), i);
        continue;
      }
      std::string text = isGiven
                             ? itostr(valueAt(sizes[0]))
                             : ast::sourceText(param.defaultValue->range).str();
      fixed.push_back(
          name + " == " + (all_of(text, isWordByte) ? text : "(" + text + ")"));
    }
  }

  /// Leaves the sets of costs that the schedule can have; if there are none,
  /// the one of its own costs.
  void chooseCones() {
    erase_if(cones, [&](const CostCone &cone) {
      return cone.steps.contains('O') == overlaps.empty();
    });
    // Letters do not name costs of places, occupied edges and a second kind of
    // overlaps.
    if (result.hasPlaces || overlaps.size() > 1 ||
        own.count("cost(occupancy)") || (request.ownCosts && !costsVary))
      cones.clear();
    result.ownCostsOnly = cones.empty();
    if (!result.ownCostsOnly)
      result.assumed = {};
    else if (!costsVary)
      cones.push_back({"", ownCondition, ""});
  }

  /// The samples of a metric in a cone, for each rank if it differs between
  /// ranks.
  FitSamples samplesOf(size_t metric, const CostCone &cone) const {
    FitSamples samples;
    for (unsigned i : variables) {
      const ast::ParamDecl *param = &decl.params[i];
      if (samples.names.size() > 1 && param != request.schedule.chunks &&
          &decl.params[variables[0]] == request.schedule.microbatches)
        samples.divisors.push_back(samples.names.size());
      samples.names.push_back(param->name.text.str());
    }
    bool perRank = any_of(sizes, [&](const SizeFigures &size) {
      return any_of(size.runs, [&](const auto &run) {
        return !all_equal(run.second[metric]);
      });
    });
    if (perRank)
      samples.names.push_back("rank");
    samples.numVariables = samples.names.size() - 1;
    for (auto [number, size] : enumerate(sizes))
      for (unsigned rank = 0; rank != (perRank ? size.numRanks : 1); ++rank) {
        std::vector<int64_t> atoms = {1};
        for (unsigned i : variables)
          atoms.push_back(size.params[i].second);
        if (perRank)
          atoms.push_back(rank);
        samples.samples.push_back({size.use, number, std::move(atoms),
                                   factorsOf(metric, cone, size, rank)});
        samples.numInside += size.use != SampleUse::Outside;
      }
    samples.addQuotients();
    return samples;
  }

  /// The clauses in one cone.
  DerivedFigure derive(size_t metric, const CostCone &cone) const {
    DerivedFigure figure{derivedMetrics[metric], {}, 0, {}};
    FitSamples samples = samplesOf(metric, cone);
    auto sizesOf = [&](const BitVector &subset) {
      std::set<size_t> numbers;
      for (unsigned i : subset.set_bits())
        numbers.insert(samples.samples[i].size);
      return numbers;
    };
    BitVector uncovered(samples.samples.size());
    uncovered.set(0, samples.numInside);
    for (const FoundClause &found : findClauses(samples)) {
      uncovered.reset(found.samples);
      std::vector<std::string> conditions = fixed;
      append_range(conditions, found.conditions);
      if (!cone.condition.empty())
        conditions.push_back(
            formatv(cone.condition.data(), letters[overlapLetter]));
      std::set<size_t> met = sizesOf(found.samples);
      size_t fitted = count_if(met, [&](size_t number) {
        return sizes[number].use == SampleUse::Fitted;
      });
      figure.clauses.push_back(
          {found.text(letters, samples.names), join(conditions, " && "), fitted,
           met.size() - fitted,
           20 * found.samples.count() < samples.numInside});
    }
    std::ranges::stable_sort(figure.clauses, {}, &DerivedClause::length);
    std::set<size_t> open = sizesOf(uncovered);
    figure.uncovered = open.size();
    if (!open.empty())
      figure.firstUncovered = sizes[*open.begin()].params;
    return figure;
  }

  /// The clauses for the set of costs in which most figures have one.
  DerivedFigure derive(size_t metric) const {
    DerivedFigure best{derivedMetrics[metric],
                       {},
                       result.fitted + result.heldOut,
                       sizes[0].params};
    // Peaks do not depend on costs.
    for (const CostCone &cone :
         metric == peakMetric ? std::vector<CostCone>(1) : cones)
      if (best.uncovered != 0)
        if (DerivedFigure figure = derive(metric, cone);
            best.clauses.empty() || figure.uncovered < best.uncovered)
          best = std::move(figure);
    return best;
  }

  const DeriveRequest &request;
  const ast::ScheduleDecl &decl;
  DiagEngine &diags;
  Derivation result;
  /// The schedule's own costs by name in the syntax of programs, and whether
  /// they depend on its parameters.
  std::map<std::string, Rational> own;
  bool costsVary = false;
  std::vector<SmallVector<StepKind, 2>> overlaps;
  /// The letters in the syntax of programs.
  std::array<std::string, 6> letters = {"F", "B", "I", "W", "cost(p2p)", ""};
  /// Those for the steps of all sizes, at the end without the impossible ones.
  std::vector<CostCone> cones{std::begin(allCones), std::end(allCones)};
  std::string ownCondition;
  /// Those inside the grid come first.
  std::vector<SizeFigures> sizes;
  /// The parameters that formulas use, as indices of the parameters of the
  /// schedule, and the conditions on the others.
  std::vector<unsigned> variables;
  std::vector<std::string> fixed;
};

} // namespace

FailureOr<Derivation> derive(const DeriveRequest &request,
                             function_ref<void()> advance) {
  return Deriver(request).run(advance);
}

} // namespace pipec
