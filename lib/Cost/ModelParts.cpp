//===- ModelParts.cpp - One model, cut in different ways -----===//
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

constexpr StepKind computeKinds[] = {StepKind::F, StepKind::B, StepKind::I,
                                     StepKind::W};
constexpr StepKind collectiveKinds[] = {StepKind::Unshard, StepKind::Reshard,
                                        StepKind::ReduceGrad};

/// A figure of one part; nothing when it does not fit.
using PartFigure = function_ref<std::optional<Rational>(unsigned part)>;

/// Cuts `parts` parts into `stages` stages.
class Cutter {
public:
  Cutter(unsigned parts, unsigned stages) : parts(parts), stages(stages) {}

  /// The figure of a stage, of each part what lies in it. Sets `fits` to false
  /// when it does not fit.
  std::optional<Rational> ofStage(unsigned stage, PartFigure figure) {
    // In units of which a part is `stages` and a stage is `parts`.
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

  /// True when `holds` for a part that lies in the stage, wholly or not.
  bool anyPart(unsigned stage, function_ref<bool(unsigned part)> holds) const {
    uint64_t begin = uint64_t(stage) * parts, end = begin + parts;
    for (uint64_t part = begin / stages; part * stages < end; ++part)
      if (holds(part))
        return true;
    return false;
  }

  /// The figure of a stage whose parts have all the same.
  std::optional<Rational> scale(std::optional<Rational> figure) {
    std::optional<Rational> share = Rational::make(parts, stages);
    std::optional<Rational> scaled =
        figure && share ? Rational::mul(*figure, *share) : std::nullopt;
    fits &= scaled.has_value();
    return scaled;
  }
  void scaleIfSet(std::optional<Rational> &figure) {
    if (figure)
      figure = scale(figure);
  }

  bool fits = true;

private:
  unsigned parts;
  unsigned stages;
};

} // namespace

std::optional<CostSettings> spreadCosts(const CostSettings &costs,
                                        unsigned parts, unsigned stages) {
  Cutter cut(parts, stages);
  CostSettings spread = costs;
  spread.stages.clear();

  // What has a default gets a cost of its own, but for B: where none is set it
  // is the sum of I and W, also of a rank with an I of its own.
  CostSettings general;
  general.all = costs.all;
  for (StepKind kind : {StepKind::F, StepKind::I, StepKind::W})
    spread.all.at(kind) = cut.scale(general.of(kind, 0));
  cut.scaleIfSet(spread.all.at(StepKind::B));
  for (StepKind kind : collectiveKinds)
    cut.scaleIfSet(spread.all.at(kind));

  auto hasB = [&](unsigned part) {
    auto row = costs.stages.find(part);
    return costs.all.at(StepKind::B) ||
           (row != costs.stages.end() && row->second.at(StepKind::B));
  };
  if (!costs.stages.empty())
    for (unsigned stage = 0; stage != stages; ++stage) {
      CostSettings::Row &row = spread.stages[stage];
      auto set = [&](StepKind kind) {
        row.at(kind) = cut.ofStage(
            stage, [&](unsigned part) { return costs.of(kind, part); });
      };
      for (StepKind kind : computeKinds)
        if (kind != StepKind::B || cut.anyPart(stage, hasB))
          set(kind);
      for (StepKind kind : collectiveKinds)
        set(kind);
    }

  for (auto &[rank, row] : spread.ranks) {
    for (StepKind kind : computeKinds)
      cut.scaleIfSet(row.at(kind));
    for (StepKind kind : collectiveKinds)
      cut.scaleIfSet(row.at(kind));
  }
  for (CostSettings::Overlap &overlap : spread.overlaps)
    if (!overlap.isFactor)
      if (auto scaled = cut.scale(overlap.cost))
        overlap.cost = *scaled;
  return cut.fits ? std::optional(std::move(spread)) : std::nullopt;
}

std::optional<MemorySettings> spreadMemory(const MemorySettings &memory,
                                           unsigned parts, unsigned stages) {
  Cutter cut(parts, stages);
  MemorySettings spread = memory;
  spread.stages.clear();

  MemorySettings general;
  general.all = memory.all;
  for (StepKind kind : computeKinds)
    spread.all.of[unsigned(kind)] = cut.scale(general.delta(kind, 0));
  cut.scaleIfSet(spread.all.parameters);
  cut.scaleIfSet(spread.all.sharded);

  if (!memory.stages.empty())
    for (unsigned stage = 0; stage != stages; ++stage) {
      MemorySettings::Row &row = spread.stages[stage];
      for (StepKind kind : computeKinds)
        row.of[unsigned(kind)] = cut.ofStage(
            stage, [&](unsigned part) { return memory.delta(kind, part); });
      row.parameters = cut.ofStage(
          stage, [&](unsigned part) { return memory.parameters(part); });
      row.sharded = cut.ofStage(
          stage, [&](unsigned part) { return memory.sharded(part); });
      // What a stage receives is what its first part would.
      row.receive = memory.receive(uint64_t(stage) * parts / stages);
    }
  return cut.fits ? std::optional(std::move(spread)) : std::nullopt;
}

} // namespace pipec
