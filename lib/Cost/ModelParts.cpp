//===- ModelParts.cpp - Cutting one model in different ways ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/ModelParts.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// A figure of one part; empty if it does not fit.
using PartFigure = function_ref<std::optional<Rational>(unsigned part)>;

/// Cuts `parts` parts into `stages` stages.
class Cutter {
public:
  Cutter(unsigned parts, unsigned stages) : parts(parts), stages(stages) {}

  /// Calls `body` with each part that lies in the stage, and which share of the
  /// part does.
  void forEachPart(unsigned stage,
                   function_ref<void(unsigned part, Rational share)> body) {
    // In units where a part has the length `stages` and a stage the length
    // `parts`.
    uint64_t begin = uint64_t(stage) * parts, end = begin + parts;
    for (uint64_t part = begin / stages; part * stages < end; ++part) {
      uint64_t inside =
          std::min(end, (part + 1) * stages) - std::max(begin, part * stages);
      body(part, *Rational::make(inside, stages));
    }
  }

  /// Sums, over all parts, the share of the figure that lies in the stage. Sets
  /// `fits` to false if the result does not fit.
  std::optional<Rational> ofStage(unsigned stage, PartFigure figure) {
    std::optional<Rational> sum = Rational(0);
    forEachPart(stage, [&](unsigned part, Rational share) {
      std::optional<Rational> whole = sum ? figure(part) : std::nullopt;
      auto inside = whole ? Rational::mul(*whole, share) : std::nullopt;
      sum = inside ? Rational::add(*sum, *inside) : std::nullopt;
    });
    fits &= sum.has_value();
    return sum;
  }

  /// The figure of a stage if all parts have the same.
  std::optional<Rational> scale(std::optional<Rational> figure) {
    std::optional<Rational> share = Rational::make(parts, stages);
    std::optional<Rational> scaled =
        figure && share ? Rational::mul(*figure, *share) : std::nullopt;
    fits &= scaled.has_value();
    return scaled;
  }

  bool fits = true;

private:
  unsigned parts;
  unsigned stages;
};

} // namespace

/// Copies the figures of `whole` to `spread`, except for single parts.
static void spreadPlaces(const FigureSet &whole, FigureSet &spread,
                         Cutter &cut) {
  for (const auto &[place, row] : whole.places()) {
    if (place.scope == FigureScope::Stage)
      continue;
    for (auto [figure, value] : row)
      if (auto scaled = infoOf(figure).isDivided() ? cut.scale(value) : value)
        spread.set(figure, *scaled, place);
  }
}

/// Divides what a step of a whole micro-batch takes among its slices. Figures
/// of slices are for a slice already.
static void divideBySlices(FigureSet &figures, unsigned slices, Cutter &cut) {
  figures.transform([&](Figure figure, Place place, Rational value) {
    const FigureInfo &info = infoOf(figure);
    bool ofStep = figure <= Figure::W || figure == Figure::Occupancy ||
                  figure == Figure::Receive || figure == Figure::Stash ||
                  info.unit == FigureUnit::Change || !info.inner().empty();
    if (!ofStep || place.scope == FigureScope::Slice)
      return value;
    std::optional<Rational> divided = Rational::div(value, slices);
    cut.fits &= divided.has_value();
    return divided.value_or(value);
  });
}

//===----------------------------------------------------------------------===//
// Compute costs
//===----------------------------------------------------------------------===//

namespace {

/// The share of I in a backward, for stage 0 and for the other stages. The
/// first stage of a model needs no gradient of its input, so its I may have
/// almost no cost and its W the cost of the whole backward. Other stages that
/// are cut from the first part do need it.
struct BackwardShares {
  Rational first, others;
  /// The denominator of halves that are split by these shares.
  int64_t grid;
};

} // namespace

/// The shares if part 0 differs in this way: only its I is less than a tenth of
/// its W, and all costs are given.
static std::optional<BackwardShares> backwardShares(const CostSettings &costs,
                                                    unsigned parts) {
  auto half = [&](Figure figure, unsigned part) {
    ComputeCost cost = costs.compute(figure, part);
    return cost.isAssumed() ? std::nullopt : cost.cost;
  };
  auto hasNoI = [&](unsigned part) -> std::optional<bool> {
    auto i = half(Figure::I, part), w = half(Figure::W, part);
    auto tenfold = i ? Rational::mul(*i, 10) : std::nullopt;
    if (!tenfold || !w)
      return std::nullopt;
    return *tenfold < *w;
  };
  if (hasNoI(0) != true)
    return std::nullopt;
  std::optional<Rational> i = Rational(0), both = Rational(0);
  int64_t grid = 1;
  auto add = [&](std::optional<Rational> &sum, Rational more) {
    sum = sum ? Rational::add(*sum, more) : std::nullopt;
    while (grid < more.denominator() && grid < 1'000'000'000)
      grid *= 10;
  };
  for (unsigned part = 1; part != parts; ++part) {
    if (hasNoI(part) != false)
      return std::nullopt;
    add(i, *half(Figure::I, part));
    add(both, *half(Figure::I, part));
    add(both, *half(Figure::W, part));
  }
  std::optional<Rational> i0 = Rational(0), both0 = Rational(0);
  add(i0, *half(Figure::I, 0));
  add(both0, *half(Figure::I, 0));
  add(both0, *half(Figure::W, 0));
  auto first = i0 && both0 ? Rational::div(*i0, *both0) : std::nullopt;
  auto others = i && both ? Rational::div(*i, *both) : std::nullopt;
  if (!first || !others)
    return std::nullopt;
  return BackwardShares{*first, *others, grid};
}

/// Splits a backward into halves with as many digits as the costs of the parts.
static bool splitBackward(ComputeSum &sum, Rational whole, Rational share,
                          int64_t grid) {
  auto i = Rational::mul(whole, share);
  i = i ? Rational::mul(*i, grid) : std::nullopt;
  i = i ? Rational::make(i->floor(), grid) : std::nullopt;
  auto w = i ? Rational::sub(whole, *i) : std::nullopt;
  if (!w)
    return false;
  sum.set(Figure::I, *i);
  sum.set(Figure::W, *w);
  return true;
}

/// Sets the compute costs of each stage to the sums over its parts.
static void spreadComputes(const CostSettings &costs, unsigned parts,
                           unsigned stages, CostSettings &spread, Cutter &cut) {
  auto shares = backwardShares(costs, parts);
  for (unsigned stage = 0; stage != stages; ++stage) {
    ComputeSum sum;
    Rational ofFirst; // the share of part 0
    unsigned held = 0;
    cut.forEachPart(stage, [&](unsigned part, Rational share) {
      sum.add(costs.given(part), share);
      ++held;
      if (part == 0)
        ofFirst = share;
    });
    if (!sum.fits()) {
      cut.fits = false;
      return;
    }
    if (shares && !ofFirst.isZero() && (stage != 0 || held > 1)) {
      // Stage 0 splits its backward as part 0 does, and the others split what
      // they have of part 0 as the other parts do.
      auto whole = Rational::add(*sum.sum(Figure::I), *sum.sum(Figure::W));
      Rational share = stage == 0 ? shares->first : shares->others;
      cut.fits &= whole && splitBackward(sum, *whole, share, shares->grid);
    }
    spread.set({FigureScope::Stage, stage}, sum);
  }
}

std::optional<CostSettings> spreadCosts(const CostSettings &costs,
                                        unsigned parts, unsigned stages,
                                        unsigned slices) {
  // Each part is a stage, so the rules for costs that are not given apply.
  if (parts == stages && slices == 1)
    return costs;
  Cutter cut(parts, stages);
  CostSettings spread;
  spreadPlaces(costs, spread, cut);
  spread.overlaps = costs.overlaps;
  for (CostSettings::Overlap &overlap : spread.overlaps)
    if (!overlap.isFactor)
      if (auto scaled = cut.scale(overlap.cost))
        overlap.cost = *scaled;

  // The defaults apply to a part, so they become explicit. Ranks,
  // micro-batches and slices with costs of their own then need all of theirs.
  bool anyStages = costs.has(FigureScope::Stage);
  if (!anyStages && !costs.at({}).hasCompute()) {
    auto setScaled = [&](Place place, const GivenCosts &given) {
      ComputeSum sum;
      sum.add(given, cut.scale(Rational(1)).value_or(0));
      for (Figure figure : {Figure::F, Figure::B, Figure::I, Figure::W})
        if (auto cost = sum.sum(figure)) {
          spread.set(figure, *cost, place);
          if (sum.rule(figure) != CostRule::Given)
            spread.assumedSums[place][unsigned(figure)] = sum.rule(figure);
        } else {
          cut.fits = false;
        }
    };
    for (const auto &[place, row] : costs.in(FigureScope::Rank))
      if (row.hasCompute())
        setScaled(place, costs.given(anyStage, place.number));
    for (FigureScope scope : {FigureScope::Microbatch,
                              FigureScope::StageMicrobatch, FigureScope::Slice})
      for (const auto &[place, row] : costs.in(scope))
        if (row.hasCompute())
          setScaled(place, costs.given(scope == FigureScope::StageMicrobatch
                                           ? place.number
                                           : anyStage,
                                       std::nullopt, unitPlaceOf(place)));
    setScaled({}, {});
  }

  if (anyStages)
    spreadComputes(costs, parts, stages, spread, cut);
  for (const FigureInfo &info : allFigures())
    if (anyStages && info.block == FigureBlock::Cost && info.isDivided() &&
        info.figure > Figure::W &&
        (!info.isIfGiven() || costs.has(info.figure)))
      for (unsigned stage = 0; stage != stages; ++stage)
        if (auto cost = cut.ofStage(stage, [&](unsigned part) {
              return costs.of(info.figure, part);
            }))
          spread.set(info.figure, *cost, {FigureScope::Stage, stage});
  divideBySlices(spread, slices, cut);
  for (CostSettings::Overlap &overlap : spread.overlaps)
    if (!overlap.isFactor)
      overlap.cost = Rational::div(overlap.cost, slices).value_or(0);
  return cut.fits ? std::optional(std::move(spread)) : std::nullopt;
}

std::optional<MemorySettings> spreadMemory(const MemorySettings &memory,
                                           unsigned parts, unsigned stages,
                                           unsigned slices) {
  if (parts == stages && slices == 1)
    return memory;
  Cutter cut(parts, stages);
  MemorySettings spread;
  spreadPlaces(memory, spread, cut);

  bool anyStages = memory.has(FigureScope::Stage);
  for (const FigureInfo &info : allFigures()) {
    if (info.block != FigureBlock::Memory || !info.isIn(FigureScope::Stage))
      continue;
    Figure figure = info.figure;
    // No part has it.
    if ((!info.inner().empty() || info.isIfGiven()) && !memory.has(figure))
      continue;
    if (info.unit == FigureUnit::Change && !memory.get(figure))
      if (auto scaled = cut.scale(memory.of(figure, anyStage)))
        spread.set(figure, *scaled);
    if (anyStages)
      for (unsigned stage = 0; stage != stages; ++stage) {
        // A figure that is kept comes from the first part of the stage.
        auto own = info.isDivided()
                       ? cut.ofStage(stage,
                                     [&](unsigned part) {
                                       return memory.of(figure, part);
                                     })
                       : memory.of(figure, uint64_t(stage) * parts / stages);
        if (own)
          spread.set(figure, *own, {FigureScope::Stage, stage});
      }
  }
  divideBySlices(spread, slices, cut);
  // The defaults above are explicit now, and those of units with an F of their
  // own follow from that one.
  for (FigureScope scope : {FigureScope::Microbatch, FigureScope::Slice})
    for (const auto &[place, row] : memory.in(scope)) {
      auto taken = spread.get(Figure::LiveF, place);
      if (!taken)
        continue;
      auto set = [&](Figure figure, std::optional<Rational> kept) {
        auto freed = kept ? Rational::sub(0, *kept) : std::nullopt;
        cut.fits &= freed.has_value();
        if (freed && !memory.has(figure))
          spread.set(figure, *freed, place);
      };
      set(Figure::LiveB, taken);
      auto left = spread.of(Figure::LiveI, anyStage, unitPlaceOf(place));
      set(Figure::LiveW, left ? Rational::add(*taken, *left) : std::nullopt);
    }
  return cut.fits ? std::optional(std::move(spread)) : std::nullopt;
}

} // namespace pipec
