//===- GridFigures.cpp - The figures of a schedule at many sizes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/GridFigures.h"

#include "Derive/Formula.h"
#include "Driver/Figures.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Sets of costs with one formula
//===----------------------------------------------------------------------===//

/// The vectors of a cone with small entries that are not sums of others (the
/// Hilbert basis), and their sum.
static std::vector<CostVector> basisOf(const CostCone &cone) {
  constexpr int64_t maxEntry = 3;
  std::vector<CostVector> box = {{}}, basis;
  for (unsigned letter = 0; letter != box[0].size(); ++letter)
    if (letter == p2pLetter || cone.steps.contains("FBIWO"[letter]))
      for (size_t i = 0, size = box.size(); i != size; ++i)
        for (int64_t entry = 1; entry <= maxEntry; ++entry) {
          box.push_back(box[i]);
          box.back()[letter] = entry;
        }
  auto sizeOf = [](const CostVector &vector) {
    return std::accumulate(vector.begin(), vector.end(), int64_t(0));
  };
  llvm::stable_sort(box, [&](const CostVector &a, const CostVector &b) {
    return sizeOf(a) < sizeOf(b);
  });
  CostVector sum = {};
  for (const CostVector &vector : ArrayRef(box).drop_front()) {
    auto isPart = [&](const CostVector &part) {
      CostVector rest;
      llvm::transform(zip_equal(vector, part), rest.begin(), [](auto pair) {
        return std::get<0>(pair) - std::get<1>(pair);
      });
      return *llvm::min_element(rest) >= 0 && cone.meets(rest);
    };
    if (!cone.meets(vector) || any_of(basis, isPart))
      continue;
    basis.push_back(vector);
    for (auto [total, entry] : zip_equal(sum, vector))
      total += entry;
  }
  basis.push_back(sum);
  return basis;
}

ArrayRef<CostCone> allCostCones() {
  using std::max, std::min;
  static const std::vector<CostCone> cones = [] {
    std::vector<CostCone> rows = {
#define PIPEC_COST_CONE(Steps, Condition)                                      \
  {Steps,                                                                      \
   #Condition,                                                                 \
   [](const CostVector &costs) {                                               \
     [[maybe_unused]] auto [F, B, I, W, Overlap, P2P] = costs;                 \
     return Condition;                                                         \
   },                                                                          \
   {}},
#include "Derive/CostCones.def"
    };
    for (CostCone &cone : rows)
      cone.vectors = basisOf(cone);
    return rows;
  }();
  return cones;
}

std::vector<Rational> CostCone::factors(ArrayRef<Rational> values) const {
  LinearSystem system(CostVector().size());
  for (auto [vector, value] : zip_equal(vectors, values)) {
    std::vector<uint64_t> row(vector.begin(), vector.end());
    row.push_back(LinearSystem::residue(value));
    if (!system.add(std::move(row)))
      return {};
  }
  std::vector<Rational> result = system.solution(1).front();
  for (auto [vector, value] : zip_equal(vectors, values)) {
    std::optional<Rational> rest = value;
    for (auto [factor, cost] : zip_equal(result, vector))
      if (std::optional<Rational> part = Rational::mul(factor, cost))
        rest = rest ? Rational::sub(*rest, *part) : rest;
    if (rest != Rational(0))
      return {};
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The steps and costs of a schedule
//===----------------------------------------------------------------------===//

FailureOr<Schedule> GridFigures::lowered(const ParamValues &params) {
  refusedNow = false;
  DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &found) {
    bool refusal = isSizeRefusal(found);
    refusedNow |= refusal;
    if (!refusal && found.severity == Severity::Error)
      noteSize(found, paramText(params));
    return !refusal;
  });
  LowerOptions options = request.lowering;
  // The program's own clauses are not evaluated; they may not have a value.
  options.expectations = false;
  options.params.insert(options.params.end(), params.begin(), params.end());
  FailureOr<Schedule> result =
      request.source.lower(request.schedule, options, diags);
  if (failed(result) || failed(verify(*result, VerifyLevel::Compute, diags)))
    return failure();
  return result;
}

void GridFigures::noteCost(const std::string &name,
                           std::optional<Rational> value) {
  auto [it, fresh] = own.insert({name, value.value_or(0)});
  costsVary |= it->second != value;
}

static std::string overlapText(ArrayRef<StepKind> members) {
  return "cost(" + join(map_range(members, stepKindName), " & ") + ")";
}

void GridFigures::noteCosts(const Schedule &lowered) {
  const CostSettings &costs = lowered.costs;
  for (unsigned kind = 0; kind != overlapLetter; ++kind)
    if (lowered.costUse().kinds() >> kind & 1)
      noteCost(letterText(kind), costs.of(Figure(kind), anyStage));
  for (const StepList &list : lowered.ranks)
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (end - begin == 1 || !isCompute(list[begin].kind()))
        continue;
      SmallVector<StepKind, 2> members;
      for (Step step : ArrayRef(list).slice(begin, end - begin))
        members.push_back(step.kind());
      if (!is_contained(overlaps, members))
        overlaps.push_back(members);
    }
  for (ArrayRef<StepKind> members : overlaps) {
    Rational sum, longest;
    for (StepKind kind : members) {
      Rational cost = costs.of(kind, anyStage).value_or(0);
      sum = Rational::add(sum, cost).value_or(0);
      longest = std::max(longest, cost);
    }
    sum = Rational::mul(sum, costs.overlapFactor(members)).value_or(0);
    noteCost(overlapText(members),
             costs.ofOverlap(members).value_or(std::max(sum, longest)));
  }
  noteCost(letterText(p2pLetter), costs.general(Figure::P2P));
  if (Rational occupancy = costs.general(Figure::Occupancy);
      !occupancy.isZero() || own.contains("cost(occupancy)"))
    noteCost("cost(occupancy)", occupancy);
  assumed.add(lowered.assumedCosts());
  for (const auto &[place, row] : costs.places())
    for (const auto &[figure, value] : row) {
      bool whole = place.scope == FigureScope::Whole;
      hasPlaces |= !whole;
      if (!value.isZero() && infoOf(figure).unit == FigureUnit::Time &&
          (!whole || figure == Figure::Occupancy))
        onlyLetters = false;
    }
  onlyLetters &= overlaps.size() <= 1;
}

LogicalResult GridFigures::inspect() {
  bool good = true;
  request.grid.forEachPoint(*request.schedule.decl, [&](const ParamValues &at) {
    if (!good)
      return;
    if (FailureOr<Schedule> result = lowered(at); succeeded(result)) {
      noteCosts(*result);
      existing.push_back(at);
    } else {
      refused += refusedNow;
      good = refusedNow;
    }
  });
  return success(good);
}

std::string GridFigures::letterText(unsigned letter) const {
  if (letter == p2pLetter)
    return "cost(p2p)";
  return letter == overlapLetter ? overlapText(overlaps.front())
                                 : stepKindName(StepKind(letter)).str();
}

std::string GridFigures::steps() const {
  std::string steps;
  for (unsigned kind = 0; kind != overlapLetter; ++kind)
    if (own.contains(letterText(kind)))
      steps += "FBIW"[kind];
  return overlaps.empty() ? steps : steps + "O";
}

std::optional<CostVector> GridFigures::ownVector() const {
  constexpr int64_t limit = int64_t(1) << 40;
  CostVector vector = {};
  int64_t common = 1;
  for (const auto &[_, cost] : own)
    if (cost.denominator() > limit / common)
      return std::nullopt;
    else
      common = std::lcm(common, cost.denominator());
  for (unsigned letter = 0; letter != vector.size(); ++letter) {
    if (letter == overlapLetter && overlaps.empty())
      continue;
    auto cost = Rational::mul(own.lookup(letterText(letter)), common);
    if (!cost || *cost > limit)
      return std::nullopt;
    vector[letter] = cost->numerator();
  }
  return vector;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

FailureOr<SizeFigures> GridFigures::measure(const ParamValues &params,
                                            ArrayRef<CostVector> costs) {
  FailureOr<Schedule> result = lowered(params);
  if (failed(result))
    return failure();
  FailureOr<std::vector<Rational>> peaks = peakMemory(*result, diags);
  if (failed(peaks))
    return failure();
  SizeFigures size{result->params, result->numRanks, {}};
  const CostSettings own = result->costs;
  for (size_t i = 0; i <= costs.size(); ++i) {
    result->costs = own;
    if (i != costs.size()) {
      for (unsigned kind = 0; kind != overlapLetter; ++kind)
        result->costs.set(Figure(kind), costs[i][kind]);
      result->costs.set(Figure::P2P, costs[i][p2pLetter]);
      for (const auto &members : overlaps)
        result->costs.set({members, costs[i][overlapLetter], false});
    }
    FailureOr<Simulation> run = simulate(*result, diags);
    if (failed(run))
      return failure();
    RunFigures &figures = size.runs.emplace_back();
    auto &[makespan, span, idle, peak] = figures.values;
    makespan = {run->time(run->makespan())};
    span = {run->time(run->span())};
    peak = *peaks;
    for (const RankTimes &rank : run->ranks()) {
      idle.push_back(run->time(run->makespan() - rank.work));
      figures.starts.push_back(run->time(rank.start));
    }
  }
  return size;
}

std::vector<ParamValues> GridFigures::pointsOutside() const {
  // All combinations of some values inside, and those outside.
  Grid wide;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (size_t i = 0; i != existing.front().size(); ++i) {
    std::set<int64_t> inside, values;
    for (const ParamValues &params : existing)
      inside.insert(params[i].second);
    auto [least, most] = ranges.emplace_back(*inside.begin(), *inside.rbegin());
    if (inside.size() > 1 && most <= maxMicrobatches &&
        wide.numPoints(*request.schedule.decl) < 4096) {
      values = {*std::next(inside.begin()),
                *std::next(inside.begin(), inside.size() / 2), most,
                2 * most - 1, 2 * most};
      for (int64_t below : {1, 2})
        values.insert(std::max<int64_t>(1, least - below));
      // Neighbours, for residues.
      for (int64_t above = 1; above <= 6; ++above)
        values.insert(most + above);
    }
    values.insert(least);
    wide.setDefault(existing.front()[i].first,
                    std::vector<int64_t>(values.begin(), values.end()));
  }
  // All below the grid, and evenly spread ones above it.
  std::vector<ParamValues> points, above;
  wide.forEachPoint(*request.schedule.decl, [&](const ParamValues &at) {
    auto any = [&](auto isOutside) {
      return any_of(zip_equal(at, ranges), [&](const auto &pair) {
        return isOutside(std::get<0>(pair).second, std::get<1>(pair));
      });
    };
    if (any([](int64_t value, auto range) { return value < range.first; }))
      points.push_back(at);
    else if (any([](int64_t value, auto range) {
               return value > range.second;
             }))
      above.push_back(at);
  });
  size_t limit = std::min(above.size(), std::max<size_t>(256, existing.size()));
  for (size_t k = 0; k != limit; ++k)
    points.push_back(std::move(above[k * above.size() / limit]));
  return points;
}

} // namespace pipec
