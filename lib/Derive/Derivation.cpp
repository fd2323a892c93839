//===- Derivation.cpp - Closed forms of measured figures ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

#include "Cost/SettingsText.h"
#include "Derive/ClauseFinder.h"
#include "Driver/Figures.h"
#include "Prove/Prove.h"
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
#include <numeric>
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
constexpr size_t spanMetric = 1, peakMetric = 3;
/// By rank, its start and its span.
constexpr size_t startMetric = 4, ownSpanMetric = 5, numFigures = 6;

/// The figures at one size.
struct SizeFigures {
  SampleUse use;
  /// All parameters of the schedule, in the order of the program.
  ParamValues params;
  unsigned numRanks;
  /// By costs, a sum of letters or none for those of the schedule, and by
  /// metric: one value or one per rank.
  std::map<StringRef, std::array<std::vector<Rational>, numFigures>> runs;
};

/// The figures at any number of micro-batches, for one value of all else.
struct ProvenSizes {
  /// They are known from this number on.
  int64_t from = 0;
  /// The numbers of one period, and of the next two: figures and parameters are
  /// linear in the number of periods. Empty if there is no proof.
  std::vector<SizeFigures> rows;
  /// The peaks are known, too.
  bool hasPeaks = true;

  /// Adds the figures `periods` after `first`, given those one period after it.
  /// False if they do not fit, or are not linear.
  bool add(const SizeFigures &first, const SizeFigures &next, int64_t periods) {
    SizeFigures &row = rows.emplace_back(first);
    for (auto [own, other] : zip_equal(row.params, next.params))
      own.second += periods * (other.second - own.second);
    for (auto &[word, figures] : row.runs)
      for (auto [metric, own] : enumerate(figures)) {
        std::set<Rational> growths;
        for (auto [value, other] : zip_equal(own, next.runs.at(word)[metric])) {
          std::optional<Rational> growth = Rational::sub(other, value);
          if (growth)
            growths.insert(*growth);
          if (growth)
            growth = Rational::mul(*growth, periods);
          if (growth)
            growth = Rational::add(*growth, value);
          if (!growth)
            return false;
          value = *growth;
        }
        // The span is the longest of ranks: these grow alike.
        if (metric == ownSpanMetric && growths.size() > 1)
          return false;
      }
    return true;
  }
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
    request.grid.forEachPoint(decl, [&](const ParamValues &at) {
      bool refused = false;
      if (good && add(at, refused, /*isInside=*/true))
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
    for (const SizeFigures &size : sizes)
      ++(size.use == SampleUse::Fitted ? result.fitted : result.heldOut);
    findVariables();
    const ast::ParamDecl &microbatches = *request.schedule.microbatches;
    for (auto [i, at] : enumerate(points)) {
      ParamValues point = at;
      erase_if(point, [&](const auto &value) {
        return value.first == microbatches.name.text ||
               value.first == microbatches.label.text;
      });
      otherPoints.insert({std::move(point), i});
    }
    measureOutside();
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

  /// The general costs of a word, a sum of letters.
  CostSettings costsOf(StringRef word, CostSettings costs = {}) const {
    for (unsigned letter = 0; letter <= p2pLetter; ++letter)
      costs.set(letter == p2pLetter ? Figure::P2P : Figure(letter),
                int64_t(word.count(letterNames[letter])));
    for (const auto &members : overlaps)
      costs.set({members, int64_t(word.count('O')), false});
    return costs;
  }

  /// The figures at a size, without P2P contention. Sets `refused` if a
  /// requirement refuses the size, which is not reported.
  std::optional<SizeFigures> measure(const ParamValues &params, bool &refused,
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
      return std::nullopt;
    FailureOr<std::vector<Rational>> peaks = peakMemory(*schedule, diags);
    if (failed(peaks))
      return std::nullopt;
    std::string kinds;
    for (unsigned kind = 0; kind != p2pLetter; ++kind)
      if (schedule->costUse().kinds() >> kind & 1)
        kinds += letterNames[kind];
    if (isInside)
      noteCosts(*schedule, kinds);
    erase_if(cones, [&](const CostCone &cone) {
      return !cone.words.empty() && cone.steps != kinds &&
             cone.steps != kinds + "O";
    });

    // About a third of the sizes are held out.
    SampleUse use = !isInside                            ? SampleUse::Outside
                    : xxh3_64bits(paramText(params)) % 3 ? SampleUse::Fitted
                                                         : SampleUse::HeldOut;
    SizeFigures size{use, schedule->params, schedule->numRanks, {}};
    const CostSettings ownCosts = schedule->costs;
    std::set<StringRef> words = {""};
    for (const CostCone &cone : cones)
      for (StringRef word : split(cone.words, ' '))
        words.insert(word);
    for (StringRef word : words) {
      schedule->costs = word.empty() ? ownCosts : costsOf(word, ownCosts);
      FailureOr<Simulation> run = simulate(*schedule, diags);
      if (failed(run))
        return std::nullopt;
      auto &[makespan, span, idle, peak, starts, spans] = size.runs[word];
      makespan = {run->time(run->makespan())};
      span = {run->time(run->span())};
      peak = *peaks;
      for (const RankTimes &rank : run->ranks()) {
        idle.push_back(run->time(run->makespan() - rank.work));
        starts.push_back(run->time(rank.start));
        spans.push_back(run->time(rank.end - rank.start));
      }
    }
    return size;
  }

  /// Keeps the figures at a size of the grid or outside; false if there are
  /// none.
  bool add(const ParamValues &params, bool &refused, bool isInside) {
    std::optional<SizeFigures> size = measure(params, refused, isInside);
    if (size)
      sizes.push_back(std::move(*size));
    return size.has_value();
  }

  /// Measures some points outside the grid, with values from 1 to twice the
  /// largest ones, at most as many as the grid has, or 256. Leaves out those
  /// with errors.
  void measureOutside() {
    Grid wide;
    for (const auto &[name, first] : points[0]) {
      auto [least, most] = std::ranges::minmax(request.grid.valuesOf(name));
      std::vector<int64_t> values = {first};
      // Neighbours, for residues.
      if (least != most && most <= maxUnits && wide.numPoints(decl) <= 4096)
        values = {1,        least,    (least + most) / 2, most + 1, most + 2,
                  most + 3, most + 4, most + 5,           most + 6, 2 * most};
      wide.setDefault(name, values);
    }
    std::set<ParamValues> known(points.begin(), points.end());
    std::vector<ParamValues> outside;
    wide.forEachPoint(decl, [&](const ParamValues &at) {
      if (known.insert(at).second)
        outside.push_back(at);
    });
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    size_t step = 1 + outside.size() / std::max<size_t>(256, points.size());
    bool refused = false;
    for (size_t i = 0; i < outside.size(); i += step)
      (void)add(outside[i], refused, /*isInside=*/false);
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

  /// The figures at any number of micro-batches, for some values of the other
  /// parameters, under all costs of a cone.
  /// `clauses` say which residues matter, and `one` is one of the sizes.
  ProvenSizes prove(StringRef costs, const ParamValues &others,
                    const SizeFigures &one, ArrayRef<FoundClause> clauses) {
    std::vector<int64_t> atoms = {1};
    for (unsigned i : variables)
      atoms.push_back(one.params[i].second);
    // The first rank.
    atoms.push_back(0);
    auto isWanted = [&](int64_t microbatches) {
      atoms[1] = microbatches;
      return any_of(clauses, [&](auto &clause) { return clause.holds(atoms); });
    };
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    ProvenSizes proven;
    int64_t period = 1;
    /// Numbers and remainders of sizes without a proof.
    std::set<std::pair<int64_t, int64_t>> open;
    SmallVector<StringRef> words;
    costs.split(words, ' ');
    // No step takes 0 under the costs inside, so the lists complete.
    for (StringRef word : reverse(words)) {
      LowerOptions options = request.lowering;
      append_range(options.params, others);
      if (!word.empty())
        options.given.costs.push_back(costsOf(word));
      auto found = pipec::prove({request.source.checkedProgram(),
                                 request.schedule, options, diags, std::nullopt,
                                 word != words.back(), isWanted});
      const ScheduleProof *proof = succeeded(found) ? found->proof() : nullptr;
      if (!proof)
        return {};
      proven.hasPeaks &= proof->hasPeaks;
      for (int64_t rest : proof->open)
        open.insert({proof->step, rest});
      proven.from = std::max(proven.from, proof->linearFrom);
      period = std::lcm(period, proof->step * proof->linearPeriod);
    }
    // From here on, conditions depend on residues alone, and for each residue
    // quotients are linear.
    int64_t cycle = std::lcm(period, 6);
    for (const auto &[_, value] : others) {
      proven.from = std::max({proven.from, value * value, 2 * value + 4});
      cycle = std::lcm(cycle, std::max<int64_t>(value, 1));
    }
    if (cycle > 1024)
      return {};
    std::vector<std::array<std::optional<SizeFigures>, 2>> ends(period);
    for (int64_t i = 0; i != 2 * period; ++i) {
      int64_t m = proven.from + i;
      ParamValues size = others;
      size.push_back({decl.params[variables[0]].name.text.str(), m});
      bool refused = false, isOpen = any_of(open, [&](auto rest) {
                              return m % rest.first == rest.second;
                            });
      auto &one = ends[i % period][i / period] = measure(size, refused, false);
      if (isOpen && one)
        one->runs.clear();
      else if (isOpen || !(one || refused))
        return {};
    }
    for (int64_t i = 0; i != 3 * cycle; ++i)
      if (const auto &[first, next] = ends[i % period]; first && next)
        if (!proven.add(*first, *next, i / period))
          return {};
    return proven;
  }

  /// From how many micro-batches on a clause holds at all numbers of them, for
  /// the other parameters of the grid. Empty if that is not proven.
  std::optional<int64_t> provenFrom(size_t metric, const CostCone &cone,
                                    StringRef costs, const FoundClause &clause,
                                    ArrayRef<FoundClause> all) {
    if (variables.empty() ||
        &decl.params[variables[0]] != request.schedule.microbatches)
      return std::nullopt;
    int64_t from = 0;
    bool isMet = false;
    for (const auto &[others, size] : otherPoints) {
      auto [proven, isNew] = proofs.try_emplace({costs, others});
      if (isNew)
        proven->second = prove(costs, others, sizes[size], all);
      const auto &[least, rows, hasPeaks] = proven->second;
      std::optional<bool> holds =
          clause.holdsForever(samplesOf(metric, cone, rows).samples);
      if (rows.empty() || !holds || (metric == peakMetric && !hasPeaks))
        return std::nullopt;
      isMet |= *holds;
      from = std::max(from, least);
    }
    return isMet ? std::optional(from) : std::nullopt;
  }

  /// The samples of a metric in a cone, for each rank if it differs between
  /// ranks.
  FitSamples samplesOf(size_t metric, const CostCone &cone,
                       ArrayRef<SizeFigures> rows) const {
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
    for (auto [number, size] : enumerate(rows))
      for (unsigned rank = 0; rank != (perRank ? size.numRanks : 1); ++rank) {
        std::vector<int64_t> atoms = {1};
        for (unsigned i : variables)
          atoms.push_back(size.params[i].second);
        if (perRank)
          atoms.push_back(rank);
        samples.samples.push_back({size.use, number, std::move(atoms),
                                   size.runs.empty()
                                       ? std::vector<Rational>()
                                       : factorsOf(metric, cone, size, rank)});
        samples.numInside += size.use != SampleUse::Outside;
      }
    samples.addQuotients();
    return samples;
  }

  /// The clauses of a metric for one set of costs.
  struct Candidate {
    CostCone cone;
    FitSamples samples;
    std::vector<FoundClause> clauses;
    /// The sizes inside the grid without a clause.
    std::set<size_t> open;
  };

  std::set<size_t> sizesOf(const FitSamples &samples, const BitVector &subset) {
    std::set<size_t> numbers;
    for (unsigned i : subset.set_bits())
      numbers.insert(samples.samples[i].size);
    return numbers;
  }

  /// The clauses for the set of costs in which most figures have one.
  DerivedFigure derive(size_t metric) {
    std::optional<Candidate> best;
    // Peaks do not depend on costs.
    for (const CostCone &cone :
         metric == peakMetric ? std::vector<CostCone>(1) : cones) {
      if (best && best->open.empty())
        break;
      Candidate one{cone, samplesOf(metric, cone, sizes), {}, {}};
      one.clauses = findClauses(one.samples);
      BitVector open(one.samples.samples.size());
      open.set(0, one.samples.numInside);
      for (const FoundClause &clause : one.clauses)
        open.reset(clause.samples);
      one.open = sizesOf(one.samples, open);
      if (!best || best->clauses.empty() || one.open.size() < best->open.size())
        best = std::move(one);
    }
    DerivedFigure figure{
        derivedMetrics[metric], {}, points.size(), sizes[0].params};
    if (!best)
      return figure;
    const auto &[cone, samples, clauses, open] = *best;
    for (const FoundClause &found : clauses) {
      std::vector<std::string> conditions = fixed;
      append_range(conditions, found.conditions);
      if (!cone.condition.empty())
        conditions.push_back(
            formatv(cone.condition.data(), letters[overlapLetter]));
      std::set<size_t> met = sizesOf(samples, found.samples);
      size_t fitted = count_if(met, [&](size_t number) {
        return sizes[number].use == SampleUse::Fitted;
      });
      figure.clauses.push_back(
          {found.text(letters, samples.names), join(conditions, " && "), fitted,
           met.size() - fitted, 20 * found.samples.count() < samples.numInside,
           provenFrom(metric, cone, cone.words, found, clauses)});
      // Peaks do not depend on costs: a proof of times is enough.
      std::optional<int64_t> &from = figure.clauses.back().everyM;
      if (metric != peakMetric)
        provenWords = cone.words;
      else if (!from)
        from = provenFrom(metric, cone, provenWords, found, clauses);
    }
    std::ranges::stable_sort(figure.clauses, {}, &DerivedClause::length);
    figure.uncovered = open.size();
    figure.firstUncovered =
        open.empty() ? ParamValues() : sizes[*open.begin()].params;
    return figure;
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
  /// The points of the grid with figures, and, without numbers of
  /// micro-batches, the first of each.
  std::vector<ParamValues> points;
  std::map<ParamValues, size_t> otherPoints;
  /// Those inside the grid come first.
  std::vector<SizeFigures> sizes;
  /// By the words of a cone and one of the other points.
  std::map<std::pair<StringRef, ParamValues>, ProvenSizes> proofs;
  /// The words of the last makespan, span or idle time.
  StringRef provenWords;
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
