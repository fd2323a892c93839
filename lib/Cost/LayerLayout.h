//===- LayerLayout.h - The layers of each stage -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout cuts the layers of a model into stages. It is either fixed, such as
// a layout text (LayoutText.h), or even: the same layers for any number of
// stages. A layer is a letter: one of Layers.def, or any other one for a kind of
// layer that a profile defines.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// A row of Layers.def, or from `Other` on a kind of any other letter.
enum class LayerKind : uint8_t {
#define PIPEC_LAYER(Id, Letter, Weight, Doc) Id,
#include "Cost/Layers.def"
  Other
};

struct LayerInfo {
  LayerKind kind;
  char letter;
  unsigned weight;
  llvm::StringRef doc;

  /// True for a row of Layers.def.
  bool isKnown() const { return kind < LayerKind::Other; }
};

/// Letters in both cases.
inline constexpr size_t numLayerKinds = 2 * 26;

/// The rows of Layers.def, followed by all other letters in ascending order.
extern const std::array<LayerInfo, numLayerKinds> layerTable;

/// The letter of a row of Layers.def.
constexpr char letterOf(LayerKind kind) {
  constexpr char letters[] = {
#define PIPEC_LAYER(Id, Letter, Weight, Doc) Letter,
#include "Cost/Layers.def"
  };
  return letters[size_t(kind)];
}

/// The kind of a layer by its letter; empty for other characters.
std::optional<LayerKind> layerOf(char letter);
/// "`E`, `t`, `m`, `L`" without the outer backquotes, for messages.
std::string layerLetters();

/// The number of layers of each kind, indexed by LayerKind.
using LayerCounts = std::array<unsigned, numLayerKinds>;
LayerCounts countLayers(llvm::StringRef letters);

/// The letters of the layers of each stage, in the order of the stages; a stage
/// may be empty.
using StageLayers = std::vector<std::string>;

/// The places of the layers in the text of a layout: the layers of each stage
/// in order and, except after the last stage, the following `|`. Empty without
/// a text.
using LayerPlaces = std::vector<llvm::SMRange>;

class LayerLayout {
public:
  /// A fixed layout.
  explicit LayerLayout(StageLayers stages, LayerPlaces places = {})
      : stages(std::move(stages)), layerPlaces(std::move(places)) {}
  /// The layers for any number of stages: each stage gets as many layers with a
  /// weight as every other one, or one more if it is among the first. Layers
  /// without a weight stay next to them: with the first if they precede it,
  /// else with the last that they follow.
  static LayerLayout even(std::string layers);

  bool isEven() const { return !layers.empty(); }
  /// The number of stages; empty if the layout is even.
  std::optional<unsigned> numStages() const {
    return isEven() ? std::nullopt : std::optional<unsigned>(stages.size());
  }
  /// The layers of each stage of a model in `number` stages; empty if the
  /// layout has another number of stages.
  std::optional<StageLayers> cut(unsigned number) const;
  const LayerPlaces &places() const { return layerPlaces; }
  /// The letters of its kinds of layers, in the order of `layerTable`.
  std::string letters() const;
  /// The layout as text: of a fixed one, what `parseLayout` reads.
  std::string text() const;

private:
  LayerLayout() = default;

  StageLayers stages;
  LayerPlaces layerPlaces;
  /// Of an even layout: all layers.
  std::string layers;
};

/// True if there are layers, and all are decoder layers.
bool onlyDecoders(llvm::ArrayRef<std::string> stages);

/// The first letter of these stages that is not in Layers.def; empty if all are.
std::optional<char> firstOther(llvm::ArrayRef<std::string> stages);

/// The first layer that Megatron-LM refuses.
struct MegatronProblem {
  unsigned stage;
  /// Its index among the layers of the stage, which is 0 if there are none.
  size_t layer;
  /// The rule for `m` is broken, not the one for `E` and `L`.
  bool isMtp;
};
/// Checks whether Megatron-LM builds a model with these stages (at least one):
/// `E` is the first layer and `L` the last, each once; no `t` follows an `m`;
/// and all `m` are in one stage, the last of its rank. `ranks` divides the
/// number of stages, whose letters are in Layers.def.
std::optional<MegatronProblem>
megatronProblem(llvm::ArrayRef<std::string> stages, unsigned ranks);

/// The shortest form without commas in which runs of equal layers are `t*4`,
/// and runs of equal stages are `(tt|)*4`.
std::string layoutText(llvm::ArrayRef<std::string> stages);

} // namespace pipec
