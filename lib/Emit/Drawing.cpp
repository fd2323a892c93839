//===- Drawing.cpp - A timeline drawn as shapes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   title, sizes and parameters, figures
//   legend
//           |warmup||steady|       phases of rank 0
//   rank 0  [0][1][2]     [0][3]   one lane per rank, and thin ones for steps
//                                  that it posts
//                \  /              arrows if the schedule has transfers
//   rank 1     [0][1][0]
//           0    2    4    6       time
//   rank 0  __/----\___            the memory of the rank over time
//
// The width of a box is the duration of its step; its number is the
// micro-batch. The members of an overlap are adjacent in one frame. All
// coordinates are whole tenths of a pixel, computed from ticks without
// intermediate rounding, so the same schedule results in the same bytes on all
// systems. The text is written in one pass, in time linear in the steps.
//
//===----------------------------------------------------------------------===//

#include "Emit/Drawing.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

raw_ostream &operator<<(raw_ostream &os, Px px) {
  if (px.tenths < 0)
    os << '-';
  int64_t tenths = std::abs(px.tenths);
  os << tenths / 10;
  if (tenths % 10)
    os << '.' << tenths % 10;
  return os;
}

void Drawing::draw() {
  drawTitle();
  drawLegend();
  drawPhases();
  drawAxis();
  drawLanes();
  if (memoryView == MemoryView::Panel)
    drawMemory();
  drawArrows();
}

//===----------------------------------------------------------------------===//
// Around the lanes
//===----------------------------------------------------------------------===//

void Drawing::drawTitle() {
  auto draw = [&](const std::vector<std::string> &lines, StringRef style,
                  int64_t y, int64_t pitch) {
    for (const std::string &line : lines) {
      text(style, edge, y, line);
      canvas.endLine();
      y += pitch;
    }
  };
  draw(title, "title", 260, 180);
  draw(about, "sub", aboutTop, 150);
  draw(note, "note", noteTop, 160);
}

/// Draws the symbol of an item of the legend.
void Drawing::drawSymbol(const LegendItem &item) {
  auto box = [&](const Twine &style, int64_t at, int64_t boxWidth) {
    canvas.rect(style.str(), item.x + at, item.y, boxWidth, 120);
  };
  switch (item.symbol) {
  case LegendItem::Box:
    return box(item.style, 0, item.room);
  case LegendItem::Shades: {
    for (unsigned shade = 0; shade != shades; ++shade)
      box(item.style + 's' + Twine(shade), shade * item.room / shades,
          (shade + 1) * item.room / shades - shade * item.room / shades);
    unsigned kind;
    std::vector<Canvas::Point> bars;
    if (!StringRef(item.style).drop_front().getAsInteger(10, kind))
      addKindBar(StepKind(kind), item.x, item.x + item.room, item.y + 120,
                 bars);
    if (!bars.empty())
      canvas.path("bar", bars);
    return;
  }
  case LegendItem::Chunks: {
    StepKind kind = StepKind::F;
    while (!facts.of(kind).count && kind != StepKind::W)
      kind = StepKind(unsigned(kind) + 1);
    std::vector<Canvas::Point> stripes;
    for (unsigned shade = 0; shade != shades; ++shade) {
      int64_t each = item.room / shades, left = item.x + shade * each;
      // Higher, for the stripes above the letter, but within its row.
      int64_t top = item.y - 25;
      canvas.rect(("k" + Twine(unsigned(kind)) + "s" + Twine(shade)).str(),
                  left, top, each, 170);
      addStripes(shade, left, left + each, top, stripes);
      if (picture.numShaded() <= maxShades)
        text("num t" + std::to_string(unsigned(kind)), left + each / 2,
             item.y + 120, shadedName(shade));
    }
    return canvas.path("stripe", stripes);
  }
  case LegendItem::Pair: {
    unsigned at = 0;
    for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
      if (facts.of(kind).count && at != 2)
        box("k" + Twine(unsigned(kind)) + "s0", at++ * item.room / 2,
            item.room / 2);
    return box("pair", 0, item.room);
  }
  case LegendItem::Heat:
    for (unsigned level = 1; level <= heatLevels; ++level) {
      int64_t left = item.x + (level - 1) * item.room / heatLevels;
      canvas.path(
          "heat h" + std::to_string(level),
          {{left, item.y + 60}, {left + item.room / heatLevels, item.y + 60}});
    }
    return;
  case LegendItem::Arrow:
    return canvas.path(item.style,
                       {{item.x, item.y + 60}, {item.x + 160, item.y + 60}});
  case LegendItem::Mark:
    return drawMark(item.style, item.x + 80, item.y + 35);
  }
}

void Drawing::drawLegend() {
  for (const LegendItem &item : legend) {
    drawSymbol(item);
    text("", item.x + item.room + 50, item.y + 95, item.text);
    canvas.endLine();
  }
}

/// Draws a brace for each phase of the first rank that is wide enough.
void Drawing::drawPhases() {
  if (phases.empty())
    return;
  int64_t top = lanesTop - 90;
  canvas.open("phases", 0);
  text("rank", leftMargin - 80, top, "phases");
  canvas.endLine();
  for (const PhaseRun &run : phases) {
    int64_t left = x(run.start) + 5, right = x(run.finish) - 5;
    if (right - left < 20)
      continue;
    canvas.path("", {{left, top + 60},
                     {left, top + 20},
                     {right, top + 20},
                     {right, top + 60}});
    const std::string &name = schedule.phases[run.phase];
    if (right - left >= phaseLetterWidth * int64_t(name.size()))
      text("", (left + right) / 2, top - 10, name);
    canvas.endLine();
  }
  canvas.close();
}

void Drawing::drawAxis() {
  int64_t shown = picture.to() - picture.from();
  // Labels are at least 42 pixels apart.
  int64_t least = int64_t(__int128(shown) * 420 / plotWidth) + 1;
  AxisTicks ticks(picture.costs(), picture.from(), least);
  canvas.path("axis",
              {{leftMargin, axisTop}, {leftMargin + plotWidth, axisTop}});
  canvas.endLine();
  std::vector<Canvas::Point> lines;
  for (int64_t at = ticks.first; at <= picture.to(); at += ticks.step) {
    lines.push_back({x(at), lanesTop, /*moves=*/true});
    lines.push_back({x(at), axisTop + 40});
  }
  canvas.path("grid", lines);
  canvas.endLine();
  for (int64_t at = ticks.first; at <= picture.to(); at += ticks.step) {
    text("tick", x(at), axisTop + 150, picture.time(at));
    canvas.endLine();
  }
  text("rank", leftMargin - 80, axisTop + 150, "time");
  canvas.endLine();
}

} // namespace pipec
