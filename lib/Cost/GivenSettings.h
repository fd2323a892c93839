//===- GivenSettings.h - Costs from outside a schedule ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs and sizes from a profile or from options, for a schedule of any origin.
// They apply to a stage of that schedule, to one of a number of equal parts of
// the model, however the schedule cuts it into stages (ModelParts.h), or to a
// layer of the model, whose stages a layout gives (LayerCosts.h).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/BatchWeights.h"
#include "Cost/LayerCosts.h"
#include "Cost/LayerLayout.h"
#include "Cost/Settings.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// What costs and sizes apply to.
enum class CostPer { Stage, Part, Layer };
/// `stage`, `part`, `layer`.
llvm::StringRef costPerName(CostPer per);

struct GivenSettings {
  /// Later settings override earlier ones, figure by figure.
  std::vector<CostSettings> costs;
  std::vector<MemorySettings> memory;
  /// The sizes are said to be in bytes.
  bool inBytes = false;

  /// The unit of the model that they apply to. Empty if it was not specified,
  /// which means a stage in every command except `compare`.
  std::optional<CostPer> per;
  /// The number of parts, from 1 to `maxStages`. Nothing means the number of
  /// ranks of the schedule.
  std::optional<unsigned> parts;
  /// Another schedule of the same model, with its settings applied; null for a
  /// model of its own. If the schedule has no costs, or costs are given, it
  /// gets the costs of `model`; with another number of stages, the stages of
  /// `model` are parts. The limit of memory of `model` remains unless one is
  /// given. Ignored if `per` is set or with a layout.
  const ModelSettings *model = nullptr;
  /// For costs per part: keep the sizes of the schedule if none are given,
  /// because closed forms of peaks count the activations of a stage.
  bool keepOwnSizes = false;
  /// The layers of each stage, which replace the layers of the schedule. Costs
  /// and sizes are then per layer.
  std::optional<LayerLayout> layout;
  /// The layout comes from the profile, whose costs may be per stage.
  bool layoutOfProfile = false;
  /// What single kinds of layers have of their own, and where the profile says
  /// it.
  LayerSettings layers;
  llvm::SMRange layersSource;
  /// The place of `per` in the profile, or its start; invalid without a
  /// profile.
  llvm::SMRange source;

  /// A key of a profile that names a stage (a part, for costs per part), a
  /// rank, a micro-batch or an end of an edge. It is checked against each
  /// schedule that the profile is applied to.
  struct Key {
    FigureScope scope;
    unsigned number;
    llvm::SMRange source;
  };
  /// In the order of the profile.
  std::vector<Key> keys;

  /// The weights of a profile, which `costs` have, too, and the sizes, which
  /// multiply the general ones of activations.
  std::optional<BatchWeights> batch;

  /// The time of one kind of steps of a section, F, B or W.
  struct SectionTime {
    std::string name;
    StepKind kind;
    Rational time;
    llvm::SMRange source;
  };
  std::vector<SectionTime> sections;

  /// The layout only says which layers costs per stage are of.
  bool layersOfStages() const {
    return layoutOfProfile && per == CostPer::Stage;
  }
  bool perPart() const { return per == CostPer::Part; }
  /// `model`, if a schedule of these settings has the figures of it.
  const ModelSettings *modelOf(const ModelSettings &settings) const;
  unsigned numParts(unsigned ranks) const { return parts.value_or(ranks); }
  /// The merge of all `costs` (`memory`).
  CostSettings allCosts() const { return merged(costs); }
  MemorySettings allMemory() const { return merged(memory); }

private:
  template <typename Settings>
  static Settings merged(const std::vector<Settings> &layers) {
    Settings all;
    for (const Settings &over : layers)
      all.merge(over);
    return all;
  }
};

/// Reports, at its place in the profile, the first key that does not exist in a
/// schedule of these sizes.
llvm::LogicalResult checkKeys(const GivenSettings &given, ModelSizes sizes,
                              DiagEngine &diags);

/// Reports times of sections, for models without sections.
llvm::LogicalResult checkNoSections(const GivenSettings &given,
                                    DiagEngine &diags);

/// Gives the stages of `settings` the layers of `layout`. Reports a layout for
/// another number of stages, at `source` or, if it is invalid, at the name of
/// the schedule.
llvm::LogicalResult setLayout(ModelSettings &settings,
                              const LayerLayout &layout, llvm::SMRange source,
                              DiagEngine &diags);

/// Reports costs with a layout that are not per layer, and memory settings that
/// do not determine the sizes of layers.
llvm::LogicalResult checkLayerCosts(const GivenSettings &given,
                                    DiagEngine &diags);

/// Reports the first kind of these letters, at `loc`, that has no costs: one
/// that is not in Layers.def and that the profile does not define.
llvm::LogicalResult checkKinds(llvm::StringRef letters,
                               const GivenSettings &given, DiagLoc loc,
                               DiagEngine &diags);

/// Overrides the costs of `settings` with the given ones, and its layout with
/// the given one. Costs per part or per layer replace all costs, with a
/// warning. A layout alone does not, but without any costs it implies the
/// default costs of layers. Costs of kinds of layers apply to the layout of the
/// schedule if none is given. Rounds costs with many digits (CostGrid.h), also
/// without given ones. Reports a key that does not exist in the schedule, a
/// layout for another number of stages, costs per layer without a layout, and
/// costs that do not fit 64 bits after they are spread over the stages.
llvm::LogicalResult applyCosts(ModelSettings &settings,
                               const GivenSettings &given, DiagEngine &diags);
/// The same for sizes. Does not check keys or the layout.
llvm::LogicalResult applyMemory(ModelSettings &settings,
                                const GivenSettings &given, DiagEngine &diags);

} // namespace pipec
