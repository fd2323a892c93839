//===- GridFigures.cpp - The figures of a schedule at many sizes ----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/GridFigures.h"

#include "Driver/Figures.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace pipec {

/// The figures of the letters, in the order of `CostLetter`; overlaps have
/// none.
static constexpr std::optional<Figure> figureOfLetter[numCostLetters] = {
    Figure::F, Figure::B, Figure::I, Figure::W, std::nullopt, Figure::P2P};

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
  LowerOptions options = lowering;
  // The clauses of the program are those to be found, and may not even have a
  // value.
  options.expectations = false;
  options.params.insert(options.params.end(), params.begin(), params.end());
  FailureOr<Schedule> result = source.lower(schedule, options, diags);
  if (failed(result) || failed(verify(*result, VerifyLevel::Compute, diags)))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// What a schedule uses
//===----------------------------------------------------------------------===//

void GridFigures::noteSteps(const Schedule &lowered) {
  has[unsigned(CostLetter::P2P)] |= lowered.numRanks > 1;
  for (const StepList &list : lowered.ranks)
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (!isCompute(list[begin].kind()))
        continue;
      if (end == begin + 1) {
        has[unsigned(list[begin].kind())] = true;
        continue;
      }
      SmallVector<StepKind, 2> members;
      for (size_t i = begin; i != end; ++i) {
        members.push_back(list[i].kind());
        has[unsigned(list[i].kind())] = true;
      }
      if (none_of(used.overlaps, [&](const CostSettings::Overlap &other) {
            return other.members == members;
          }))
        used.overlaps.push_back({members, unknownCost, false});
      has[unsigned(CostLetter::Overlap)] = true;
    }
}

void GridFigures::noteCosts(const Schedule &lowered) {
  const CostSettings &own = lowered.costs;
  CostVector costs;
  for (unsigned letter = 0; letter != numCostLetters; ++letter)
    if (std::optional<Figure> figure = figureOfLetter[letter])
      costs[letter] = figure == Figure::P2P
                          ? own.general(Figure::P2P)
                          : own.of(*figure, anyStage).value_or(0);
  for (CostSettings::Overlap &overlap : used.overlaps) {
    Rational cost;
    for (StepKind kind : overlap.members)
      cost = Rational::add(cost, costs[unsigned(kind)]).value_or(0);
    cost = Rational::mul(cost, own.overlapFactor(overlap.members)).value_or(0);
    for (StepKind kind : overlap.members)
      cost = std::max(cost, costs[unsigned(kind)]);
    cost = own.ofOverlap(overlap.members).value_or(cost);
    used.costsVary |= overlap.cost != unknownCost && overlap.cost != cost;
    overlap.cost = cost;
  }
  Rational occupancy = own.general(Figure::Occupancy);
  used.costsVary |=
      !existing.empty() && (costs != used.costs || occupancy != used.occupancy);
  used.occupancy = occupancy;
  used.costs = costs;
  for (const auto &[place, row] : own.places())
    for (const auto &[figure, value] : row) {
      bool whole = place.scope == FigureScope::Whole;
      FigureUnit unit = infoOf(figure).unit;
      used.hasPlaces |= !whole;
      if (!value.isZero() && unit == FigureUnit::Time &&
          (!whole || figure == Figure::Occupancy))
        used.onlyLetters = false;
    }
  if (used.overlaps.size() > 1)
    used.onlyLetters = false;
}

LogicalResult GridFigures::inspect(const Grid &grid) {
  bool good = true;
  grid.forEachPoint(*schedule.decl, [&](const ParamValues &params) {
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
  static constexpr char letters[] = {'F', 'B', 'I', 'W', '&'};
  for (unsigned letter = 0; letter != std::size(letters); ++letter)
    if (has[letter])
      used.letters += letters[letter];
  return success(good);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

CostSettings GridFigures::settings(const CostSettings &own,
                                   const CostVector &costs) const {
  CostSettings settings = own;
  for (unsigned letter = 0; letter != numCostLetters; ++letter)
    if (std::optional<Figure> figure = figureOfLetter[letter])
      settings.set(*figure, costs[letter]);
  for (const CostSettings::Overlap &overlap : used.overlaps)
    settings.set(CostSettings::Overlap{
        overlap.members, costs[unsigned(CostLetter::Overlap)], false});
  return settings;
}

FailureOr<TimesUnder> GridFigures::run(const Schedule &schedule) {
  FailureOr<Simulation> run = simulate(schedule, diags);
  if (failed(run))
    return failure();
  TimesUnder times;
  times.makespan = run->time(run->makespan());
  times.span = run->time(run->span());
  for (const RankTimes &rank : run->ranks()) {
    times.idle.push_back(run->time(run->makespan() - rank.work));
    times.starts.push_back(run->time(rank.start));
  }
  return times;
}

FailureOr<SizeFigures> GridFigures::measure(Schedule schedule,
                                            ArrayRef<CostVector> costs) {
  SizeFigures size;
  size.params = schedule.params;
  size.numRanks = schedule.numRanks;
  FailureOr<std::vector<Rational>> peaks = peakMemory(schedule, diags);
  FailureOr<TimesUnder> own = run(schedule);
  if (failed(peaks) || failed(own))
    return failure();
  size.peaks = std::move(*peaks);
  size.own = std::move(*own);
  CostSettings before = schedule.costs;
  for (const CostVector &vector : costs) {
    schedule.costs = settings(before, vector);
    FailureOr<TimesUnder> times = run(schedule);
    if (failed(times))
      return failure();
    size.under.push_back(std::move(*times));
  }
  return size;
}

LogicalResult GridFigures::measure(ArrayRef<CostVector> costs,
                                   function_ref<void()> advance) {
  for (const ParamValues &params : existing) {
    FailureOr<Schedule> result = lowered(params);
    if (failed(result))
      return failure();
    FailureOr<SizeFigures> size = measure(std::move(*result), costs);
    if (failed(size))
      return failure();
    figures.push_back(std::move(*size));
    advance();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Outside of the grid
//===----------------------------------------------------------------------===//

std::vector<ParamValues> GridFigures::pointsOutside() const {
  // The values of each parameter inside and outside.
  std::vector<std::vector<int64_t>> within, below, above;
  for (size_t i = 0; i != existing.front().size(); ++i) {
    std::set<int64_t> values;
    for (const ParamValues &params : existing)
      values.insert(params[i].second);
    std::vector<int64_t> all(values.begin(), values.end());
    within.push_back({all.front()});
    below.emplace_back();
    above.emplace_back();
    int64_t least = all.front(), most = all.back();
    if (all.size() == 1 || most > maxMicrobatches)
      continue;
    within.back() = {least, all[1], all[all.size() / 2], most};
    within.back().erase(std::unique(within.back().begin(), within.back().end()),
                        within.back().end());
    for (int64_t value = std::max<int64_t>(1, least - 2); value < least;
         ++value)
      below.back().push_back(value);
    // Neighbours, for residues.
    for (int64_t value = most + 1; value <= most + 6; ++value)
      above.back().push_back(value);
    llvm::append_values(above.back(), 2 * most - 1, 2 * most);
  }
  std::set<ParamValues> seen;
  auto addAll = [&](ArrayRef<std::vector<int64_t>> values,
                    std::vector<ParamValues> &points) {
    std::vector<ParamValues> all = {{}};
    for (size_t i = 0; i != values.size(); ++i) {
      std::vector<ParamValues> longer;
      for (const ParamValues &point : all)
        for (int64_t value : values[i]) {
          longer.push_back(point);
          longer.back().push_back({existing.front()[i].first, value});
        }
      all = std::move(longer);
    }
    for (ParamValues &point : all)
      if (seen.insert(point).second)
        points.push_back(std::move(point));
  };
  std::vector<ParamValues> smaller, larger;
  for (auto [outer, points] :
       {std::pair(&below, &smaller), {&above, &larger}}) {
    for (size_t i = 0; i != within.size(); ++i) {
      std::vector<std::vector<int64_t>> values = within;
      values[i] = (*outer)[i];
      addAll(values, *points);
    }
    // All parameters outside at once.
    for (size_t k = 0; k != 8; ++k) {
      std::vector<std::vector<int64_t>> values = within;
      for (size_t i = 0; i != values.size(); ++i)
        if (k < (*outer)[i].size())
          values[i] = {(*outer)[i][k]};
        else
          values[i].resize(1);
      addAll(values, *points);
    }
  }
  // All smaller ones, and larger ones evenly.
  std::set<ParamValues> grid(existing.begin(), existing.end());
  llvm::erase_if(smaller, [&](const ParamValues &p) { return grid.count(p); });
  llvm::erase_if(larger, [&](const ParamValues &p) { return grid.count(p); });
  size_t limit = std::max<size_t>(existing.size(), smaller.size());
  size_t some = std::min(larger.size(), limit - smaller.size());
  for (size_t k = 0; k != some; ++k)
    smaller.push_back(larger[k * larger.size() / some]);
  return smaller;
}

void GridFigures::measureOutside(ArrayRef<CostVector> costs) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  for (const ParamValues &params : pointsOutside()) {
    FailureOr<Schedule> result = lowered(params);
    if (failed(result))
      continue;
    FailureOr<SizeFigures> size = measure(std::move(*result), costs);
    if (succeeded(size))
      outside.push_back(std::move(*size));
  }
}

} // namespace pipec
