//===- SvgLanes.cpp - Lanes and memory in the SVG timeline ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/SvgLayout.h"

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
/// them, and otherwise none has. If that leaves none, every second, fifth or
/// tenth step of the first kind has one, which extends over its neighbours,
/// except beside streams of stages, where most steps are next to gaps.
/// templates/page-rows.js does the same.
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
  /// After all steps have been added, and before the first `shows`.
  void choose(bool mayExtend) {
    std::optional<int64_t> least;
    for (const auto &[type, width] : narrowest) {
      if (width >= room)
        return;
      if (type.kind == narrowest.begin()->first.kind)
        least = std::min(least.value_or(width), width);
    }
    for (unsigned n : {2, 5, 10})
      if (mayExtend && least && n * *least >= room) {
        every = n;
        return;
      }
  }
  /// Whether the next step of the lane has its number.
  bool shows(const Type &type) {
    if (!every)
      return narrowest.at(type) >= room;
    return type.kind == narrowest.begin()->first.kind && count++ % every == 0;
  }

private:
  int64_t room;
  /// The narrowest step of each type.
  std::map<Type, int64_t> narrowest;
  unsigned every = 0, count = 0;
};

} // namespace

void SvgWriter::writeLanes() {
  const Simulation &run = picture.simulation();
  bool hasHeat = memoryView == MemoryView::Heat;
  text(os, "side", sideLeft(), lanesTop - 50, "idle") << '\n';
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t top = laneTop(rank);
    os << "<g transform=\"translate(0," << Px{top} << ")\">\n";
    text(os, "rank", leftMargin - 80, 150, "rank " + Twine(rank)) << '\n';
    if (run.makespan() != 0)
      if (auto busy = Rational::make(run.ranks()[rank].work, run.makespan()))
        if (auto idle = Rational::sub(Rational(1), *busy))
          text(os, "side", sideLeft(), hasHeat ? 100 : 150, percentText(*idle))
              << '\n';
    os << "<rect class=\"lane\" x=\"" << Px{leftMargin} << "\" width=\""
       << Px{plotWidth} << "\" height=\"" << Px{laneHeight} << "\"/>\n";
    writeLane(rank);
    std::vector<std::vector<Picture::Group>> groups = picture.sides(rank);
    for (size_t n = 0; n != sides.size(); ++n)
      writeSide(rank, n, groups[sides[n].number()]);
    writeWaits(rank);
    if (hasHeat) {
      writeHeat(rank, MemoryPlace::Device);
      if (facts.hasHost())
        writeHeat(rank, MemoryPlace::Host);
    }
    os << "</g>\n";
  }
}

/// Calls `visit(group, index, left, right)` for the box of each compute step of
/// a group.
template <class Visit>
void SvgWriter::forEachBox(const Picture::Group &group, Visit visit) const {
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
void SvgWriter::forEachBox(unsigned rank, Visit visit) const {
  picture.forEachCompute(
      rank, [&](const Picture::Group &group) { forEachBox(group, visit); });
}

/// Writes the box of a compute step.
void SvgWriter::writeBox(unsigned rank, Step step, int64_t left, int64_t right,
                         int64_t top, int64_t boxHeight) {
  // Lines between boxes would hide boxes that are not much wider.
  int64_t least = boxWidth < 20 ? 0 : 5;
  int64_t boxed = std::max(right - left, least);
  if (!boxed)
    return;
  os << "<rect class=\"k" << unsigned(step.kind()) << 's' << shade(rank, step)
     << "\" x=\"" << Px{left};
  if (top)
    os << "\" y=\"" << Px{top};
  os << "\" width=\"" << Px{boxed} << "\" height=\"" << Px{boxHeight}
     << "\"/>\n";
}

void SvgWriter::writeLane(unsigned rank) {
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
  labels.choose(/*mayExtend=*/schedule.streams.empty());
  // First the boxes, then the text and frames on them.
  std::string above;
  raw_string_ostream aboveOs(above);
  os << "<g class=\"box\">\n";
  forEachBox(rank, [&](const Picture::Group &group, size_t i, int64_t left,
                       int64_t right) {
    Step step = list[i];
    writeBox(rank, step, left, right, 0, laneHeight);
    if (labels.shows(typeOf(group, step)))
      text(aboveOs, "num t" + std::to_string(unsigned(step.kind())),
           (left + right) / 2, 145, number(rank, step))
          << '\n';
    if (group.end - group.begin > 1 && i + 1 == group.end)
      // The frame is drawn around the boxes, so that it is visible next to dark
      // ones.
      aboveOs << "<rect class=\"pair\" x=\"" << Px{x(group.start)}
              << "\" y=\"-0.7\" width=\""
              << Px{x(group.finish) - x(group.start)}
              << "\" height=\"23.4\"/>\n";
  });
  os << "</g>\n" << above;
}

/// Writes the `n`-th lane of posted steps.
void SvgWriter::writeSide(unsigned rank, size_t n,
                          ArrayRef<Picture::Group> groups) {
  const StepList &list = schedule.ranks[rank];
  bool isStream = sides[n].stream() != 0;
  if (sides[n] != SideLane::collectives())
    text(os, "side side-name", leftMargin - 30, sideTop(n) + 62,
         Xml{sideName(sides[n])})
        << '\n';
  os << "<rect class=\"lane\" x=\"" << Px{leftMargin} << "\" y=\""
     << Px{sideTop(n)} << "\" width=\"" << Px{plotWidth} << "\" height=\""
     << Px{sideHeight} << "\"/>\n<g" << (isStream ? " class=\"box\"" : "")
     << ">\n";
  for (const Picture::Group &group : groups) {
    if (isStream) {
      forEachBox(group, [&](const Picture::Group &, size_t i, int64_t left,
                            int64_t right) {
        writeBox(rank, list[i], left, right, sideTop(n), sideHeight);
      });
      continue;
    }
    StepKind kind = list[group.begin].kind();
    int64_t mark = 25;
    int64_t left = std::min(x(group.start), leftMargin + plotWidth - mark);
    os << "<rect class=\"k" << unsigned(kind) << "\" x=\"" << Px{left}
       << "\" y=\"" << Px{sideTop(n)} << "\" width=\""
       << Px{std::max(x(group.finish) - left, mark)} << "\" height=\""
       << Px{sideHeight} << "\"/>\n";
  }
  os << "</g>\n";
}

/// A triangle that points up to `x` and `y`.
void SvgWriter::writeMark(StringRef colorClass, int64_t x, int64_t y) {
  os << "<path class=\"" << colorClass << "\" d=\"M" << Px{x} << ' ' << Px{y}
     << 'L' << Px{x + 30} << ' ' << Px{y + 55} << 'L' << Px{x - 30} << ' '
     << Px{y + 55} << "Z\"/>\n";
}

/// Marks the end of each wait below the lane; a wait has no duration.
void SvgWriter::writeWaits(unsigned rank) {
  picture.forEachWait(rank, [&](Step step, int64_t time) {
    StringRef colorClass = step.kind() == StepKind::WaitSendF   ? "head-act"
                           : step.kind() == StepKind::WaitSendB ? "head-grad"
                                                                : "";
    writeMark(colorClass.empty() ? "k" + std::to_string(unsigned(step.kind()))
                                 : colorClass.str(),
              x(time), laneDepth() + 10);
  });
}

void SvgWriter::writeArrows() {
  for (const Arrow &arrow : arrows) {
    bool down = arrow.toRank > arrow.fromRank;
    int64_t fromY = laneTop(arrow.fromRank) + (down ? laneHeight : 0);
    int64_t toY = laneTop(arrow.toRank) + (down ? 0 : laneHeight);
    os << "<path class=\"" << (arrow.gradient ? "grad" : "act") << "\" d=\"M"
       << Px{x(arrow.start)} << ' ' << Px{fromY} << 'L' << Px{x(arrow.finish)}
       << ' ' << Px{toY} << "\"/>\n";
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A strip of a lane: one path for each level of darkness.
void SvgWriter::writeHeat(unsigned rank, MemoryPlace place) {
  bool isHost = place == MemoryPlace::Host;
  int64_t top = isHost ? hostTop() : heatTop();
  std::array<std::string, heatLevels + 1> paths;
  auto add = [&](int64_t level, int64_t from, int64_t to) {
    int64_t left = x(from), right = x(to);
    // Any memory at all is visible.
    int64_t dark =
        int64_t((__int128(level) * heatLevels + facts.highestPeak() - 1) /
                facts.highestPeak());
    if (level <= 0 || left == right)
      return;
    raw_string_ostream(paths[size_t(dark)])
        << 'M' << Px{left} << ' ' << Px{top + heatHeight / 2} << 'H'
        << Px{right};
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
  os << "<rect class=\"lane\" x=\"" << Px{leftMargin} << "\" y=\"" << Px{top}
     << "\" width=\"" << Px{plotWidth} << "\" height=\"" << Px{heatHeight}
     << "\"/>\n";
  for (size_t level = 1; level <= heatLevels; ++level)
    if (!paths[level].empty())
      os << "<path class=\"heat " << (isHost ? "host " : "") << 'h' << level
         << "\" d=\"" << paths[level] << "\"/>\n";
  if (!isHost)
    text(os, "side", sideLeft(), top + heatHeight, peakText(rank)) << '\n';
}

/// Writes what a rank keeps on the host, as a line over its memory.
void SvgWriter::writeHostCurve(unsigned rank, int64_t base, int64_t highest) {
  os << "<path class=\"host\" d=\"M" << Px{leftMargin} << ' ' << Px{base};
  picture.forEachLevel(
      rank,
      [&](int64_t time, int64_t level) {
        os << 'H' << Px{x(time)} << 'V'
           << Px{base - int64_t(__int128(level) * memoryHeight / highest)};
      },
      MemoryPlace::Host);
  os << 'H' << Px{leftMargin + plotWidth} << "\"/>\n";
}

void SvgWriter::writeMemory() {
  // A limit far above all peaks would flatten the curves.
  auto limitOf = [&](unsigned rank) {
    int64_t limit = facts.limit(rank);
    return limit / 2 > facts.highestPeak() ? 0 : limit;
  };
  int64_t highest = facts.highestPeak();
  bool anyLimit = false;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    highest = std::max(highest, limitOf(rank));
    anyLimit |= limitOf(rank) != 0;
  }
  text(os, "sub", leftMargin, memoryTop - 70,
       Twine("Memory in time, with the peak") +
           (anyLimit ? " and the limit" : "") +
           (facts.hasHost() ? "; line: on the host" : ""))
      << '\n';
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t base = memoryTop + rank * memoryPitch + memoryHeight;
    auto y = [&](int64_t level) {
      return Px{base - int64_t(__int128(std::max<int64_t>(level, 0)) *
                               memoryHeight / highest)};
    };
    text(os, "rank", leftMargin - 80, base - 50, "rank " + Twine(rank))
        << "<path class=\"mem\" d=\"M" << Px{leftMargin} << ' ' << Px{base};
    picture.forEachLevel(rank, [&](int64_t time, int64_t level) {
      os << 'H' << Px{x(time)} << 'V' << y(level);
    });
    os << 'H' << Px{leftMargin + plotWidth} << 'V' << Px{base} << "Z\"/>";
    text(os, "side", sideLeft(), base - 50, peakText(rank)) << '\n';
    if (facts.hasHost())
      writeHostCurve(rank, base, highest);
    if (int64_t limit = limitOf(rank))
      os << "<path class=\"limit\" d=\"M" << Px{leftMargin} << ' ' << y(limit)
         << 'H' << Px{leftMargin + plotWidth} << "\"/>\n";
  }
}

} // namespace pipec
