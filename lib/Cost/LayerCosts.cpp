//===- LayerCosts.cpp - Costs of stages from their layers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayerCosts.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// The name of the activations of a layer in a profile; `F` is its time.
static constexpr StringLiteral activations = "activations";

static bool isOfLayers(const FigureInfo &info) {
  if (!info.isDivided())
    return false;
  return info.block == FigureBlock::Cost || info.unit == FigureUnit::Size;
}

const FigureInfo *findLayerFigure(StringRef name) {
  if (name == activations)
    return &infoOf(Figure::LiveF);
  for (const FigureInfo &info : allFigures())
    if (isOfLayers(info) && info.name == name)
      return &info;
  return nullptr;
}

SmallVector<StringRef, 12> layerFigureNames() {
  SmallVector<StringRef, 12> names;
  for (const FigureInfo &info : allFigures())
    if (isOfLayers(info))
      names.push_back(info.name);
  names.push_back(activations);
  return names;
}

std::optional<FigureScope> notOfLayers(const CostSettings &costs) {
  if (costs.has(FigureScope::Stage))
    return FigureScope::Stage;
  for (FigureScope scope : {FigureScope::Rank, FigureScope::Microbatch,
                            FigureScope::StageMicrobatch, FigureScope::Slice})
    for (const auto &[place, row] : costs.in(scope))
      for (auto [figure, value] : row)
        if (infoOf(figure).isDivided())
          return scope;
  if (!all_of(costs.overlaps, [](const auto &one) { return one.isFactor; }))
    return FigureScope::Overlap;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Adds to `sum`; nothing stays nothing.
static void add(std::optional<Rational> &sum, std::optional<Rational> more) {
  sum = sum && more ? Rational::add(*sum, *more) : std::nullopt;
}

static std::optional<Rational> times(std::optional<Rational> a, Rational b) {
  return a ? Rational::mul(*a, b) : std::nullopt;
}

/// The compute costs that are given for one layer of a kind: its own, and the
/// general ones if they have a weight. An own backward replaces the general
/// backward and its halves. Empty if a cost does not fit.
static std::optional<GivenCosts> computeCosts(const LayerInfo &kind,
                                              const CostSettings &general,
                                              const LayerSettings &layers) {
  const auto &own = layers[size_t(kind.kind)];
  bool ownCompute = own && own->costs.hasCompute();
  GivenCosts costs;
  if (!ownCompute || kind.weight != 0)
    costs = general.given(anyStage);
  // The defaults of a layer without any cost have a weight as well.
  if (!ownCompute && none_of(costs, [](const auto &cost) { return cost; }))
    for (auto [figure, cost] : enumerate(costs))
      cost = general.of(Figure(figure), anyStage);
  for (std::optional<Rational> &cost : costs)
    if (cost && !(cost = times(cost, Rational(kind.weight))))
      return std::nullopt;
  if (!ownCompute)
    return costs;
  auto clear = [&](std::initializer_list<Figure> figures) {
    for (Figure figure : figures)
      costs[unsigned(figure)].reset();
  };
  if (own->costs.get(Figure::B))
    clear({Figure::I, Figure::W});
  else if (own->costs.get(Figure::I) || own->costs.get(Figure::W))
    clear({Figure::B});
  for (auto [figure, value] : own->costs)
    if (figure <= Figure::W)
      costs[unsigned(figure)] = value;
  return costs;
}

/// Another cost of one layer of a kind; empty if it does not fit.
static std::optional<Rational> costOf(Figure figure, const LayerInfo &kind,
                                      const CostSettings &general,
                                      const LayerSettings &layers) {
  const auto &own = layers[size_t(kind.kind)];
  auto given = own ? own->costs.get(figure) : std::nullopt;
  return given ? given
               : times(general.of(figure, anyStage), Rational(kind.weight));
}

/// Sets the compute costs of every stage to the sums over its layers; if they
/// are equal, sets the costs of the whole schedule. Returns false if a sum does
/// not fit.
static bool sumComputes(ArrayRef<LayerCounts> stages,
                        const CostSettings &general,
                        const LayerSettings &layers, CostSettings &sums) {
  std::vector<ComputeSum> all;
  for (const LayerCounts &counts : stages) {
    ComputeSum sum;
    for (const LayerInfo &kind : layerTable)
      if (unsigned count = counts[size_t(kind.kind)]) {
        auto costs = computeCosts(kind, general, layers);
        if (!costs)
          return false;
        sum.add(*costs, Rational(int64_t(count)));
      }
    if (!sum.fits())
      return false;
    all.push_back(sum);
  }
  ComputeSum defaults;
  defaults.add({}, 1);
  if (all_equal(all)) {
    if (!all.empty() && all[0] != defaults)
      sums.set({}, all[0]);
    return true;
  }
  for (const auto &[stage, sum] : enumerate(all))
    sums.set({FigureScope::Stage, unsigned(stage)}, sum);
  return true;
}

/// Sets a figure of every stage to the sum of `ofLayer` over its layers. If the
/// sums are equal, sets the figure of the whole schedule, unless it is the
/// default. Returns false if a sum does not fit.
static bool
sumStages(ArrayRef<LayerCounts> stages,
          function_ref<std::optional<Rational>(const LayerInfo &)> ofLayer,
          Figure figure, FigureSet &sums) {
  std::array<std::optional<Rational>, numLayerKinds> each;
  for (const LayerInfo &kind : layerTable)
    each[size_t(kind.kind)] = ofLayer(kind);
  std::vector<Rational> all;
  for (const LayerCounts &counts : stages) {
    std::optional<Rational> sum = Rational(0);
    for (size_t kind = 0; kind != numLayerKinds; ++kind)
      if (counts[kind])
        add(sum, times(each[kind], Rational(int64_t(counts[kind]))));
    if (!sum)
      return false;
    all.push_back(*sum);
  }
  if (!all_equal(all))
    for (const auto &[stage, sum] : enumerate(all))
      sums.set(figure, sum, {FigureScope::Stage, unsigned(stage)});
  else if (!all.empty() && infoOf(figure).defaultValue != all[0])
    sums.set(figure, all[0]);
  return true;
}

std::optional<char> kindWithoutCosts(StringRef letters,
                                     const LayerSettings &layers) {
  for (char letter : letters) {
    const LayerInfo &kind = layerTable[size_t(*layerOf(letter))];
    const auto &own = layers[size_t(kind.kind)];
    if (!kind.isKnown() && !(own && own->costs.hasCompute()))
      return letter;
  }
  return std::nullopt;
}

static std::vector<LayerCounts> countAll(ArrayRef<std::string> stages) {
  std::vector<LayerCounts> counts;
  llvm::transform(stages, std::back_inserter(counts), countLayers);
  return counts;
}

void copyKept(const FigureSet &from, FigureSet &to) {
  for (const auto &[place, row] : from.places())
    if (place.scope != FigureScope::Stage)
      for (auto [figure, value] : row)
        if (!infoOf(figure).isDivided())
          to.set(figure, value, place);
}

std::optional<CostSettings> sumCosts(const CostSettings &general,
                                     const LayerSettings &layers,
                                     ArrayRef<std::string> stages) {
  CostSettings sums;
  copyKept(general, sums);
  sums.overlaps = general.overlaps;
  std::vector<LayerCounts> counts = countAll(stages);
  if (!sumComputes(counts, general, layers, sums))
    return std::nullopt;
  for (const FigureInfo &info : allFigures()) {
    if (info.block != FigureBlock::Cost || !info.isDivided() ||
        info.figure <= Figure::W)
      continue;
    if (info.isIfGiven() && !general.has(info.figure) &&
        none_of(layers, [&](const auto &own) {
          return own && own->costs.get(info.figure);
        }))
      continue;
    auto ofLayer = [&](const LayerInfo &kind) {
      return costOf(info.figure, kind, general, layers);
    };
    if (!sumStages(counts, ofLayer, info.figure, sums))
      return std::nullopt;
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::optional<MemorySettings> sumMemory(const MemorySettings &general,
                                        const LayerSettings &layers,
                                        ArrayRef<std::string> stages) {
  MemorySettings sums;
  copyKept(general, sums);
  std::vector<LayerCounts> counts = countAll(stages);
  auto given = [&](Figure figure, const LayerInfo &kind) {
    const auto &own = layers[size_t(kind.kind)];
    auto value = own ? own->memory.get(figure) : std::nullopt;
    return value ? value
                 : times(general.of(figure, anyStage), Rational(kind.weight));
  };
  for (const FigureInfo &info : allFigures()) {
    if (info.block != FigureBlock::Memory || !info.isDivided())
      continue;
    // Changes by backwards, and sizes while steps run, follow from the
    // activations unless they are given.
    bool isBackward =
        info.unit == FigureUnit::Change && info.figure != Figure::LiveF;
    bool follows = isBackward || !info.inner().empty();
    bool ofKind = any_of(layers, [&](const auto &own) {
      return own && own->memory.get(info.figure);
    });
    if ((follows || info.isIfGiven()) && !general.get(info.figure) &&
        (isBackward || !ofKind))
      continue;
    auto ofLayer = [&](const LayerInfo &kind) -> std::optional<Rational> {
      const auto &own = layers[size_t(kind.kind)];
      if (!follows || (own && own->memory.get(info.figure)) ||
          !general.get(info.figure))
        return given(info.figure, kind);
      Rational whole = *general.of(Figure::LiveF, anyStage);
      std::optional<Rational> share = Rational(kind.weight);
      if (!whole.isZero()) {
        auto own = given(Figure::LiveF, kind);
        share = own ? Rational::div(*own, whole) : std::nullopt;
      }
      return times(share, *general.get(info.figure));
    };
    if (!sumStages(counts, ofLayer, info.figure, sums))
      return std::nullopt;
  }
  return sums;
}

} // namespace pipec
