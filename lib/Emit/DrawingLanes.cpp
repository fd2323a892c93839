//===- DrawingLanes.cpp - Lanes and memory of a drawn timeline ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Drawing.h"

#include <array>
#include <compare>
#include <map>
#include <optional>

using namespace llvm;

namespace pipec {

namespace {

/// Chooses the steps of a lane that are drawn with their numbers. Numbers do
/// not end within a lane because they get longer: the steps of one kind, chunk
/// and form all have theirs if every number of the picture fits every one of
/// them, and otherwise none has. templates/page-rows.js does the same.
class StepLabels {
public:
  /// Steps of the same width, as a rule.
  struct Type {
    StepKind kind;
    unsigned chunk;
    bool inPair;
    auto operator<=>(const Type &) const = default;
  };

  /// `room` is the width that the longest number needs.
  explicit StepLabels(int64_t room) : room(room) {}

  void add(const Type &type, int64_t width) {
    auto [it, isNew] = narrowest.try_emplace(type, width);
    it->second = std::min(it->second, width);
  }
  /// Whether a step has its number, after all have been added.
  bool shows(const Type &type) const { return narrowest.at(type) >= room; }

private:
  int64_t room;
  /// The narrowest step of each type.
  std::map<Type, int64_t> narrowest;
};

} // namespace

void Drawing::drawLanes() {
  const Simulation &run = picture.simulation();
  bool hasHeat = memoryView == MemoryView::Heat;
  text("side", sideLeft(), lanesTop - 50, "idle");
  canvas.endLine();
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    canvas.open("", laneTop(rank));
    text("rank", leftMargin - 80, 150, "rank " + Twine(rank));
    canvas.endLine();
    if (run.makespan() != 0)
      if (auto busy = Rational::make(run.ranks()[rank].work, run.makespan()))
        if (auto idle = Rational::sub(Rational(1), *busy)) {
          text("side", sideLeft(), hasHeat ? 100 : 150, percentText(*idle));
          canvas.endLine();
        }
    canvas.rect("lane", leftMargin, 0, plotWidth, laneHeight);
    canvas.endLine();
    drawLane(rank);
    std::vector<std::vector<Picture::Group>> groups = picture.sides(rank);
    for (size_t n = 0; n != sides.size(); ++n)
      drawSide(rank, n, groups[sides[n].number()]);
    drawWaits(rank);
    if (hasHeat) {
      drawHeat(rank, MemoryPlace::Device);
      if (facts.hasHost())
        drawHeat(rank, MemoryPlace::Host);
    }
    canvas.close();
  }
}

/// Calls `visit(group, index, left, right)` for the box of each compute step of
/// a group.
template <class Visit>
void Drawing::forEachBox(const Picture::Group &group, Visit visit) const {
  int64_t left = x(group.start), right = x(group.finish);
  __int128 whole = 0, done = 0;
  for (size_t i = group.begin; i != group.end; ++i)
    whole += picture.alone(group.rank, i);
  int64_t at = left;
  size_t size = group.end - group.begin;
  for (size_t i = group.begin; i != group.end; ++i) {
    done += picture.alone(group.rank, i);
    int64_t next =
        left + int64_t(whole ? __int128(right - left) * done / whole
                             : (right - left) * int64_t(i + 1 - group.begin) /
                                   int64_t(size));
    visit(group, i, at, next);
    at = next;
  }
}

/// The same for all groups of the lane of a rank.
template <class Visit>
void Drawing::forEachBox(unsigned rank, Visit visit) const {
  picture.forEachCompute(
      rank, [&](const Picture::Group &group) { forEachBox(group, visit); });
}

/// Draws the box of a compute step.
void Drawing::drawBox(unsigned rank, Step step, int64_t left, int64_t right,
                      int64_t top, int64_t boxHeight) {
  // Lines between boxes would hide boxes that are not much wider.
  int64_t least = boxWidth < 20 ? 0 : 5;
  int64_t boxed = std::max(right - left, least);
  if (!boxed)
    return;
  canvas.rect(
      ("k" + Twine(unsigned(step.kind())) + "s" + Twine(shade(rank, step)))
          .str(),
      left, top, boxed, boxHeight);
  canvas.endLine();
}

/// Adds the lines at the top of a box that tell its chunk without its color:
/// none for the darkest shade, one for the next, and so on. templates/
/// page-rows.js does the same.
void Drawing::addStripes(unsigned shade, int64_t left, int64_t right,
                         int64_t top, std::vector<Canvas::Point> &lines) const {
  constexpr int64_t inset = 6, pitch = 20;
  if (right - left < 30)
    return;
  // In the middle of pixels, so that the lines do not blur into each other.
  for (int64_t n = 0, y = top + 15; n != shade; ++n, y += pitch) {
    lines.push_back({left + inset, y, /*moves=*/true});
    lines.push_back({right - inset, y});
  }
}

/// Adds the bar at the bottom of a box that tells its kind without its color,
/// if shades of kinds may be alike in gray: the whole width for B, the left and
/// the right half for its halves I and W, the middle for R, and none for F.
/// templates/page-rows.js does the same.
void Drawing::addKindBar(StepKind kind, int64_t left, int64_t right,
                         int64_t bottom,
                         std::vector<Canvas::Point> &lines) const {
  constexpr int64_t inset = 6;
  // In sixths of the width.
  int64_t from = 0, to = 0;
  switch (kind) {
  case StepKind::B:
    to = 6;
    break;
  case StepKind::I:
    to = 3;
    break;
  case StepKind::W:
    from = 3, to = 6;
    break;
  case StepKind::R:
    from = 2, to = 4;
    break;
  default:
    return;
  }
  if (shades == 1 || right - left < 30)
    return;
  int64_t width = right - left - 2 * inset, y = bottom - 20;
  lines.push_back({left + inset + width * from / 6, y, /*moves=*/true});
  lines.push_back({left + inset + width * to / 6, y});
}

void Drawing::drawLane(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  StepLabels labels(digitWidth * int64_t(labelLetters) + 10);
  auto typeOf = [&](const Picture::Group &group, Step step) {
    return StepLabels::Type{step.kind(),
                            picture.chunks().of(schedule, rank, step),
                            group.end - group.begin > 1};
  };
  forEachBox(rank, [&](const Picture::Group &group, size_t i, int64_t left,
                       int64_t right) {
    labels.add(typeOf(group, list[i]), right - left);
  });
  // First the boxes, then lines, frames and numbers on them.
  canvas.open("box", 0);
  forEachBox(
      rank, [&](const Picture::Group &, size_t i, int64_t left, int64_t right) {
        drawBox(rank, list[i], left, right, 0, laneHeight);
      });
  canvas.close();
  std::vector<Canvas::Point> stripes, bars;
  forEachBox(
      rank, [&](const Picture::Group &, size_t i, int64_t left, int64_t right) {
        if (hasUnit(list[i].kind()))
          addStripes(shade(rank, list[i]), left, right, 0, stripes);
        addKindBar(list[i].kind(), left, right, laneHeight, bars);
      });
  for (auto [style, lines] : {std::pair("stripe", &stripes), {"bar", &bars}})
    if (!lines->empty()) {
      canvas.path(style, *lines);
      canvas.endLine();
    }
  // Frames are drawn around the boxes, so that they are visible next to dark
  // ones.
  picture.forEachCompute(rank, [&](const Picture::Group &group) {
    if (group.end - group.begin == 1)
      return;
    canvas.rect("pair", x(group.start), -7, x(group.finish) - x(group.start),
                laneHeight + 14);
    canvas.endLine();
  });
  forEachBox(rank, [&](const Picture::Group &group, size_t i, int64_t left,
                       int64_t right) {
    Step step = list[i];
    if (!labels.shows(typeOf(group, step)))
      return;
    text("num t" + std::to_string(unsigned(step.kind())), (left + right) / 2,
         145, number(rank, step));
    canvas.endLine();
  });
}

/// Draws the `n`-th lane of posted steps.
void Drawing::drawSide(unsigned rank, size_t n,
                       ArrayRef<Picture::Group> groups) {
  const StepList &list = schedule.ranks[rank];
  bool isStream = sides[n].stream() != 0;
  if (sides[n] != SideLane::collectives()) {
    text("side side-name", leftMargin - 30, sideTop(n) + 62,
         sideName(sides[n]));
    canvas.endLine();
  }
  canvas.rect("lane", leftMargin, sideTop(n), plotWidth, sideHeight);
  canvas.endLine();
  canvas.open(isStream ? "box" : "", 0);
  for (const Picture::Group &group : groups) {
    if (isStream) {
      forEachBox(group, [&](const Picture::Group &, size_t i, int64_t left,
                            int64_t right) {
        drawBox(rank, list[i], left, right, sideTop(n), sideHeight);
      });
      continue;
    }
    StepKind kind = list[group.begin].kind();
    int64_t mark = 25;
    int64_t left = std::min(x(group.start), leftMargin + plotWidth - mark);
    canvas.rect("k" + std::to_string(unsigned(kind)), left, sideTop(n),
                std::max(x(group.finish) - left, mark), sideHeight);
    canvas.endLine();
  }
  canvas.close();
}

/// A triangle that points up to `x` and `y`.
void Drawing::drawMark(StringRef style, int64_t x, int64_t y) {
  canvas.path(style, {{x, y}, {x + 30, y + 55}, {x - 30, y + 55}},
              /*closed=*/true);
  canvas.endLine();
}

/// Marks the end of each wait below the lane; a wait has no duration.
void Drawing::drawWaits(unsigned rank) {
  picture.forEachWait(rank, [&](Step step, int64_t time) {
    std::string style = step.kind() == StepKind::WaitSendF ? "head-act"
                        : step.kind() == StepKind::WaitSendB
                            ? "head-grad"
                            : "k" + std::to_string(unsigned(step.kind()));
    drawMark(style, x(time), laneDepth() + 10);
  });
}

void Drawing::drawArrows() {
  for (const Arrow &arrow : arrows) {
    bool down = arrow.toRank > arrow.fromRank;
    int64_t fromY = laneTop(arrow.fromRank) + (down ? laneHeight : 0);
    int64_t toY = laneTop(arrow.toRank) + (down ? 0 : laneHeight);
    canvas.path(arrow.gradient ? "grad" : "act",
                {{x(arrow.start), fromY}, {x(arrow.finish), toY}});
    canvas.endLine();
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A strip of a lane: one path for each level of darkness.
void Drawing::drawHeat(unsigned rank, MemoryPlace place) {
  bool isHost = place == MemoryPlace::Host;
  int64_t top = isHost ? hostTop() : heatTop();
  std::array<std::vector<Canvas::Point>, heatLevels + 1> paths;
  auto add = [&](int64_t level, int64_t from, int64_t to) {
    int64_t left = x(from), right = x(to), y = top + heatHeight / 2;
    // Any memory at all is visible.
    int64_t dark =
        int64_t((__int128(level) * heatLevels + facts.highestPeak() - 1) /
                facts.highestPeak());
    if (level <= 0 || left == right)
      return;
    paths[size_t(dark)].push_back({left, y, /*moves=*/true});
    paths[size_t(dark)].push_back({right, y});
  };
  int64_t since = picture.from(), held = 0;
  picture.forEachLevel(
      rank,
      [&](int64_t time, int64_t level) {
        add(held, since, time);
        since = time;
        held = level;
      },
      place);
  add(held, since, picture.to());
  canvas.rect("lane", leftMargin, top, plotWidth, heatHeight);
  for (size_t level = 1; level <= heatLevels; ++level)
    if (!paths[level].empty())
      canvas.path((isHost ? "heat host h" : "heat h") + std::to_string(level),
                  paths[level]);
  if (!isHost)
    drawPeak(rank, top + heatHeight);
  canvas.endLine();
}

void Drawing::drawPeak(unsigned rank, int64_t y) {
  bool isOver = limitOf(rank) && facts.peak(rank) > limitOf(rank);
  canvas.text(isOver ? "side over" : "side", sideLeft(), y, peakText(rank),
              facts.exactSize(facts.peak(rank)));
}

namespace {

/// The points of a curve that changes in steps.
class Levels {
public:
  Levels(int64_t x, int64_t y) : points{{x, y}}, last(y) {}
  void add(int64_t x, int64_t y) {
    points.push_back({x, last});
    points.push_back({x, y});
    last = y;
  }
  std::vector<Canvas::Point> points;

private:
  int64_t last;
};

} // namespace

/// Draws what a rank keeps on the host, as a line over its memory.
void Drawing::drawHostCurve(unsigned rank, int64_t base, int64_t highest) {
  Levels levels(leftMargin, base);
  picture.forEachLevel(
      rank,
      [&](int64_t time, int64_t level) {
        levels.add(x(time),
                   base - int64_t(__int128(level) * memoryHeight / highest));
      },
      MemoryPlace::Host);
  levels.points.push_back({leftMargin + plotWidth, levels.points.back().y});
  canvas.path("host", levels.points);
  canvas.endLine();
}

void Drawing::drawMemory() {
  int64_t highest = facts.highestPeak();
  bool anyLimit = false;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    highest = std::max(highest, limitOf(rank));
    anyLimit |= limitOf(rank) != 0;
  }
  text("sub", leftMargin, memoryTop - 70,
       Twine("Memory in time, with the peak") +
           (anyLimit ? " and the limit" : "") +
           (facts.hasHost() ? "; line: on the host" : ""));
  canvas.endLine();
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t base = memoryTop + rank * memoryPitch + memoryHeight;
    int64_t right = leftMargin + plotWidth;
    auto y = [&](int64_t level) {
      return base - int64_t(__int128(std::max<int64_t>(level, 0)) *
                            memoryHeight / highest);
    };
    text("rank", leftMargin - 80, base - 50, "rank " + Twine(rank));
    Levels levels(leftMargin, base);
    picture.forEachLevel(rank, [&](int64_t time, int64_t level) {
      levels.add(x(time), y(level));
    });
    levels.add(right, base);
    canvas.path("mem", levels.points, /*closed=*/true);
    drawPeak(rank, base - 50);
    canvas.endLine();
    if (facts.hasHost())
      drawHostCurve(rank, base, highest);
    if (int64_t limit = limitOf(rank)) {
      canvas.path("limit", {{leftMargin, y(limit)}, {right, y(limit)}});
      canvas.endLine();
    }
  }
}

} // namespace pipec
