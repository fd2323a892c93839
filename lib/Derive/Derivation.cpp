//===- Derivation.cpp - Closed forms of measured figures ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

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

/// A set of costs under which the time of a run may be one sum over letters:
/// the sums of multiples of its rays. Each word in `rays` is a sum of letters:
/// F, B, I, W, O for an overlap ("{0}" in the condition), and P for p2p. It is
/// for schedules with exactly the kinds of steps in `steps`.
struct CostCone {
  const char *steps, *condition, *rays;

  /// The rays, then their sum.
  SmallVector<StringRef> words() const {
    SmallVector<StringRef> words;
    StringRef(rays).split(words, ' ');
    words.push_back(rays);
    return words;
  }
};

/// The figures under some costs: by metric, and last the starts of the ranks,
/// one value or one per rank.
using RunFigures = std::array<std::vector<Rational>, 5>;

/// The figures at one size.
struct SizeFigures {
  SampleUse use;
  /// All parameters of the schedule, in the order of the program.
  ParamValues params;
  unsigned numRanks = 0;
  /// By costs, a sum of letters; empty for the costs of the schedule.
  std::map<StringRef, RunFigures> runs;
};

constexpr Expectation::Metric derivedMetrics[] = {
    Expectation::Metric::Makespan, Expectation::Metric::Span,
    Expectation::Metric::Idle, Expectation::Metric::Peak};
constexpr size_t spanMetric = 1, peakMetric = 3, startMetric = 4;
constexpr StringRef letterNames = "FBIWOP";
constexpr unsigned overlapLetter = 4, p2pLetter = 5;

/// The largest sets first.
constexpr CostCone allCones[] = {
    {"F", "", "F P"},
    {"FB", "", "F B P"},
    {"FB", "2 * cost(p2p) <= F + B", "F B FFP BBP"},
    {"FB", "cost(p2p) <= min(F, B)", "F B FBP"},
    {"FB", "cost(p2p) == 0", "F B"},
    {"FB", "F <= B && cost(p2p) == 0", "B FB"},
    {"FB", "B <= F && cost(p2p) == 0", "F FB"},
    {"FIW", "W <= min(F, I) && cost(p2p) == 0", "F I FIW"},
    {"FIW", "W <= min(F, I) && I <= 2 * W && cost(p2p) == 0", "F FIW FIIW"},
    {"FIW", "F == I && I == W && cost(p2p) == 0", "FIW"},
    {"FBO", "cost(p2p) == 0", "F B O"},
    {"FBO", "max(F, B) <= {0} && cost(p2p) == 0", "O FO BO FBO"},
    {"FBIW", "F == I && I == W && B == I + W && cost(p2p) == 0", "FBBIW"},
    {"FBIWO", "F == I && I == W && B == I + W && B <= {0} && cost(p2p) == 0",
     "O FBBIWOO"},
};

/// The factors of the letters in a time that is a sum over them in the whole
/// cone, 0 for redundant letters; empty if it is not.
std::vector<Rational> factorsOf(size_t metric, const CostCone &cone,
                                const SizeFigures &size, unsigned rank) {
  // A span is the end of a rank minus its start, which is convex only if the
  // start is a sum.
  for (unsigned each = 0; metric == spanMetric && each != size.numRanks; ++each)
    if (factorsOf(startMetric, cone, size, each).empty())
      return {};
  std::vector<AtomProduct> products;
  for (unsigned letter = letterNames.size(); letter != 0; --letter)
    products.push_back({0, letter});
  SmallVector<StringRef> words = cone.words();
  std::vector<std::vector<int64_t>> costs(words.size(), {1});
  std::vector<Equation> equations;
  for (auto [word, atoms] : zip_equal(words, costs)) {
    for (char letter : letterNames)
      atoms.push_back(word.count(letter));
    equations.push_back({atoms, size.runs.at(word)[metric][rank]});
  }
  std::vector<Rational> factors;
  if (auto sum = fitPolynomial(products, equations)) {
    factors.resize(letterNames.size());
    for (const auto &[factor, product] : sum->terms)
      factors[product.second - 1] = factor;
  }
  return factors;
}

/// Derives the clauses of one schedule.
class Deriver {
public:
  explicit Deriver(const DeriveRequest &request)
      : request(request), schedule(request.schedule), diags(request.diags) {}

  FailureOr<Derivation> run(function_ref<void()> advance) {
    bool good = true;
    request.grid.forEachPoint(*schedule.decl, [&](const ParamValues &at) {
      if (!good)
        return;
      bool refused = false;
      FailureOr<Schedule> point = lowered(at, refused);
      good = succeeded(point) || refused;
      result.refused += refused;
      if (succeeded(point)) {
        noteCosts(*point);
        existing.push_back(at);
      }
    });
    if (!good)
      return failure();
    constexpr size_t minSizes = 8;
    if (existing.size() < minSizes)
      return diags.report(schedule.decl->name.range, diag::DeriveTooFew,
                          schedule.decl->name.text,
                          countText(existing.size(), "size"), minSizes);
    std::string steps;
    for (unsigned letter = 0; letter <= overlapLetter; ++letter)
      if (own.count(letters[letter]))
        steps += letterNames[letter];
    // Letters do not name costs of places, occupied edges and a second kind of
    // overlaps.
    bool onlyLetters = !result.hasPlaces && overlaps.size() <= 1 &&
                       !own.count("cost(occupancy)");
    for (const CostCone &cone : allCones)
      if (onlyLetters && steps == cone.steps &&
          (!request.ownCosts || costsVary))
        cones.push_back(&cone);

    for (const ParamValues &params : existing) {
      // About a third of the sizes are held out.
      SampleUse use = xxh3_64bits(paramText(params)) % 3 ? SampleUse::Fitted
                                                         : SampleUse::HeldOut;
      if (failed(measure(params, use)))
        return failure();
      ++(use == SampleUse::Fitted ? result.fitted : result.heldOut);
      advance();
    }
    // Outside the grid, sizes with errors are left out.
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    for (const ParamValues &params : pointsOutside())
      (void)measure(params, SampleUse::Outside);
    findVariables();

    result.name = schedule.decl->name.text.str();
    result.path = request.source.path().str();
    result.ownCostsOnly = cones.empty();
    if (!result.ownCostsOnly)
      result.assumed = {};
    for (size_t metric : seq(std::size(derivedMetrics)))
      result.figures.push_back(derive(metric));
    return std::move(result);
  }

private:
  /// The schedule at a size. Sets `refused` if a requirement refuses the size.
  FailureOr<Schedule> lowered(const ParamValues &params, bool &refused) {
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
    FailureOr<Schedule> lowered =
        request.source.lower(schedule, options, diags);
    if (succeeded(lowered) &&
        failed(verify(*lowered, VerifyLevel::Compute, diags)))
      return failure();
    return lowered;
  }

  void noteCosts(const Schedule &lowered) {
    const CostSettings &costs = lowered.costs;
    auto note = [&](const std::string &name, std::optional<Rational> value) {
      auto [it, fresh] = own.insert({name, value.value_or(0)});
      costsVary |= it->second != value;
    };
    for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
      if (lowered.costUse().kinds() >> unsigned(kind) & 1)
        note(stepKindName(kind).str(), costs.of(kind, anyStage));
    for (const StepList &list : lowered.ranks)
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
      letters[overlapLetter] =
          "cost(" + join(map_range(members, stepKindName), " & ") + ")";
      note(letters[overlapLetter], costs.generalOverlap(members));
    }
    note(letters[p2pLetter], costs.general(Figure::P2P));
    if (Rational occupancy = costs.general(Figure::Occupancy);
        !occupancy.isZero() || own.count("cost(occupancy)"))
      note("cost(occupancy)", occupancy);
    result.assumed.add(lowered.assumedCosts());
    for (const auto &[place, row] : costs.places())
      result.hasPlaces |= place.scope != FigureScope::Whole;
  }

  /// Adds the figures at a size, without P2P contention.
  LogicalResult measure(const ParamValues &params, SampleUse use) {
    bool refused = false;
    FailureOr<Schedule> point = lowered(params, refused);
    if (failed(point))
      return failure();
    FailureOr<std::vector<Rational>> peaks = peakMemory(*point, diags);
    if (failed(peaks))
      return failure();
    SizeFigures size{use, point->params, point->numRanks, {}};
    const CostSettings ownCosts = point->costs;
    std::set<StringRef> words = {""};
    for (const CostCone *cone : cones)
      for (StringRef word : cone->words())
        words.insert(word);
    for (StringRef word : words) {
      point->costs = ownCosts;
      if (!word.empty()) {
        for (unsigned kind = 0; kind != overlapLetter; ++kind)
          point->costs.set(Figure(kind),
                           int64_t(word.count(letterNames[kind])));
        point->costs.set(Figure::P2P, int64_t(word.count('P')));
        for (const auto &members : overlaps)
          point->costs.set({members, int64_t(word.count('O')), false});
      }
      FailureOr<Simulation> run = simulate(*point, diags);
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

  /// Some points outside the grid, with values from 1 to twice the largest
  /// ones, at most about as many as the grid has, or 256.
  std::vector<ParamValues> pointsOutside() const {
    Grid wide;
    for (size_t i : seq(existing[0].size())) {
      std::set<int64_t> inside;
      for (const ParamValues &point : existing)
        inside.insert(point[i].second);
      int64_t least = *inside.begin(), most = *inside.rbegin();
      std::vector<int64_t> values = {least};
      // Neighbours, for residues.
      if (least != most && most <= maxMicrobatches &&
          wide.numPoints(*schedule.decl) <= 4096)
        values = {1,        least,    (least + most) / 2, most + 1, most + 2,
                  most + 3, most + 4, most + 5,           most + 6, 2 * most};
      wide.setDefault(existing[0][i].first, values);
    }
    std::set<ParamValues> known(existing.begin(), existing.end());
    std::vector<ParamValues> points;
    wide.forEachPoint(*schedule.decl, [&](const ParamValues &at) {
      if (known.insert(at).second)
        points.push_back(at);
    });
    size_t step = 1 + points.size() / std::max<size_t>(256, existing.size());
    std::vector<ParamValues> chosen;
    for (size_t i = 0; i < points.size(); i += step)
      chosen.push_back(points[i]);
    return chosen;
  }

  /// Parameters that the grid gives several values are variables, micro-batches
  /// first. The others have one value, or their default.
  void findVariables() {
    std::set<std::string> given;
    for (const auto &[name, value] : existing[0])
      given.insert(name);
    for (auto [i, param] : enumerate(schedule.decl->params)) {
      const std::string name = param.name.text.str();
      int64_t first = sizes[0].params[i].second;
      bool varies = any_of(sizes, [&, i = i](const SizeFigures &size) {
        return size.use != SampleUse::Outside && size.params[i].second != first;
      });
      if (varies &&
          (given.count(name) || given.count(param.label.text.str()))) {
        bool isFirst = &param == schedule.microbatches;
        variables.insert(isFirst ? variables.begin() : variables.end(), i);
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
  }

  /// The samples of a metric in a cone or under the costs of the schedule, for
  /// each rank if it differs between ranks.
  FitSamples samplesOf(size_t metric, const CostCone *cone) const {
    bool perRank = any_of(sizes, [&](const SizeFigures &size) {
      return any_of(size.runs, [&](const auto &run) {
        return !all_equal(run.second[metric]);
      });
    });
    FitSamples samples;
    samples.numComponents = cone ? letters.size() : 1;
    for (auto [number, i] : enumerate(variables)) {
      const ast::ParamDecl *param = &schedule.decl->params[i];
      samples.names.push_back(param->name.text.str());
      if (number != 0 && param != schedule.chunks &&
          &schedule.decl->params[variables[0]] == schedule.microbatches)
        samples.divisors.push_back(1 + number);
    }
    if (perRank)
      samples.names.push_back("rank");
    samples.numVariables = samples.names.size() - 1;
    for (auto [number, size] : enumerate(sizes))
      for (unsigned rank = 0; rank != (perRank ? size.numRanks : 1); ++rank) {
        FitSample &sample = samples.samples.emplace_back();
        sample = {size.use, number, {1}, {size.runs.at("")[metric][rank]}};
        for (unsigned i : variables)
          sample.atoms.push_back(size.params[i].second);
        if (perRank)
          sample.atoms.push_back(rank);
        if (cone)
          sample.values = factorsOf(metric, *cone, size, rank);
      }
    samples.addQuotients();
    return samples;
  }

  /// The sum of the products of the letters and their factors; letters with the
  /// same factor are added first.
  std::string valueText(const FoundClause &found, const CostCone *cone,
                        ArrayRef<std::string> names) const {
    if (!cone)
      return found.values[0].text(names, false);
    std::vector<std::string> terms;
    std::set<std::string> done = {"0"};
    for (const Formula &formula : found.values) {
      std::string factor = formula.text(names, true);
      if (!done.insert(factor).second)
        continue;
      std::vector<std::string> equal;
      for (auto [letter, other] : zip_equal(letters, found.values))
        if (other.text(names, true) == factor)
          equal.push_back(letter);
      std::string sum = join(equal, " + ");
      if (factor != "1")
        sum = factor + " * " + (equal.size() > 1 ? "(" + sum + ")" : sum);
      terms.push_back(std::move(sum));
    }
    return terms.empty() ? "0" : join(terms, " + ");
  }

  /// The clauses for the set of costs in which most figures have one.
  DerivedFigure derive(size_t metric) const {
    DerivedFigure best{derivedMetrics[metric], {}, sizes.size(), {}};
    std::vector<const CostCone *> tried = cones;
    if (metric == peakMetric || (cones.empty() && !costsVary))
      tried = {nullptr};
    for (const CostCone *cone : tried) {
      FitSamples samples = samplesOf(metric, cone);
      DerivedFigure figure{derivedMetrics[metric], {}, 0, {}};
      BitVector uncovered(samples.samples.size());
      for (auto [i, sample] : enumerate(samples.samples))
        uncovered[i] = sample.use != SampleUse::Outside;
      size_t numInside = uncovered.count();
      for (const FoundClause &found : findClauses(samples)) {
        uncovered.reset(found.samples);
        std::vector<std::string> conditions = fixed;
        append_range(conditions, found.conditions);
        if (cone && *cone->condition)
          conditions.push_back(
              formatv(cone->condition, letters[overlapLetter]));
        if (!cone && metric != peakMetric)
          for (const auto &[name, cost] : own)
            raw_string_ostream(conditions.emplace_back())
                << name << " == " << cost;
        std::set<size_t> fitted, heldOut;
        for (unsigned i : found.samples.set_bits()) {
          const FitSample &sample = samples.samples[i];
          (sample.use == SampleUse::Fitted ? fitted : heldOut)
              .insert(sample.size);
        }
        figure.clauses.push_back({valueText(found, cone, samples.names),
                                  join(conditions, " && "), fitted.size(),
                                  heldOut.size(),
                                  20 * found.samples.count() < numInside});
      }
      std::set<size_t> left;
      for (unsigned i : uncovered.set_bits())
        left.insert(samples.samples[i].size);
      figure.uncovered = left.size();
      if (!left.empty())
        figure.firstUncovered = sizes[*left.begin()].params;
      if (figure.uncovered < best.uncovered)
        best = std::move(figure);
    }
    llvm::stable_sort(best.clauses,
                      [](const DerivedClause &a, const DerivedClause &b) {
                        return a.value.size() + a.condition.size() <
                               b.value.size() + b.condition.size();
                      });
    return best;
  }

  const DeriveRequest &request;
  const CheckedSchedule &schedule;
  DiagEngine &diags;
  Derivation result;
  /// The points of the grid that exist.
  std::vector<ParamValues> existing;
  /// The schedule's own costs by name in the syntax of programs, and whether
  /// they depend on its parameters.
  std::map<std::string, Rational> own;
  bool costsVary = false;
  std::vector<SmallVector<StepKind, 2>> overlaps;
  /// The letters in the syntax of programs.
  std::array<std::string, 6> letters = {"F", "B", "I", "W", "", "cost(p2p)"};
  std::vector<const CostCone *> cones;
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
