//===- SvgLayout.h - The layout of the SVG timeline -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_SVGLAYOUT_H
#define PIPEC_EMIT_SVGLAYOUT_H

#include "Emit/Palette.h"
#include "Emit/Picture.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pipec {

/// The contents of a picture and the positions of its parts, in tenths of a
/// pixel.
class SvgLayout {
public:
  // Sizes in tenths of a pixel.
  static constexpr int64_t leftMargin = 620;
  static constexpr int64_t rightMargin = 560;
  static constexpr int64_t edge = 140;
  static constexpr int64_t laneHeight = 220;
  static constexpr int64_t fsdpHeight = 70;
  static constexpr int64_t memoryHeight = 180;
  static constexpr int64_t memoryPitch = memoryHeight + 50;
  static constexpr int64_t digitWidth = 60;
  /// Of the lines above the legend.
  static constexpr int64_t letterWidth = 62;

  explicit SvgLayout(const Picture &picture);

  /// A transfer.
  struct Arrow {
    unsigned fromRank, toRank;
    int64_t start, finish;
    bool gradient;
  };
  /// The durations of the steps of a kind.
  struct KindFacts {
    int64_t shortest = 0, longest = 0, count = 0;
    __int128 sum = 0;
    void add(int64_t duration) {
      shortest = count ? std::min(shortest, duration) : duration;
      longest = std::max(longest, duration);
      sum += duration;
      ++count;
    }
  };

  /// An item of the legend and its position.
  struct LegendItem {
    enum Symbol { Box, Arrow, Mark };
    int64_t x, y;
    std::string text;
    Symbol symbol;
    /// The CSS class with the color of the symbol.
    std::string symbolClass;
  };

  /// The x coordinate of a time.
  int64_t x(int64_t ticks) const {
    int64_t shown = std::max<int64_t>(picture.to() - picture.from(), 1);
    ticks = std::clamp(ticks, picture.from(), picture.to()) - picture.from();
    return leftMargin + int64_t(__int128(ticks) * plotWidth / shown);
  }
  int64_t laneTop(unsigned rank) const { return lanesTop + rank * lanePitch; }
  /// The height of a lane including that for FSDP actions.
  int64_t laneDepth() const {
    return laneHeight + (hasFsdp ? 20 + fsdpHeight : 0);
  }
  int64_t lanesBottom() const {
    return laneTop(picture.shownRanks()) - laneGap;
  }
  /// The text on the box of a step: the micro-batch and the chunk.
  std::string number(Step step) const {
    std::string text = std::to_string(step.microbatch());
    llvm::raw_string_ostream os(text);
    picture.chunks().print(picture.chunks().of(schedule, step), os);
    return text;
  }
  unsigned shade(Step step) const {
    return shadeOf(picture.chunks().of(schedule, step),
                   picture.chunks().most());
  }

  const Picture &picture;
  const Schedule &schedule;
  /// The number of shades for the chunks.
  unsigned shades;

  /// Indexed by `StepKind`.
  std::array<KindFacts, numStepKinds> kinds;
  std::vector<Arrow> arrows;
  bool hasFsdp = false;
  bool hasSendWaits = false, hasReductionWaits = false;
  /// The length of the longest `number`.
  size_t labelLetters = 1;

  std::string title, sizes, facts;
  /// The part that is shown, if it is not everything.
  std::string note;
  int64_t plotWidth = 0, width = 0, height = 0;
  int64_t legendTop = 0, lanesTop = 0, lanePitch = 0, laneGap = 0;
  int64_t axisTop = 0, memoryTop = 0;
  std::vector<LegendItem> legend;

private:
  void survey();
  void layOut();
  void layOutLegend(int64_t &y);
  std::string figures() const;
  std::string costsText() const;
};

} // namespace pipec

#endif // PIPEC_EMIT_SVGLAYOUT_H
