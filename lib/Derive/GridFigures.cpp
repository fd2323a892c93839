//===- GridFigures.cpp - The figures of a schedule at many sizes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

#include "Driver/Figures.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace pipec {

/// The figures of the letters; overlaps have none.
static constexpr std::pair<CostLetter, Figure> figuresOfLetters[] = {
    {CostLetter::F, Figure::F},
    {CostLetter::B, Figure::B},
    {CostLetter::I, Figure::I},
    {CostLetter::W, Figure::W},
    {CostLetter::P2P, Figure::P2P}};

/// The letter of a compute kind.
static unsigned letterOf(StepKind kind) {
  static_assert(unsigned(StepKind::F) == unsigned(CostLetter::F) &&
                unsigned(StepKind::B) == unsigned(CostLetter::B) &&
                unsigned(StepKind::I) == unsigned(CostLetter::I) &&
                unsigned(StepKind::W) == unsigned(CostLetter::W));
  assert(isCompute(kind) && "other steps have no cost letter");
  return unsigned(kind);
}

/// The cost of an overlap that was not seen before; no cost is negative.
static const Rational unknownCost = -1;

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

//===----------------------------------------------------------------------===//
// The steps of a schedule
//===----------------------------------------------------------------------===//

void GridFigures::noteSteps(const Schedule &lowered) {
  for (const StepList &list : lowered.ranks)
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (!isCompute(list[begin].kind()))
        continue;
      SmallVector<StepKind, 2> members;
      for (size_t i = begin; i != end; ++i) {
        members.push_back(list[i].kind());
        used.letters.set(letterOf(members.back()));
      }
      if (members.size() == 1)
        continue;
      used.letters.set(unsigned(CostLetter::Overlap));
      if (none_of(used.overlaps, [&](const CostSettings::Overlap &other) {
            return other.members == members;
          }))
        used.overlaps.push_back({members, unknownCost, false});
    }
}

void GridFigures::noteCosts(const Schedule &lowered) {
  const CostSettings &own = lowered.costs;
  CostVector costs;
  for (auto [letter, figure] : figuresOfLetters)
    costs[unsigned(letter)] = figure == Figure::P2P
                                  ? own.general(figure)
                                  : own.of(figure, anyStage).value_or(0);
  for (CostSettings::Overlap &overlap : used.overlaps) {
    Rational cost, longest;
    for (StepKind kind : overlap.members) {
      cost = Rational::add(cost, costs[letterOf(kind)]).value_or(0);
      longest = std::max(longest, costs[letterOf(kind)]);
    }
    cost = Rational::mul(cost, own.overlapFactor(overlap.members)).value_or(0);
    cost = own.ofOverlap(overlap.members).value_or(std::max(cost, longest));
    used.costsVary |= overlap.cost != unknownCost && overlap.cost != cost;
    overlap.cost = cost;
  }
  Rational occupancy = own.general(Figure::Occupancy);
  used.costsVary |=
      !existing.empty() && (costs != used.costs || occupancy != used.occupancy);
  used.occupancy = occupancy;
  used.costs = costs;
  used.assumed.add(lowered.assumedCosts());
  for (const auto &[place, row] : own.places())
    for (const auto &[figure, value] : row) {
      bool whole = place.scope == FigureScope::Whole;
      used.hasPlaces |= !whole;
      if (!value.isZero() && infoOf(figure).unit == FigureUnit::Time &&
          (!whole || figure == Figure::Occupancy))
        used.onlyLetters = false;
    }
  used.onlyLetters &= used.overlaps.size() <= 1;
}

LogicalResult GridFigures::inspect() {
  bool good = true;
  request.grid.forEachPoint(*request.schedule.decl,
                            [&](const ParamValues &params) {
                              if (!good)
                                return;
                              FailureOr<Schedule> result = lowered(params);
                              if (failed(result)) {
                                refused += refusedNow;
                                good = refusedNow;
                                return;
                              }
                              noteSteps(*result);
                              noteCosts(*result);
                              existing.push_back(params);
                            });
  if (!used.overlaps.empty())
    used.costs[unsigned(CostLetter::Overlap)] = used.overlaps.front().cost;
  return success(good);
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
  SizeFigures size{result->params, result->numRanks, {}, std::move(*peaks)};
  const CostSettings own = result->costs;
  for (size_t i = 0; i <= costs.size(); ++i) {
    result->costs = own;
    if (i != costs.size()) {
      for (auto [letter, figure] : figuresOfLetters)
        result->costs.set(figure, costs[i][unsigned(letter)]);
      for (const CostSettings::Overlap &overlap : used.overlaps)
        result->costs.set(CostSettings::Overlap{
            overlap.members, costs[i][unsigned(CostLetter::Overlap)], false});
    }
    FailureOr<Simulation> run = simulate(*result, diags);
    if (failed(run))
      return failure();
    RunFigures &figures = size.runs.emplace_back();
    figures.makespan = run->time(run->makespan());
    figures.span = run->time(run->span());
    for (const RankTimes &rank : run->ranks()) {
      figures.idle.push_back(run->time(run->makespan() - rank.work));
      figures.starts.push_back(run->time(rank.start));
    }
  }
  return size;
}

std::vector<ParamValues> GridFigures::sizesOutside() const {
  // All combinations of some values inside, and those outside.
  struct Point {
    ParamValues params;
    bool isBelow = false;
    bool isAbove = false;
  };
  std::vector<Point> points(1);
  for (size_t i = 0; i != existing.front().size(); ++i) {
    std::set<int64_t> inside;
    for (const ParamValues &params : existing)
      inside.insert(params[i].second);
    int64_t least = *inside.begin(), most = *inside.rbegin();
    std::set<int64_t> values = {least};
    if (inside.size() > 1 && most <= maxUnits) {
      values.insert({*std::next(inside.begin()),
                     *std::next(inside.begin(), inside.size() / 2), most});
      for (int64_t value = std::max<int64_t>(1, least - 2); value < least;
           ++value)
        values.insert(value);
      // Neighbours, for residues.
      for (int64_t value = 1; value <= 6; ++value)
        values.insert(most + value);
      values.insert({2 * most - 1, 2 * most});
    }
    if (points.size() > 4096)
      values = {least};
    std::vector<Point> longer;
    for (const Point &point : points)
      for (int64_t value : values) {
        Point &next = longer.emplace_back(point);
        next.params.push_back({existing.front()[i].first, value});
        next.isBelow |= value < least;
        next.isAbove |= value > most;
      }
    points = std::move(longer);
  }
  // All below the grid, and evenly spread ones above it.
  std::vector<ParamValues> sizes, above;
  for (Point &point : points)
    if (point.isBelow)
      sizes.push_back(std::move(point.params));
    else if (point.isAbove)
      above.push_back(std::move(point.params));
  size_t limit = std::min(above.size(), std::max<size_t>(256, existing.size()));
  for (size_t k = 0; k != limit; ++k)
    sizes.push_back(std::move(above[k * above.size() / limit]));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Sets of costs with one formula
//===----------------------------------------------------------------------===//

static CostVector operator*(int64_t factor, CostVector costs) {
  for (Rational &cost : costs)
    cost = Rational::mul(factor, cost).value_or(0);
  return costs;
}

static CostVector operator+(CostVector sum, const CostVector &costs) {
  for (auto [total, cost] : zip_equal(sum, costs))
    total = Rational::add(total, cost).value_or(0);
  return sum;
}

static CostCone coneOf(const CostVector &steps, StringRef condition,
                       const CostVector &letters,
                       std::vector<CostVector> rays) {
  CostCone cone{{}, condition, {}, std::move(rays)};
  for (unsigned letter = 0; letter != numCostLetters; ++letter) {
    cone.steps[letter] = !steps[letter].isZero();
    if (!letters[letter].isZero())
      cone.letters.push_back(CostLetter(letter));
  }
  return cone;
}

ArrayRef<CostCone> allCostCones() {
  static const std::vector<CostCone> cones = [] {
    const CostVector F = {1}, B = {0, 1}, I = {0, 0, 1}, W = {0, 0, 0, 1},
                     Ov = {0, 0, 0, 0, 1}, P2P = {0, 0, 0, 0, 0, 1};
    return std::vector<CostCone>{
#define PIPEC_COST_CONE(Steps, Condition, Letters, ...)                        \
  coneOf(Steps, Condition, Letters, {__VA_ARGS__}),
#include "Derive/CostCones.def"
    };
  }();
  return cones;
}

CostVector CostCone::inside() const {
  CostVector sum;
  for (const CostVector &ray : rays)
    sum = sum + ray;
  return sum;
}

/// By Carathéodory's theorem, a vector of the cone is a sum of multiples of
/// independent rays. All sets of rays are tried; there are at most 4 rays.
bool CostCone::contains(const CostVector &costs) const {
  for (unsigned set = 0; set != 1u << rays.size(); ++set) {
    LinearSystem system(rays.size(), 1);
    bool good = true;
    for (unsigned letter = 0; letter != numCostLetters; ++letter) {
      std::vector<Residue> row;
      for (auto [i, ray] : enumerate(rays))
        row.push_back(set >> i & 1 ? Residue(ray[letter]) : Residue());
      row.push_back(Residue(costs[letter]));
      good &= system.add(std::move(row));
    }
    auto multiples = system.solution();
    if (good && multiples &&
        none_of(multiples->front(), [](Rational x) { return x.isNegative(); }))
      return true;
  }
  return false;
}

bool CostCone::contains(const CostCone &other) const {
  return all_of(other.rays,
                [&](const CostVector &ray) { return contains(ray); });
}

std::optional<std::vector<Rational>>
CostCone::factors(ArrayRef<Rational> values) const {
  LinearSystem system(letters.size(), 1);
  for (auto [ray, value] : zip_equal(rays, values)) {
    std::vector<Residue> row;
    for (CostLetter letter : letters)
      row.push_back(Residue(ray[unsigned(letter)]));
    row.push_back(Residue(value));
    if (!system.add(std::move(row)))
      return std::nullopt;
  }
  auto solution = system.solution();
  if (!solution)
    return std::nullopt;
  return std::move(solution->front());
}

} // namespace pipec
