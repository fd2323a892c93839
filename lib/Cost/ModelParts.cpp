//===- ModelParts.cpp - Cutting one model in different ways ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/ModelParts.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// A figure of one part; nothing if it does not fit.
using PartFigure = function_ref<std::optional<Rational>(unsigned part)>;

/// Cuts `parts` parts into `stages` stages.
class Cutter {
public:
  Cutter(unsigned parts, unsigned stages) : parts(parts), stages(stages) {}

  /// Sums, over all parts, the share of the figure that lies in the stage. Sets
  /// `fits` to false if the result does not fit.
  std::optional<Rational> ofStage(unsigned stage, PartFigure figure) {
    // In units where a part has the length `stages` and a stage the length
    // `parts`.
    uint64_t begin = uint64_t(stage) * parts, end = begin + parts;
    std::optional<Rational> sum = Rational(0);
    for (uint64_t part = begin / stages; part * stages < end && sum; ++part) {
      uint64_t inside =
          std::min(end, (part + 1) * stages) - std::max(begin, part * stages);
      std::optional<Rational> whole = figure(part);
      std::optional<Rational> share = Rational::make(inside, stages);
      share = whole && share ? Rational::mul(*whole, *share) : std::nullopt;
      sum = share ? Rational::add(*sum, *share) : std::nullopt;
    }
    fits &= sum.has_value();
    return sum;
  }

  /// True if `holds` for a part that lies in the stage, completely or
  /// partially.
  bool anyPart(unsigned stage, function_ref<bool(unsigned part)> holds) const {
    uint64_t begin = uint64_t(stage) * parts, end = begin + parts;
    for (uint64_t part = begin / stages; part * stages < end; ++part)
      if (holds(part))
        return true;
    return false;
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

/// Copies the figures of `whole` to `spread`, except those of single parts.
static void spreadPlaces(const FigureSet &whole, FigureSet &spread,
                         Cutter &cut) {
  for (const auto &[place, row] : whole.places()) {
    if (place.scope == FigureScope::Stage)
      continue;
    for (auto [figure, value] : row)
      if (auto scaled =
              infoOf(figure).cut == WhenCut::Kept ? value : cut.scale(value))
        spread.set(figure, *scaled, place);
  }
}

std::optional<CostSettings> spreadCosts(const CostSettings &costs,
                                        unsigned parts, unsigned stages) {
  Cutter cut(parts, stages);
  CostSettings spread;
  spreadPlaces(costs, spread, cut);
  spread.overlaps = costs.overlaps;
  for (CostSettings::Overlap &overlap : spread.overlaps)
    if (!overlap.isFactor)
      if (auto scaled = cut.scale(overlap.cost))
        overlap.cost = *scaled;

  bool anyStages = costs.has(FigureScope::Stage);
  for (const FigureInfo &info : allFigures()) {
    if (info.block != FigureBlock::Cost || info.cut != WhenCut::Divided)
      continue;
    Figure figure = info.figure;
    // Figures with a default get an explicit cost, except B: if it is not set,
    // it is the sum of I and W, even on a rank with its own I.
    bool isSum = !info.defaultValue;
    if (!isSum && !info.defaultValue->isZero() && !costs.get(figure))
      if (auto scaled = cut.scale(info.defaultValue))
        spread.set(figure, *scaled);
    auto given = [&](unsigned part) {
      return costs.get(figure) || costs.get(figure, {FigureScope::Stage, part});
    };
    if (anyStages && info.isIn(FigureScope::Stage))
      for (unsigned stage = 0; stage != stages; ++stage)
        if (!isSum || cut.anyPart(stage, given))
          if (auto cost = cut.ofStage(
                  stage, [&](unsigned part) { return costs.of(figure, part); }))
            spread.set(figure, *cost, {FigureScope::Stage, stage});
  }
  return cut.fits ? std::optional(std::move(spread)) : std::nullopt;
}

std::optional<MemorySettings> spreadMemory(const MemorySettings &memory,
                                           unsigned parts, unsigned stages) {
  Cutter cut(parts, stages);
  MemorySettings spread;
  spreadPlaces(memory, spread, cut);

  bool anyStages = memory.has(FigureScope::Stage);
  for (const FigureInfo &info : allFigures()) {
    if (info.block != FigureBlock::Memory || !info.isIn(FigureScope::Stage))
      continue;
    Figure figure = info.figure;
    // No part has it.
    if (!info.inner().empty() && !memory.has(figure))
      continue;
    if (info.unit == FigureUnit::Change && !memory.get(figure))
      if (auto scaled = cut.scale(memory.of(figure, anyStage)))
        spread.set(figure, *scaled);
    if (anyStages)
      for (unsigned stage = 0; stage != stages; ++stage) {
        // A figure that is kept is that of the first part of the stage.
        auto own = info.cut == WhenCut::Kept
                       ? memory.of(figure, uint64_t(stage) * parts / stages)
                       : cut.ofStage(stage, [&](unsigned part) {
                           return memory.of(figure, part);
                         });
        if (own)
          spread.set(figure, *own, {FigureScope::Stage, stage});
      }
  }
  return cut.fits ? std::optional(std::move(spread)) : std::nullopt;
}

} // namespace pipec
