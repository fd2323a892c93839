//===- LayerLayout.cpp - The layers of each stage -------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers/LayerLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace llvm;

namespace pipec {

std::optional<LayerKind> layerOf(char letter) {
  for (const LayerInfo &info : layerTable)
    if (info.letter == letter)
      return info.kind;
  return std::nullopt;
}

std::string layerLetters() {
  std::string letters;
  for (const LayerInfo &info : layerTable)
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

bool isMegatronModel(ArrayRef<std::string> stages, unsigned ranks) {
  std::string all;
  unsigned withMtp = 0;
  for (const auto &[stage, letters] : enumerate(stages)) {
    all += letters;
    if (letters.find('m') == std::string::npos)
      continue;
    ++withMtp;
    if (stage + ranks < stages.size())
      return false;
  }
  StringRef layers = all;
  size_t mtp = layers.find('m');
  return withMtp <= 1 && layers.starts_with("E") && layers.ends_with("L") &&
         layers.count('E') == 1 && layers.count('L') == 1 &&
         !layers.substr(mtp).contains('t');
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
