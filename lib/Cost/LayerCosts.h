//===- LayerCosts.h - Costs of stages from their layers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The costs and sizes of a stage are the sums over its layers. The general
// figures apply to a decoder layer. A kind of layer may have its own figures;
// otherwise it has the general figures times its weight in Cost/Layers.def.
// Figures that do not depend on the cut of the model, such as `p2p`, apply to
// the schedule.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/LayerLayout.h"
#include "Cost/Settings.h"

namespace pipec {

/// The figures that a kind of layer has of its own. The rule for compute costs
/// that are not given (Settings.h) applies to each kind; one with a `B` of its
/// own has none of the general `I` and `W`, and vice versa.
struct LayerFigures {
  FigureRow costs;
  /// Activations (`LiveF`), parameters and their shards.
  FigureRow memory;
  friend bool operator==(const LayerFigures &, const LayerFigures &) = default;
};

/// Indexed by LayerKind; empty for a kind without own figures.
using LayerSettings = std::array<std::optional<LayerFigures>, numLayerKinds>;

/// The figure of a layer called `name` in a profile: a cost that is divided
/// among stages, `activations`, `parameters` or `sharded`; null if there is
/// none.
const FigureInfo *findLayerFigure(llvm::StringRef name);
/// The names of all of them.
llvm::SmallVector<llvm::StringRef, 12> layerFigureNames();

/// The scope of `costs` with figures that layers cannot have: single stages,
/// times of ranks, or times of overlaps. Empty if there is none.
std::optional<FigureScope> notOfLayers(const CostSettings &costs);

/// The costs of stages with these layers. `general` has no scope that
/// `notOfLayers` names. Empty if a figure does not fit 64 bits.
std::optional<CostSettings> sumCosts(const CostSettings &general,
                                     const LayerSettings &layers,
                                     llvm::ArrayRef<std::string> stages);

/// The same for activations and parameters. The changes by backwards (`B`, `I`,
/// `W` of the memory settings) of a kind are in proportion to its activations.
/// Figures of single stages are ignored.
std::optional<MemorySettings> sumMemory(const MemorySettings &general,
                                        const LayerSettings &layers,
                                        llvm::ArrayRef<std::string> stages);

/// The first kind of the letters that has neither a row in Layers.def nor
/// compute costs of its own; empty if there is none.
std::optional<char> kindWithoutCosts(llvm::StringRef letters,
                                     const LayerSettings &layers);

/// Copies the figures that do not depend on how the model is cut into stages.
void copyKept(const FigureSet &from, FigureSet &to);

} // namespace pipec
