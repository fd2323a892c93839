//===- ModuleNames.cpp - The names of layers in models --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Frameworks/ModuleNames.h"

#include "Frameworks/FrameworkFormats.h"
#include "Support/Diagnostics/EmitDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static void addEnds(StageLayers &stages) {
  if (!onlyDecoders(stages))
    return;
  stages.front().insert(0, "E");
  stages.back() += 'L';
}

std::vector<std::vector<std::string>> moduleNames(StageLayers stages,
                                                  const LayerNames &known) {
  addEnds(stages);
  std::vector<std::vector<std::string>> parts;
  unsigned decoder = 0;
  for (StringRef letters : stages) {
    std::vector<std::string> &names = parts.emplace_back();
    for (char letter : letters)
      switch (*layerOf(letter)) {
      case LayerKind::Embedding:
        names.push_back(known.embedding.str());
        break;
      case LayerKind::Decoder:
        names.push_back(known.decoder.str() + utostr(decoder++));
        break;
      case LayerKind::Loss:
        append_values(names, known.norm.str(), known.head.str());
        break;
      default:
        return {};
      }
    if (names.empty())
      return {};
    if (!known.everywhere.empty())
      names.push_back(known.everywhere.str());
  }
  return parts;
}

void checkModuleNames(const Schedule &schedule, DiagEngine &diags) {
  constexpr char named[] = {letterOf(LayerKind::Embedding),
                            letterOf(LayerKind::Decoder),
                            letterOf(LayerKind::Loss)};
  StageLayers stages = schedule.layers;
  addEnds(stages);
  for (const auto &[stage, letters] : enumerate(stages)) {
    size_t layer =
        StringRef(letters).find_first_not_of(StringRef(named, sizeof(named)));
    if (!letters.empty() && layer == StringRef::npos)
      continue;
    bool isEmpty = letters.empty();
    (void)diags.report(placeOfLayer(schedule, stage, isEmpty ? 0 : layer),
                       diag::LayersUnnamed, stage,
                       isEmpty ? "no layers"
                               : ("the layer `" + Twine(letters[layer]) + "`")
                                     .str());
    return;
  }
}

} // namespace pipec
