//===- SvgMemory.cpp - The memory of ranks in the SVG timeline ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/SvgWriter.h"

#include <array>

using namespace llvm;

namespace pipec {

/// The strip of a lane: one path for each level of darkness.
void SvgWriter::writeHeat(unsigned rank) {
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
        << 'M' << Px{left} << ' ' << Px{heatTop() + heatHeight / 2} << 'H'
        << Px{right};
  };
  int64_t since = picture.from(), held = 0;
  picture.forEachLevel(rank, [&](int64_t time, int64_t level) {
    add(held, since, time);
    since = time;
    held = level;
  });
  add(held, since, picture.to());
  os << "<rect class=\"lane\" x=\"" << Px{leftMargin} << "\" y=\""
     << Px{heatTop()} << "\" width=\"" << Px{plotWidth} << "\" height=\""
     << Px{heatHeight} << "\"/>\n";
  for (size_t level = 1; level <= heatLevels; ++level)
    if (!paths[level].empty())
      os << "<path class=\"heat h" << level << "\" d=\"" << paths[level]
         << "\"/>\n";
  os << "<text class=\"side\" x=\"" << Px{leftMargin + plotWidth + 80}
     << "\" y=\"" << Px{heatTop() + heatHeight} << "\">"
     << roundedText(picture.memory().size(facts.peak(rank))) << "</text>\n";
}

void SvgWriter::writeMemory() {
  const MemoryModel &memory = picture.memory();
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
  os << "<text class=\"sub\" x=\"" << Px{leftMargin} << "\" y=\""
     << Px{memoryTop - 70} << "\">Memory in time, with the peak"
     << (anyLimit ? " and the limit" : "") << "</text>\n";
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t base = memoryTop + rank * memoryPitch + memoryHeight;
    auto y = [&](int64_t level) {
      return Px{base - int64_t(__int128(std::max<int64_t>(level, 0)) *
                               memoryHeight / highest)};
    };
    os << "<text class=\"rank\" x=\"" << Px{leftMargin - 80} << "\" y=\""
       << Px{base - 50} << "\">rank " << rank
       << "</text><path class=\"mem\" d=\"M" << Px{leftMargin} << ' '
       << Px{base};
    picture.forEachLevel(rank, [&](int64_t time, int64_t level) {
      os << 'H' << Px{x(time)} << 'V' << y(level);
    });
    os << 'H' << Px{leftMargin + plotWidth} << 'V' << Px{base}
       << "Z\"/><text class=\"side\" x=\"" << Px{leftMargin + plotWidth + 80}
       << "\" y=\"" << Px{base - 50} << "\">"
       << roundedText(memory.size(facts.peak(rank))) << "</text>\n";
    if (int64_t limit = limitOf(rank))
      os << "<path class=\"limit\" d=\"M" << Px{leftMargin} << ' ' << y(limit)
         << 'H' << Px{leftMargin + plotWidth} << "\"/>\n";
  }
}

} // namespace pipec
