//===- LayerLayout.cpp - The layers of each stage -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayerLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <utility>

using namespace llvm;

namespace pipec {

static constexpr std::array<LayerInfo, numLayerKinds> makeTable() {
  std::array<LayerInfo, numLayerKinds> table = {{
#define PIPEC_LAYER(Id, Letter, Weight, Doc)                                   \
  {LayerKind::Id, Letter, Weight, Doc},
#include "Cost/Layers.def"
  }};
  size_t rows = size_t(LayerKind::Other);
  auto isRow = [&](char letter) {
    for (size_t row = 0; row != size_t(LayerKind::Other); ++row)
      if (table[row].letter == letter)
        return true;
    return false;
  };
  for (char first : {'A', 'a'})
    for (char letter = first; letter != first + 26; ++letter)
      if (!isRow(letter)) {
        table[rows] = {LayerKind(rows), letter, 1, "a kind of a profile"};
        ++rows;
      }
  return table;
}

const std::array<LayerInfo, numLayerKinds> layerTable = makeTable();

std::optional<LayerKind> layerOf(char letter) {
  for (const LayerInfo &info : layerTable)
    if (info.letter == letter)
      return info.kind;
  return std::nullopt;
}

std::string layerLetters() {
  std::string letters;
  for (const LayerInfo &info : layerTable)
    if (info.isKnown())
      letters += (letters.empty() ? "" : "`, `") + std::string(1, info.letter);
  return letters;
}

LayerCounts countLayers(StringRef letters) {
  LayerCounts counts = {};
  for (char letter : letters)
    ++counts[size_t(*layerOf(letter))];
  return counts;
}

LayerLayout LayerLayout::even(std::string layers) {
  assert(!layers.empty() && "a layout has layers");
  LayerLayout layout;
  layout.layers = std::move(layers);
  return layout;
}

std::optional<StageLayers> LayerLayout::cut(unsigned number) const {
  if (!isEven())
    return number == stages.size() ? std::optional(stages) : std::nullopt;
  StageLayers cut(number);
  auto counts = [](char letter) {
    return layerTable[size_t(*layerOf(letter))].weight != 0;
  };
  size_t all = llvm::count_if(layers, counts);
  // The layers of the stages before `stage + 1` that count are the first `end`.
  auto size = [&](size_t of) { return all / number + (of < all % number); };
  size_t stage = 0, seen = 0, end = size(0);
  for (char letter : layers) {
    if (counts(letter))
      for (++seen; seen > end;)
        end += size(++stage);
    cut[stage] += letter;
  }
  return cut;
}

std::string LayerLayout::letters() const {
  LayerCounts counts = countLayers(layers);
  for (StringRef stage : stages)
    for (const auto &[kind, count] : enumerate(countLayers(stage)))
      counts[kind] += count;
  std::string letters;
  for (const LayerInfo &info : layerTable)
    if (counts[size_t(info.kind)])
      letters += info.letter;
  return letters;
}

std::optional<char> firstOther(ArrayRef<std::string> stages) {
  for (StringRef letters : stages)
    for (char letter : letters)
      if (layerOf(letter) >= LayerKind::Other)
        return letter;
  return std::nullopt;
}

bool onlyDecoders(ArrayRef<std::string> stages) {
  constexpr char decoder = letterOf(LayerKind::Decoder);
  bool any = false;
  for (StringRef letters : stages) {
    if (letters.find_first_not_of(decoder) != StringRef::npos)
      return false;
    any |= !letters.empty();
  }
  return any;
}

std::optional<MegatronProblem> megatronProblem(ArrayRef<std::string> stages,
                                               unsigned ranks) {
  size_t left = 0;
  for (const std::string &letters : stages)
    left += letters.size();
  if (left == 0)
    return MegatronProblem{0, 0, false};
  bool isFirst = true;
  std::optional<unsigned> mtp;
  for (const auto &[stage, letters] : enumerate(stages))
    for (const auto &[layer, letter] : enumerate(letters)) {
      bool isLast = --left == 0;
      if ((letter == 'E') != std::exchange(isFirst, false) ||
          (letter == 'L') != isLast)
        return MegatronProblem{unsigned(stage), layer, false};
      if (letter == 't' ? mtp.has_value()
                        : letter == 'm' && (stage + ranks < stages.size() ||
                                            mtp.value_or(stage) != stage))
        return MegatronProblem{unsigned(stage), layer, true};
      if (letter == 'm')
        mtp = stage;
    }
  return std::nullopt;
}

/// Appends `t*4` or a single letter.
static void addRun(std::string &text, char letter, size_t length) {
  text += letter;
  if (length > 1)
    text += '*' + std::to_string(length);
}

static std::string lettersText(StringRef letters) {
  std::string text;
  while (!letters.empty()) {
    size_t length =
        std::min(letters.find_first_not_of(letters.front()), letters.size());
    addRun(text, letters.front(), length);
    letters = letters.drop_front(length);
  }
  return text;
}

std::string layoutText(ArrayRef<std::string> stages) {
  std::string text;
  // The last stage has no separator after it, and so is not part of a run.
  while (stages.size() > 1) {
    ArrayRef<std::string> run = stages.drop_back().take_while(
        [&](const std::string &stage) { return stage == stages.front(); });
    std::string one = lettersText(run.front()) + '|';
    if (run.size() == 1)
      text += one;
    else if (one.size() == 1)
      addRun(text, '|', run.size());
    else
      text += '(' + one + ")*" + std::to_string(run.size());
    stages = stages.drop_front(run.size());
  }
  return text + (stages.empty() ? "" : lettersText(stages.front()));
}

std::string LayerLayout::text() const {
  return isEven() ? lettersText(layers) : layoutText(stages);
}

} // namespace pipec
