//===- GivenSettings.cpp - Costs from outside a schedule ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/GivenSettings.h"

#include "Cost/ModelParts.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"
#include "Support/Words.h"

using namespace llvm;

namespace pipec {

StringRef costPerName(CostPer per) {
  static constexpr StringLiteral names[] = {"stage", "part", "layer"};
  return names[unsigned(per)];
}

LogicalResult checkKeys(const GivenSettings &given, ModelSizes sizes,
                        DiagEngine &diags) {
  for (const GivenSettings::Key &key : given.keys) {
    bool part = key.scope == FigureScope::Stage && given.perPart();
    StringRef what = part ? "part" : infoOf(key.scope).word;
    unsigned size =
        part ? given.numParts(sizes.ranks) : countOf(key.scope, sizes);
    if (key.number >= size)
      return diags.report(key.source, diag::SettingOutOfRange, what, key.number,
                          "0.." + std::to_string(size));
  }
  return success();
}

LogicalResult checkNoSections(const GivenSettings &given, DiagEngine &diags) {
  if (given.sections.empty())
    return success();
  const GivenSettings::SectionTime &first = given.sections.front();
  return diags.report(first.source, diag::UnknownSection, first.name);
}

/// Warns that settings of the schedule itself are not used.
static void warnUnused(const ModelSettings &settings, StringRef block,
                       DiagEngine &diags) {
  CostPer per = settings.costsPerLayer ? CostPer::Layer : CostPer::Part;
  (void)diags.report(settings.source, diag::OwnCostsUnused, block,
                     settings.name, costPerName(per));
}

const ModelSettings *
GivenSettings::modelOf(const ModelSettings &settings) const {
  // Figures of single ranks and micro-batches are for these sizes.
  return model && !per && !layout && model->numRanks == settings.numRanks &&
                 model->numUnits == settings.numUnits
             ? model
             : nullptr;
}

/// The sizes of a model; its limits only if `limits`.
static MemorySettings sizesOf(const ModelSettings &model, bool limits) {
  MemorySettings sizes;
  for (const auto &[place, row] : model.memory.places())
    for (auto [figure, value] : row)
      if (limits || figure != Figure::Limit)
        sizes.set(figure, value, place);
  return sizes;
}

/// True if the stages of `settings` are other parts of its model.
static bool hasOtherStages(const ModelSettings &settings,
                           const ModelSettings &model) {
  return settings.numStages != model.numStages;
}

/// Reports changes by backwards that do not follow from the activations of a
/// kind of layers, because the general activations are 0.
static LogicalResult checkShares(const GivenSettings &given,
                                 DiagEngine &diags) {
  MemorySettings all = given.allMemory();
  bool own = any_of(given.layers, [](const auto &layer) {
    auto activations = layer ? layer->memory.get(Figure::LiveF) : std::nullopt;
    return activations && !activations->isZero();
  });
  if (!own || !all.of(Figure::LiveF, anyStage)->isZero())
    return success();
  for (Figure figure : {Figure::LiveB, Figure::LiveI, Figure::LiveW})
    if (auto change = all.get(figure); change && !change->isZero())
      return diags.report(given.layersSource, diag::ProfileShares,
                          infoOf(figure).name);
  return success();
}

LogicalResult checkLayerCosts(const GivenSettings &given, DiagEngine &diags) {
  if (given.per && given.per != CostPer::Layer)
    return diags.report(given.source, diag::ProfilePerLayer,
                        costPerName(*given.per));
  auto refuse = [&](FigureScope scope, SMRange source) {
    return diags.report(source, diag::ProfileNotOfLayers, infoOf(scope).many);
  };
  MemorySettings memory = given.allMemory();
  for (const GivenSettings::Key &key : given.keys)
    if (key.scope == FigureScope::Stage ||
        ((key.scope == FigureScope::Microbatch ||
          key.scope == FigureScope::Slice) &&
         memory.has(key.scope)))
      return refuse(key.scope, key.source);
  std::optional<FigureScope> scope = notOfLayers(given.allCosts());
  if (!scope)
    return checkShares(given, diags);
  for (const GivenSettings::Key &key : given.keys)
    if (key.scope == *scope)
      return refuse(*scope, key.source);
  // The profile comes first; the others are from the command line.
  bool inProfile = given.source.isValid() && !given.costs.empty() &&
                   notOfLayers(given.costs.front()) == scope;
  return refuse(*scope, inProfile ? given.source : SMRange());
}

LogicalResult checkKinds(StringRef letters, const GivenSettings &given,
                         DiagLoc loc, DiagEngine &diags) {
  std::optional<char> kind = kindWithoutCosts(letters, given.layers);
  if (!kind)
    return success();
  return diags.report(loc, diag::LayerWithoutCosts, *kind)
      .note(loc, diag::NoteLayerLetters, layerLetters());
}

/// The same for the stages of `settings`, at the place in their layout.
static LogicalResult checkKinds(const ModelSettings &settings,
                                const GivenSettings &given, DiagEngine &diags) {
  size_t place = 0;
  for (StringRef stage : settings.layers) {
    for (char letter : stage) {
      DiagLoc loc = place < settings.layerPlaces.size()
                        ? DiagLoc(settings.layerPlaces[place])
                        : DiagLoc(settings.source);
      if (failed(checkKinds(StringRef(&letter, 1), given, loc, diags)))
        return failure();
      ++place;
    }
    ++place;
  }
  return success();
}

LogicalResult setLayout(ModelSettings &settings, const LayerLayout &layout,
                        SMRange source, DiagEngine &diags) {
  std::optional<StageLayers> stages = layout.cut(settings.numStages);
  if (!stages) {
    auto report = [&](auto place) {
      return diags.report(place, diag::LayoutStages, settings.name,
                          countText(settings.numStages, "stage"),
                          *layout.numStages());
    };
    return source.isValid() ? report(source) : report(settings.source);
  }
  settings.layers = std::move(*stages);
  settings.layerPlaces = layout.places();
  return success();
}

/// True if something is given per layer, apart from the layout.
static bool givesFigures(const GivenSettings &given) {
  if (given.per == CostPer::Layer || given.layersSource.isValid() ||
      !(given.allCosts() == CostSettings()))
    return true;
  // A limit is one of a rank.
  MemorySettings memory = given.allMemory();
  return any_of(memory.places(), [](const auto &place) {
    return any_of(place.second, [](const auto &figure) {
      return figure.first != Figure::Limit;
    });
  });
}

/// Applies the given layout. The costs of the schedule remain if nothing else
/// is given, with a warning if they were for another layout.
static LogicalResult applyLayout(ModelSettings &settings,
                                 const GivenSettings &given,
                                 DiagEngine &diags) {
  std::string before = layoutText(settings.layers);
  bool hadLayout = !settings.layers.empty();
  if (failed(setLayout(settings, *given.layout, {}, diags)))
    return failure();
  settings.costsPerLayer =
      !given.layersOfStages() &&
      (givesFigures(given) || settings.costs == CostSettings());
  if (hadLayout && !settings.costsPerLayer &&
      before != layoutText(settings.layers))
    (void)diags.report(settings.source, diag::OtherLayout, settings.name,
                       before);
  return success();
}

/// Overrides the costs of `settings` without rounding the result.
static LogicalResult overrideCosts(ModelSettings &settings,
                                   const GivenSettings &given,
                                   DiagEngine &diags) {
  CostSettings own = settings.costs;
  bool hasOwn = !(own == CostSettings());
  const ModelSettings *model = given.modelOf(settings);
  if (model && hasOwn && given.costs.empty())
    return success();
  if (model && !hasOtherStages(settings, *model)) {
    if (!hasOwn)
      settings.costs = model->costs;
    model = nullptr;
  }
  ModelSizes sizes = settings.sizes();
  unsigned rows = given.perPart() ? given.numParts(sizes.ranks) : sizes.stages;
  if (given.batch &&
      failed(given.batch->check(rows, sizes.microbatches, diags)))
    return failure();
  // The keys exist in the model.
  if (!model && failed(checkKeys(given, sizes, diags)))
    return failure();
  settings.costsPerLayer = given.layersSource.isValid();
  if (settings.costsPerLayer && !given.layout && settings.layers.empty())
    return diags.report(given.layersSource, diag::ProfileLayers);
  bool needsLayerCosts =
      settings.costsPerLayer || (given.layout && !given.layersOfStages());
  if (needsLayerCosts && failed(checkLayerCosts(given, diags)))
    return failure();
  if (given.layout && failed(applyLayout(settings, given, diags)))
    return failure();
  if (settings.costsPerLayer && failed(checkKinds(settings, given, diags)))
    return failure();
  if (!settings.costsPerLayer && !given.perPart() && !model) {
    for (const CostSettings &over : given.costs)
      settings.costs.merge(over);
    return success();
  }
  if (hasOwn && !model)
    warnUnused(settings, "cost", diags);
  bool perLayer = settings.costsPerLayer;
  CostSettings costs = model && !perLayer ? model->costs : given.allCosts();
  LayerSettings layers = perLayer ? given.layers : LayerSettings();
  roundCosts(costs, settings.rounding, layers);
  if (!perLayer)
    settings.costParts =
        model ? model->numStages : given.numParts(settings.numRanks);
  unsigned stages = settings.numStages;
  unsigned slices = model ? 1 : settings.numSlices;
  if (costs.has(FigureScope::StageMicrobatch) &&
      (perLayer || settings.costParts != stages))
    return diags.report(settings.source, diag::CutMicrobatches);
  std::optional<CostSettings> spread =
      perLayer ? sumCosts(costs, layers, settings.layers) : std::move(costs);
  if (spread)
    spread = spreadCosts(*spread, perLayer ? stages : settings.costParts,
                         stages, slices);
  if (!spread)
    return diags.report(settings.source, diag::TimesTooLarge);
  settings.costs = std::move(*spread);
  // A list that was found for these costs has the same ones.
  if (hasOwn && model && !(settings.costs == own))
    warnUnused(settings, "cost", diags);
  return success();
}

LogicalResult applyCosts(ModelSettings &settings, const GivenSettings &given,
                         DiagEngine &diags) {
  if (failed(overrideCosts(settings, given, diags)))
    return failure();
  // The costs are complete here.
  roundCosts(settings.costs, settings.rounding);
  return success();
}

/// Overrides the sizes of `settings` without rounding the result.
static LogicalResult overrideMemory(ModelSettings &settings,
                                    const GivenSettings &given,
                                    DiagEngine &diags) {
  const MemorySettings own = settings.memory;
  const ModelSettings *model = given.modelOf(settings);
  if (model && !own.empty() && given.memory.empty())
    return success();
  if (model && !hasOtherStages(settings, *model)) {
    if (own.empty())
      settings.memory = sizesOf(*model, /*limits=*/false);
    model = nullptr;
  }
  MemorySettings all = given.allMemory();
  bool perLayer =
      settings.costsPerLayer && (own.empty() || givesFigures(given));
  if (!perLayer && !given.perPart() && !model) {
    settings.memory.merge(all);
    return success();
  }
  // A limit of the model comes from a program and applies to its schedule only.
  if (model)
    all = sizesOf(*model, all.hasLimit());
  if (given.keepOwnSizes && all.empty())
    return success();
  if (!own.empty() && !model)
    warnUnused(settings, "memory", diags);
  LayerSettings layers = given.layers;
  roundSizes(all, settings.rounding, layers);
  unsigned stages = settings.numStages;
  std::optional<MemorySettings> spread =
      perLayer ? sumMemory(all, layers, settings.layers) : std::move(all);
  if (spread)
    spread = spreadMemory(*spread,
                          perLayer ? stages
                          : model  ? model->numStages
                                   : given.numParts(settings.numRanks),
                          stages, model ? 1 : settings.numSlices);
  if (!spread)
    return diags.report(settings.source, diag::MemoryTooLarge);
  settings.memory = std::move(*spread);
  if (!own.empty() && model && !(settings.memory == own))
    warnUnused(settings, "memory", diags);
  return success();
}

/// Multiplies the general sizes of activations by those of single
/// micro-batches.
static LogicalResult applySizes(ModelSettings &settings,
                                const GivenSettings &given, DiagEngine &diags) {
  MemorySettings &memory = settings.memory;
  auto isOfBatch = [](Figure figure) {
    return infoOf(figure).block == FigureBlock::Memory &&
           infoOf(figure).scopes >> unsigned(FigureScope::Microbatch) & 1;
  };
  for (const auto &[place, row] : memory.places())
    for (auto [figure, value] : row)
      if (place.scope != FigureScope::Whole && isOfBatch(figure))
        return diags.report(given.batch->sizes->loc, diag::ProfileSizes,
                            infoOf(place.scope).many);
  memory.set(Figure::LiveF, *memory.of(Figure::LiveF, anyStage));
  for (const FigureInfo &info : allFigures())
    if (std::optional<Rational> value = memory.get(info.figure);
        value && isOfBatch(info.figure))
      for (auto [i, size] : enumerate(given.batch->sizes->values)) {
        std::optional<Rational> product = Rational::mul(*value, size);
        if (!product)
          return diags.report(settings.source, diag::MemoryTooLarge);
        memory.set(info.figure, *product,
                   {FigureScope::Microbatch, unsigned(i)});
      }
  return success();
}

LogicalResult applyMemory(ModelSettings &settings, const GivenSettings &given,
                          DiagEngine &diags) {
  if (failed(overrideMemory(settings, given, diags)) ||
      (given.batch && given.batch->sizes &&
       failed(applySizes(settings, given, diags))))
    return failure();
  settings.memoryInBytes |=
      given.inBytes || (given.model && given.model->memoryInBytes);
  roundSizes(settings.memory, settings.rounding);
  return success();
}

} // namespace pipec
