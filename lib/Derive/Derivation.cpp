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
#include "Support/Json.h"
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
  StringRef steps = "", condition = "", words = "";
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
constexpr size_t makespan = 0, span = 1, idle = 2, peak = 3;
/// Of single ranks.
constexpr size_t rankStart = 4, rankSpan = 5;

/// The figures at one size.
struct SizeFigures {
  /// All parameters of the schedule, in the order of the program.
  ParamValues params;
  unsigned numRanks = 0;
  bool isHeldOut = false;
  /// One value per rank, by costs and metric. The costs are a sum of letters,
  /// or empty for the costs of the schedule.
  std::map<std::pair<StringRef, size_t>, std::vector<Rational>> figures;
};

/// The figures at the size after two others, if all is linear in them.
std::optional<SizeFigures> nextOf(const SizeFigures &first,
                                  const SizeFigures &second) {
  SizeFigures next = second;
  for (auto [value, before] : zip_equal(next.params, first.params))
    value.second += value.second - before.second;
  for (auto &[key, values] : next.figures)
    for (auto [value, before] : zip_equal(values, first.figures.at(key))) {
      std::optional<Rational> growth = Rational::sub(value, before),
                              sum = growth ? Rational::add(value, *growth)
                                           : std::nullopt;
      if (!sum)
        return std::nullopt;
      value = *sum;
    }
  return next;
}

/// The figures at any number of micro-batches, for one value of all else.
struct ProvenSizes {
  /// They are known from this number on.
  int64_t from = 0;
  /// Three periods of sizes: for each remainder by the period, parameters and
  /// figures are linear in all that follow. Empty if there is no proof.
  std::vector<SizeFigures> rows;
  /// By metric, whether this holds.
  std::array<bool, 4> isLinear = {true, true, true, true};
};

/// The factors of the letters in a time that is a sum over them in the whole
/// cone, 0 for redundant letters, or the time if it is a number; else empty.
std::vector<Rational> factorsOf(size_t metric, const CostCone &cone,
                                const SizeFigures &size, unsigned rank) {
  if (size.figures.empty())
    return {};
  if (cone.words.empty())
    return {size.figures.at({"", metric})[rank]};
  // A span is the end of a rank minus its start, which is convex only if the
  // start is a sum.
  for (unsigned each = 0; metric == span && each != size.numRanks; ++each)
    if (factorsOf(rankStart, cone, size, each).empty())
      return {};
  std::vector<Equation> equations;
  for (StringRef word : split(cone.words, ' ')) {
    equations.push_back({{1}, size.figures.at({word, metric})[rank]});
    for (char letter : letterNames)
      equations.back().first.push_back(word.count(letter));
  }
  std::optional<Polynomial> sum = fitPolynomial({6, 5, 4, 3, 2, 1}, equations);
  if (!sum)
    return {};
  std::vector<Rational> factors(letterNames.size());
  for (const auto &[factor, letter] : sum->terms)
    factors[letter - 1] = factor;
  return factors;
}

/// Derives the clauses of one schedule.
class Deriver {
public:
  explicit Deriver(const DeriveRequest &request)
      : request(request), decl(*request.schedule.decl), diags(request.diags) {}

  FailureOr<json::Object> run(function_ref<void()> advance) {
    if (failed(measureAll(advance)))
      return failure();
    constexpr size_t minSizes = 8;
    if (numInside < minSizes)
      return diags.report(decl.name.range, diag::DeriveTooFew, decl.name.text,
                          countText(numInside, "size"), minSizes);
    findVariables();
    bool ownOnly = chooseCones(), hasClauses = false;
    json::Array figures, remarks, assumedKinds;
    for (size_t metric : {makespan, span, idle, peak}) {
      figures.push_back(derive(metric));
      hasClauses |= !figures.back().getAsObject()->getArray("clauses")->empty();
    }
    if (!hasClauses)
      return diags.report(decl.name.range, diag::NoFormula, decl.name.text);
    bool hasMemory = !request.lowering.given.allMemory().empty();
    auto remark = [&](bool holds, const std::string &text) {
      if (holds)
        remarks.push_back(text);
    };
    remark(ownOnly, "for the costs of the schedule only");
    remark(!assumed.empty(),
           "with costs that are not given: " + assumed.text());
    remark(hasPlaces, "with its costs and factors of single stages, ranks, "
                      "micro-batches or edges");
    remark(hasMemory, "with the memory settings of the profile");
    for (StepKind kind : assumed.kinds())
      assumedKinds.push_back(stepKindName(kind));
    size_t fitted =
        count_if(sizes, [](const auto &size) { return !size.isHeldOut; });
    return json::Object{{"name", json::fixUTF8(decl.name.text)},
                        {"file", json::fixUTF8(request.source.path())},
                        {"fitted", fitted},
                        {"held_out", sizes.size() - fitted},
                        {"refused", request.grid.numPoints(decl) - numInside},
                        {"own_costs_only", ownOnly},
                        {"has_places", hasPlaces},
                        {"assumed", std::move(assumedKinds)},
                        {"profile_memory", hasMemory},
                        {"remarks", std::move(remarks)},
                        {"figures", std::move(figures)}};
  }

private:
  /// Notes the steps and costs of the schedule at a size.
  void noteCosts(const Schedule &schedule) {
    const CostSettings &costs = schedule.costs;
    // A cost that does not fit is none.
    auto note = [&](const std::string &name, std::optional<Rational> cost) {
      own[name].insert(cost.value_or(-1));
    };
    std::string kinds;
    for (unsigned kind = 0; kind != p2pLetter; ++kind)
      if (schedule.costUse().kinds() >> kind & 1) {
        kinds += letterNames[kind];
        note({letterNames[kind]}, costs.of(StepKind(kind), anyStage));
      }
    erase_if(cones, [&](const CostCone &cone) {
      return cone.steps != kinds && cone.steps != kinds + "O";
    });
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
      hasPlaces |= place.scope != FigureScope::Whole;
    assumed.add(schedule.assumedCosts());
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

  /// The verified schedule of a size, if there is one.
  std::optional<Schedule> lowerAt(const ParamValues &params) {
    LowerOptions options = request.lowering;
    // The program's own clauses are not evaluated; they may not have a value.
    options.expectations = false;
    append_range(options.params, params);
    FailureOr<Schedule> schedule =
        request.source.lower(request.schedule, options, diags);
    if (failed(schedule) ||
        failed(verify(*schedule, VerifyLevel::Compute, diags)))
      return std::nullopt;
    return std::move(*schedule);
  }

  /// The figures at a size, without P2P contention, under the costs of some
  /// words, or of all cones. Sets `refused` if a requirement refuses the size,
  /// which is not reported.
  std::optional<SizeFigures>
  measure(const ParamValues &params, bool &refused,
          std::optional<StringRef> costs = std::nullopt) {
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &found) {
      refused |= isSizeRefusal(found);
      if (found.severity == Severity::Error)
        noteSize(found, paramText(params));
      return !isSizeRefusal(found);
    });
    std::optional<Schedule> schedule = lowerAt(params);
    if (!schedule)
      return std::nullopt;
    FailureOr<std::vector<Rational>> peaks = peakMemory(*schedule, diags);
    if (failed(peaks))
      return std::nullopt;
    if (!costs)
      noteCosts(*schedule);
    std::set<StringRef> words;
    for (StringRef word : split(costs.value_or(""), ' '))
      words.insert(word);
    for (const CostCone &cone : cones)
      for (StringRef word : split(costs.value_or(cone.words), ' '))
        words.insert(word);
    SizeFigures size{schedule->params, schedule->numRanks, false, {}};
    size.figures[{"", peak}] = *peaks;
    const CostSettings ownCosts = schedule->costs;
    for (StringRef word : words) {
      schedule->costs = word.empty() ? ownCosts : costsOf(word, ownCosts);
      FailureOr<Simulation> run = simulate(*schedule, diags);
      if (failed(run))
        return std::nullopt;
      auto note = [&](size_t metric, int64_t ticks) {
        size.figures[{word, metric}].push_back(run->time(ticks));
      };
      for (const RankTimes &rank : run->ranks()) {
        note(makespan, run->makespan());
        note(span, run->span());
        note(idle, run->makespan() - rank.work);
        note(rankStart, rank.start);
        note(rankSpan, rank.end - rank.start);
      }
    }
    return size;
  }

  /// Measures the grid and sizes next to it, which are only compared: from 1 to
  /// twice the largest values. Leaves out those with errors. Of very many,
  /// takes some, and all with several values of 1.
  LogicalResult measureAll(function_ref<void()> advance) {
    Grid wide;
    for (const auto &[name, first] : request.grid.point(decl)) {
      ArrayRef<int64_t> inside = request.grid.valuesOf(name);
      std::set<int64_t> values(inside.begin(), inside.end());
      int64_t least = *values.begin(), most = *values.rbegin();
      // Neighbours, for residues.
      if (least != most && most < maxUnits)
        values.insert({1, 2, std::max<int64_t>(1, least - 1), most + 1,
                       most + 2, most + 3, most + 4, most + 5, most + 6,
                       2 * most});
      wide.setDefault(name, to_vector(values));
    }
    uint64_t inside = request.grid.numPoints(decl),
             rate = 1 +
                    wide.numPoints(decl) / std::max<uint64_t>(1024, 4 * inside);
    bool good = true;
    std::vector<SizeFigures> neighbours;
    wide.forEachPoint(decl, [&](const ParamValues &at) {
      uint64_t hash = xxh3_64bits(paramText(at));
      bool refused = false,
           isInside = all_of(at, [&](const auto &value) {
             return is_contained(request.grid.valuesOf(value.first),
                                 value.second);
           });
      size_t ones = count(make_second_range(at), 1);
      if (!good || (!isInside && hash % rate != 0 && ones < 2))
        return;
      DiagEngine::ScopedFilter quiet(diags, [&](auto &) { return isInside; });
      std::optional<SizeFigures> size = measure(at, refused);
      if (size) {
        // About a third are held out.
        size->isHeldOut = !isInside || hash % 3 == 0;
        (isInside ? sizes : neighbours).push_back(std::move(*size));
      }
      if (!isInside)
        return;
      good = size || refused;
      ParamValues others = at;
      erase_if(others, [&](const auto &value) {
        return value.first == request.schedule.microbatches->name.text ||
               value.first == request.schedule.microbatches->label.text;
      });
      if (size)
        otherPoints.insert({std::move(others), numInside++});
      advance();
    });
    append_range(sizes, neighbours);
    for (const SizeFigures &size : sizes)
      for (const auto &[key, values] : size.figures)
        if (!all_equal(values))
          differing.insert(key.second);
    return success(good);
  }

  /// Parameters that the grid gives several values are variables, micro-batches
  /// first. The others have one value, or their default.
  void findVariables() {
    for (auto [i, param] : enumerate(decl.params)) {
      auto valueAt = [i = i](const SizeFigures &size) {
        return size.params[i].second;
      };
      bool isGiven = !request.grid.valuesOf(param.name.text).empty() ||
                     !request.grid.valuesOf(param.label.text).empty();
      if (isGiven && !all_equal(map_range(sizes, valueAt))) {
        hasM |= &param == request.schedule.microbatches;
        variables.insert(&param == request.schedule.microbatches
                             ? variables.begin()
                             : variables.end(),
                         i);
        continue;
      }
      std::string text = isGiven
                             ? itostr(valueAt(sizes[0]))
                             : ast::sourceText(param.defaultValue->range).str();
      if (!all_of(text, isWordByte))
        text = "(" + text + ")";
      fixed.push_back(param.name.text.str() + " == " + text);
    }
  }

  /// Leaves the sets of costs that the schedule can have; if there are none,
  /// the one of its own costs, unless they vary, and returns true.
  bool chooseCones() {
    bool costsVary =
        any_of(own, [](const auto &cost) { return cost.second.size() > 1; });
    erase_if(cones, [&](const CostCone &cone) {
      return cone.steps.contains('O') == overlaps.empty();
    });
    // Letters do not name costs of places, occupied edges and a second kind of
    // overlaps.
    if (hasPlaces || overlaps.size() > 1 || own.count("cost(occupancy)") ||
        (request.ownCosts && !costsVary))
      cones.clear();
    if (!cones.empty()) {
      assumed = {};
      return false;
    }
    for (const auto &[name, costs] : own)
      raw_string_ostream(ownCondition) << (ownCondition.empty() ? "" : " && ")
                                       << name << " == " << *costs.begin();
    if (!costsVary)
      cones.push_back({"", ownCondition, ""});
    return true;
  }

  /// The figures at any number of micro-batches, for some values of the other
  /// parameters, under all costs of a cone. `isWanted` tells which matter.
  ProvenSizes prove(StringRef costs, const ParamValues &others,
                    function_ref<bool(int64_t)> isWanted) {
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    ProvenSizes proven;
    // From `from` on, conditions depend on remainders by the period alone, and
    // for each of them quotients are linear.
    int64_t period = 6, linear = 1;
    for (const auto &[_, value] : others) {
      proven.from = std::max({proven.from, value * value, 2 * value + 4});
      period = std::lcm(period, std::max<int64_t>(value, 1));
    }
    /// Numbers and remainders of sizes without a proof.
    std::set<std::pair<int64_t, int64_t>> open;
    auto words = to_vector(split(costs, ' '));
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
      proven.isLinear[peak] &= proof->hasPeaks;
      for (int64_t rest : proof->open)
        open.insert({proof->step, rest});
      proven.from = std::max(proven.from, proof->linearFrom);
      linear = std::lcm(linear, proof->step * proof->linearPeriod);
    }
    period = std::lcm(period, linear);
    if (period > 1024)
      return {};
    // The same remainders are refused in all three periods.
    std::vector<std::optional<SizeFigures>> all;
    for (int64_t i = 0; i != 3 * period; ++i) {
      int64_t m = proven.from + i;
      ParamValues params = others;
      params.push_back({request.schedule.microbatches->name.text.str(), m});
      bool refused = false;
      std::optional<SizeFigures> &size = all.emplace_back();
      if (any_of(open,
                 [&](auto rest) { return m % rest.first == rest.second; })) {
        std::optional<Schedule> schedule = lowerAt(params);
        if (!schedule)
          return {};
        size = {schedule->params, schedule->numRanks, false, {}};
      } else if (i < 2 * linear) {
        size = measure(params, refused, costs);
        if (!size && !refused)
          return {};
      } else if (const auto &first = all[i - 2 * linear],
                 &second = all[i - linear];
                 first && second) {
        size = nextOf(*first, *second);
        if (!size)
          return {};
      } else if (first || second) {
        return {};
      }
    }
    for (std::optional<SizeFigures> &size : all)
      if (size)
        proven.rows.push_back(std::move(*size));
    size_t count = proven.rows.size() / 3;
    for (size_t i = 0; i != count; ++i)
      for (const auto &[key, first] : proven.rows[i].figures) {
        std::set<std::optional<Rational>> growths;
        const auto &next = proven.rows[i + count].figures.at(key);
        for (auto [value, later] : zip_equal(first, next))
          growths.insert(Rational::sub(later, value));
        // The span is the longest of ranks: these grow alike.
        proven.isLinear[span] &= key.second != rankSpan || growths.size() == 1;
      }
    return proven;
  }

  /// From how many micro-batches on each clause holds at all numbers of them,
  /// for the other parameters of the grid; empty where that is not proven.
  std::vector<std::optional<int64_t>>
  provenFrom(size_t metric, const CostCone &cone, StringRef costs,
             ArrayRef<FoundClause> clauses) {
    std::vector<std::optional<int64_t>> from(clauses.size());
    if (hasM)
      from.assign(clauses.size(), 0);
    BitVector isMet(clauses.size());
    for (const auto &[others, size] : otherPoints) {
      if (none_of(from, [](auto each) { return each.has_value(); }))
        break;
      FitSample one = samplesOf(metric, cone, sizes[size]).samples[0];
      auto isWanted = [&](int64_t microbatches) {
        one.atoms[1] = microbatches;
        return any_of(clauses, [&](auto &each) {
          return each.condition.holds(one.atoms);
        });
      };
      auto [proven, isNew] = proofs.try_emplace({costs, others});
      if (isNew)
        proven->second = prove(costs, others, isWanted);
      const auto &[least, rows, isLinear] = proven->second;
      FitSamples samples = samplesOf(metric, cone, rows);
      for (auto [i, clause] : enumerate(clauses)) {
        std::optional<bool> holds;
        if (from[i] && !rows.empty() && isLinear[metric])
          holds = clause.holdsForever(samples.samples);
        if (holds && *holds)
          isMet.set(i);
        from[i] =
            holds ? std::optional(std::max(*from[i], least)) : std::nullopt;
      }
    }
    for (size_t i = 0; i != clauses.size(); ++i)
      if (!isMet[i])
        from[i] = std::nullopt;
    return from;
  }

  /// The samples of a metric in a cone, for each rank if it differs between
  /// ranks.
  FitSamples samplesOf(size_t metric, const CostCone &cone,
                       ArrayRef<SizeFigures> rows) const {
    FitSamples samples;
    for (unsigned i : variables) {
      if (hasM && i != variables[0] &&
          &decl.params[i] != request.schedule.chunks)
        samples.divisors.push_back(samples.names.size());
      samples.names.push_back(decl.params[i].name.text.str());
    }
    bool perRank = differing.count(metric);
    if (perRank)
      samples.names.push_back("rank");
    for (auto [number, size] : enumerate(rows))
      for (unsigned rank = 0; rank != (perRank ? size.numRanks : 1); ++rank) {
        std::vector<int64_t> atoms = {1};
        for (unsigned i : variables)
          atoms.push_back(size.params[i].second);
        if (perRank)
          atoms.push_back(rank);
        samples.samples.push_back({number, size.isHeldOut, std::move(atoms),
                                   factorsOf(metric, cone, size, rank)});
      }
    samples.addTerms();
    return samples;
  }

  /// The numbers of the sizes of some samples.
  std::set<size_t> sizesOf(const FitSamples &samples, const BitVector &subset) {
    std::set<size_t> numbers;
    for (unsigned i : subset.set_bits())
      numbers.insert(samples.samples[i].size);
    return numbers;
  }

  /// The clauses for the set of costs in which the most sizes have one.
  json::Object derive(size_t metric) {
    CostCone cone;
    FitSamples samples;
    std::vector<FoundClause> found;
    // The sizes of the grid without a clause.
    std::set<size_t> open;
    for (size_t number : seq(numInside))
      open.insert(number);
    // Peaks do not depend on costs.
    for (const CostCone &each :
         metric == peak ? std::vector<CostCone>(1) : cones) {
      FitSamples own = samplesOf(metric, each, sizes);
      std::vector<FoundClause> clauses = findClauses(own);
      BitVector covered(own.samples.size());
      for (const FoundClause &clause : clauses)
        covered |= clause.condition.met;
      std::set<size_t> left = sizesOf(own, covered.flip());
      left.erase(left.lower_bound(numInside), left.end());
      if (!clauses.empty() && (found.empty() || left.size() < open.size()))
        std::tie(cone, samples, found, open) =
            std::tuple(each, own, clauses, left);
      if (open.empty())
        break;
    }
    if (metric != peak)
      provenWords = cone.words;
    std::string name = metricName(derivedMetrics[metric]).str() +
                       (isPerRank(derivedMetrics[metric]) ? "(rank)" : "");
    json::Array clauses;
    auto proven = provenFrom(metric, cone, cone.words, found), times = proven;
    // A proof of times is enough for peaks.
    if (metric == peak && is_contained(proven, std::nullopt))
      times = provenFrom(metric, cone, provenWords, found);
    for (const auto &[i, clause] : enumerate(found)) {
      std::vector<std::string> conditions = fixed;
      conditions.push_back(clause.condition.text);
      conditions.push_back(
          formatv(cone.condition.data(), letters[overlapLetter]));
      erase_if(conditions, [](const auto &text) { return text.empty(); });
      auto from = proven[i] ? proven[i] : times[i];
      std::string value = clause.text(letters, samples.names),
                  condition = join(conditions, " && ");
      std::set<size_t> met = sizesOf(samples, clause.condition.met);
      size_t fitted = count_if(
          met, [&](size_t number) { return !sizes[number].isHeldOut; });
      clauses.push_back(json::Object{
          {"clause", "expect " + name + " == " + value +
                         (condition.empty() ? "" : " if ") + condition + ";"},
          {"value", value},
          {"condition", condition},
          {"fitted", fitted},
          {"held_out", met.size() - fitted},
          {"sliver",
           20 * clause.condition.met.count() < samples.samples.size()},
          {"every_m", valueOrNull(from)}});
    }
    auto length = [](const json::Value &clause) {
      return clause.getAsObject()->getString("clause")->size();
    };
    std::ranges::stable_sort(clauses, {}, length);
    json::Object first;
    json::Array remarks;
    if (!open.empty()) {
      const ParamValues &params = sizes[*open.begin()].params;
      for (const auto &[param, value] : params)
        first[json::fixUTF8(param)] = value;
      remarks.push_back("no formula found for " + name + " at " +
                        countText(open.size(), "size") + ", such as " +
                        paramText(params));
    }
    return json::Object{
        {"metric", name},
        {"clauses", std::move(clauses)},
        {"uncovered", open.size()},
        {"first_uncovered",
         open.empty() ? json::Value(nullptr) : json::Value(std::move(first))},
        {"remarks", std::move(remarks)}};
  }

  const DeriveRequest &request;
  const ast::ScheduleDecl &decl;
  DiagEngine &diags;
  /// The schedule's own costs by name in the syntax of programs, at all sizes.
  std::map<std::string, std::set<Rational>> own;
  std::string ownCondition;
  /// Its costs that follow from given ones, if these limit the clauses.
  AssumedCosts assumed;
  /// True if it has costs or factors of single stages, ranks, micro-batches or
  /// edges, which the clauses do not name but depend on.
  bool hasPlaces = false;
  std::vector<SmallVector<StepKind, 2>> overlaps;
  /// The letters in the syntax of programs.
  std::array<std::string, 6> letters = {"F", "B", "I", "W", "cost(p2p)", ""};
  /// Those for the steps of all sizes, at the end without the impossible ones.
  std::vector<CostCone> cones{std::begin(allCones), std::end(allCones)};
  /// The sizes of the grid come first.
  std::vector<SizeFigures> sizes;
  size_t numInside = 0;
  /// The metrics that differ between ranks.
  std::set<size_t> differing;
  /// The points of the grid without the numbers of micro-batches, and one of
  /// the sizes of each.
  std::map<ParamValues, size_t> otherPoints;
  /// By the words of a cone and one of these points.
  std::map<std::pair<StringRef, ParamValues>, ProvenSizes> proofs;
  /// The words of the last makespan, span or idle time.
  StringRef provenWords;
  /// The parameters that formulas use, as indices of the parameters of the
  /// schedule, and the conditions on the others.
  std::vector<unsigned> variables;
  /// The first of them is the number of micro-batches.
  bool hasM = false;
  std::vector<std::string> fixed;
};

} // namespace

FailureOr<json::Object> derive(const DeriveRequest &request,
                               function_ref<void()> advance) {
  return Deriver(request).run(advance);
}

} // namespace pipec
