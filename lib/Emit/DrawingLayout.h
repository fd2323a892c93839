//===- DrawingLayout.h - The layout of a drawn timeline ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of --emit=svg and --emit=tikz; Drawing.h draws it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Emit/Palette.h"
#include "Emit/Picture.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pipec {

/// The contents of a picture and the positions of its parts, in tenths of a
/// pixel.
class DrawingLayout {
public:
  // Sizes in tenths of a pixel.
  static constexpr int64_t leftMargin = 620;
  static constexpr int64_t edge = 140;
  static constexpr int64_t laneHeight = 220;
  static constexpr int64_t sideHeight = 70;
  static constexpr int64_t sidePitch = sideHeight + 20;
  static constexpr int64_t memoryHeight = 180;
  static constexpr int64_t memoryPitch = memoryHeight + 50;
  static constexpr int64_t heatHeight = 50;
  /// The number of levels of darkness of the strips for memory.
  static constexpr unsigned heatLevels = 8;
  /// Of the title, of the lines below it, and of the names of phases.
  static constexpr int64_t titleLetterWidth = 92;
  static constexpr int64_t letterWidth = 62;
  static constexpr int64_t phaseLetterWidth = 52;
  static constexpr int64_t sideLetterWidth = 60;
  /// The smallest width at which the texts fit.
  static constexpr int64_t leastWidth = 2400;

  /// The limits of what viewers of pictures and TeX can handle.
  static constexpr Picture::Limits limits = {/*steps=*/20000, /*ranks=*/256};

  /// `--width` before scaling, in tenths of a pixel; 0 without it. Reports one
  /// at which the texts do not fit.
  static llvm::FailureOr<int64_t> maxWidthOf(const EmitOptions &options,
                                             DiagEngine &diags);

  /// With a limit the picture is at most `maxWidth` wide.
  DrawingLayout(const Picture &picture, const EmitOptions &options,
                int64_t maxWidth);

  /// A transfer.
  struct Arrow {
    unsigned fromRank, toRank;
    int64_t start, finish;
    bool gradient;
  };
  /// An item of the legend and its position.
  struct LegendItem {
    enum Symbol { Box, Shades, Pair, Chunks, Arrow, Mark, Heat };
    int64_t x, y;
    std::string text;
    Symbol symbol;
    /// The style with the color of the symbol; without the shade for `Shades`.
    /// Empty if there are several colors.
    std::string style;
    /// The width of the symbol.
    int64_t room = 160;
  };

  /// A part of the lane of the first rank with one phase.
  struct PhaseRun {
    unsigned phase;
    int64_t start, finish;
  };

  /// The x coordinate of a time.
  int64_t x(int64_t ticks) const {
    int64_t shown = std::max<int64_t>(picture.to() - picture.from(), 1);
    ticks = std::clamp(ticks, picture.from(), picture.to()) - picture.from();
    return leftMargin + int64_t(__int128(ticks) * plotWidth / shown);
  }
  /// The left end of the column with idle time and peaks.
  int64_t sideLeft() const { return leftMargin + plotWidth + 80; }
  int64_t laneTop(unsigned rank) const { return lanesTop + rank * lanePitch; }
  /// The top of the `n`-th of `sides`, and the height of a lane with all of
  /// them.
  int64_t sideTop(size_t n) const { return laneHeight + 20 + n * sidePitch; }
  int64_t laneDepth() const { return sideTop(sides.size()) - 20; }
  /// The top of the strip for memory, from the top of its lane.
  int64_t heatTop() const { return laneDepth() + (waitKinds ? 75 : 20); }
  /// The same for what is on the host.
  int64_t hostTop() const { return heatTop() + heatHeight + 20; }
  int64_t lanesBottom() const {
    return laneTop(picture.shownRanks()) - laneGap;
  }
  /// The limit of a rank; 0 if it has none, or one far above all peaks, which
  /// would flatten curves.
  int64_t limitOf(unsigned rank) const {
    int64_t limit = facts.limit(rank);
    return limit / 2 > facts.highestPeak() ? 0 : limit;
  }
  /// The peak of a rank, its limit if it has one and, if any rank has memory on
  /// the host, the peak there.
  std::string peakText(unsigned rank) const {
    return facts.sizeText(facts.peak(rank)) +
           (limitOf(rank) ? " / " + facts.limitText(rank) : "") +
           (facts.hasHost() ? ", host " + facts.sizeText(facts.hostPeak(rank))
                            : "");
  }
  /// The text on the box of a step: its number, or its letter if it has no
  /// unit.
  std::string number(unsigned rank, Step step) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!hasUnit(step.kind()))
      os << stepLetter(step.kind());
    printStepNumber(os, schedule, picture.chunks(), rank, step);
    return text;
  }
  /// The name of a chunk, `a`, or the number of a slice, whichever has shades.
  std::string shadedName(unsigned number) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    picture.chunks().print(number, os);
    return text.empty() ? std::to_string(number) : text;
  }
  /// The name of a lane of posted steps, cut to fit the margin.
  std::string sideName(SideLane lane) const;
  unsigned shade(unsigned rank, Step step) const {
    return shadeOf(picture.shadedOf(rank, step), picture.numShaded());
  }

  /// Calls `visit(style, use, color)` for the colors of lanes, boxes, numbers
  /// and what is on the host.
  enum class ColorUse { Fill, Line, Text };
  void
  forEachColor(Scheme scheme,
               llvm::function_ref<void(const llvm::Twine &, ColorUse, Color)>
                   visit) const;

  const Picture &picture;
  const Schedule &schedule;
  /// The number of shades for the chunks, or for slices.
  unsigned shades;

  MemoryView memoryView;
  PictureFacts facts;
  std::vector<Arrow> arrows;
  /// Empty unless there are several phases.
  std::vector<PhaseRun> phases;
  bool hasPairs = false;
  /// The lanes of posted steps.
  std::vector<SideLane> sides;
  /// A bit for each kind of wait.
  uint32_t waitKinds = 0;
  bool hasSendWaits() const { return waitKinds & step_facts::sendWaits; }
  /// The length of the longest `number`.
  size_t labelLetters = 1;

  /// The name and the description of the picture, also for screen readers.
  std::string name, description;
  /// The lines of text at the top: the title, sizes and figures, and the part
  /// that is shown if it is not everything.
  std::vector<std::string> title, about, note;
  int64_t plotWidth = 0, width = 0, height = 0;
  /// The width of the column with idle time and peaks.
  int64_t rightMargin = 560;
  /// The baselines of the first lines of `about` and `note`.
  int64_t aboutTop = 0, noteTop = 0;
  int64_t legendTop = 0, lanesTop = 0, lanePitch = 0, laneGap = 0;
  int64_t axisTop = 0, memoryTop = 0;
  /// Of the numbers on the boxes.
  int64_t digitWidth = 60;
  /// The width of the box of a typical step.
  int64_t boxWidth = 0;
  std::vector<LegendItem> legend;

private:
  void survey();
  void findPhases();
  void chooseWidth(int64_t maxWidth);
  void layOut();
  void layOutLegend(int64_t &y);
  std::string figures() const;
  std::string sizes() const;
};

} // namespace pipec
