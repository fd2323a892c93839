//===- TimelineTimes.cpp - Ranks and time on a terminal -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   one_f_one_b: 2 ranks, 2 stages, 3 micro-batches, makespan 12
//
//   rank  0  1  2  3  4  5  6  7  8  9  10 11
//      0  F0 F1 .  .  B0--- F2 B1--- .  B2---
//      1  .  F0 B0--- F1 B1--- F2 B2--- .  .
//
// Steps are at the times of the simulation, and as wide as their durations. At
// the usual scale the names of steps fit. A table wider than the terminal
// continues in further blocks. If this would result in many blocks, or a very
// large file, it is scaled down, and a line says so.
//===----------------------------------------------------------------------===//

#include "Emit/Picture.h"
#include "Support/Words.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec {

namespace {

/// From this number of blocks on, the table is scaled down instead.
constexpr int64_t maxBlocks = 8;

class TimePrinter {
public:
  TimePrinter(const Picture &picture, const EmitOptions &options,
              raw_ostream &os)
      : picture(picture), schedule(picture.schedule()), options(options),
        os(os) {
    chooseScale();
  }

  void print() {
    os << terminalText(schedule.name) << ": " << sizesText(schedule)
       << ", makespan " << picture.time(picture.simulation().makespan())
       << '\n';
    drawRows();
    int64_t perBlock = columns;
    if (options.width && !scaledDown)
      perBlock = std::min(columns, available() / cell * cell);
    for (int64_t at = 0; at < columns; at += perBlock) {
      os << '\n';
      printBlock(at, std::min(at + perBlock, columns));
    }
    if (std::string part = picture.windowText(); !part.empty())
      os << "\nshown: " << part << '\n';
    if (scaledDown)
      os << "\nscaled " << (options.width ? "to the width" : "down")
         << ": a column is " << format("%.3g", costsPerColumn())
         << " of time;\n--window=FROM:TO shows a part\n";
    printNotDrawn(os, schedule, /*streams=*/true);
  }

private:
  void chooseScale();
  void drawRows();
  void printBlock(int64_t begin, int64_t end);
  void printRuler(int64_t begin, int64_t end);

  int64_t length() const { return picture.to() - picture.from(); }
  /// The columns available for the table, at least one cell.
  int64_t available() const {
    return std::max<int64_t>(int64_t(options.width) - timelineHead, cell);
  }
  int64_t column(int64_t ticks) const {
    ticks = std::clamp(ticks, picture.from(), picture.to()) - picture.from();
    return length() ? int64_t(__int128(ticks) * columns / length()) : 0;
  }
  /// The first time that a column shows.
  int64_t timeOf(int64_t column) const {
    return picture.from() +
           int64_t((__int128(column) * length() + columns - 1) / columns);
  }
  double costsPerColumn() const {
    return double(length()) / double(picture.costs().perUnit()) /
           double(columns);
  }
  void printName(const Picture::Group &group, raw_ostream &to) const {
    printTimelineGroup(to, schedule, picture.chunks(), group.rank, group.begin);
  }

  const Picture &picture;
  const Schedule &schedule;
  const EmitOptions &options;
  raw_ostream &os;

  /// The columns between two dots of idle time: a name and a gap, or a quantum.
  int64_t cell = 2;
  int64_t columns = 0;
  bool scaledDown = false;
  /// For each rank, its row of characters, and for each character the kind of
  /// its step (as a digit) or a blank.
  std::vector<std::string> rows, kinds;
};

} // namespace

void TimePrinter::chooseScale() {
  // All steps begin and end at multiples of `quantum`.
  int64_t quantum = 0;
  __int128 sum = 0;
  int64_t count = 0;
  auto forEachStep = [&](auto visit) {
    SmallString<64> name;
    for (unsigned rank = 0; rank != picture.shownRanks(); ++rank)
      picture.forEachCompute(rank, [&](const Picture::Group &group) {
        name.clear();
        raw_svector_ostream nameOs(name);
        printName(group, nameOs);
        visit(group, int64_t(name.size()) + 1);
      });
  };
  forEachStep([&](const Picture::Group &group, int64_t width) {
    int64_t duration = group.finish - group.start;
    quantum =
        std::gcd(std::gcd(quantum, duration), group.start - picture.from());
    sum += duration;
    ++count;
  });
  if (sum == 0 || length() == 0) {
    columns = cell;
    return;
  }
  // The scale at which every name fits, except that very short steps do not
  // stretch the table without limit.
  int64_t average = std::max<int64_t>(int64_t(sum / count), 1);
  int64_t widest = 1, shortest = average;
  forEachStep([&](const Picture::Group &group, int64_t width) {
    int64_t duration =
        std::max({group.finish - group.start, average / 4, int64_t(1)});
    if (__int128(width) * shortest > __int128(widest) * duration) {
      widest = width;
      shortest = duration;
    }
  });
  // If there is enough room, each quantum gets the same number of columns.
  int64_t perQuantum =
      int64_t((__int128(widest) * quantum + shortest - 1) / shortest);
  if (perQuantum > 1 && length() % quantum == 0) {
    cell = perQuantum;
    columns = length() / quantum * cell;
  } else {
    cell = widest;
    // If ranks mostly wait, there are few steps.
    __int128 wanted = (__int128(length()) * widest + shortest - 1) / shortest;
    columns = int64_t(std::min(wanted, __int128(count) * cell * 16 + 1024));
    columns = std::max(columns, cell);
  }
  // Rows of a file may be long, but their total size is limited.
  int64_t most = int64_t(timelineCharacters / picture.shownRanks());
  if (options.width && columns > available() * maxBlocks) {
    scaledDown = true;
    columns = available();
  } else if (columns > most) {
    scaledDown = true;
    columns = std::max(most, cell);
  }
}

void TimePrinter::drawRows() {
  rows.assign(picture.shownRanks(), std::string());
  kinds.assign(picture.shownRanks(), std::string());
  SmallString<64> name;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    std::string &row = rows[rank];
    std::string &kind = kinds[rank];
    row.assign(columns, ' ');
    kind.assign(columns, ' ');
    for (int64_t at = 0; at < columns; at += scaledDown ? 1 : cell)
      row[at] = '.';
    const StepList &list = schedule.ranks[rank];
    picture.forEachCompute(rank, [&](const Picture::Group &group) {
      int64_t begin = column(group.start), end = column(group.finish);
      if (begin >= end)
        return;
      name.clear();
      raw_svector_ostream nameOs(name);
      printName(group, nameOs);
      // A blank after the name, if there is room.
      bool gap = !scaledDown || end - begin > int64_t(name.size());
      int64_t drawn = std::max<int64_t>(end - begin - gap, 1);
      std::fill(row.begin() + begin, row.begin() + end, ' ');
      for (int64_t i = 0; i != drawn; ++i)
        row[begin + i] = i < int64_t(name.size()) ? name[i] : '-';
      // In an overlap, the color of each member extends to its `&`.
      size_t member = group.begin;
      for (int64_t i = 0; i != drawn; ++i) {
        if (i < int64_t(name.size()) && name[i] == '&')
          ++member;
        else
          kind[begin + i] = char('0' + unsigned(list[member].kind()));
      }
    });
  }
}

void TimePrinter::printRuler(int64_t begin, int64_t end) {
  int64_t digits = int64_t(picture.time(picture.to()).size()) + 1;
  int64_t least = timeOf(std::max(digits, cell)) - picture.from();
  AxisTicks ticks(picture.costs(), picture.from(), std::max<int64_t>(least, 1));
  std::string ruler;
  int64_t at = ticks.first;
  if (int64_t from = timeOf(begin); at < from)
    at += (from - at + ticks.step - 1) / ticks.step * ticks.step;
  for (; at < picture.to() && column(at) < end; at += ticks.step) {
    if (int64_t(ruler.size()) > column(at) - begin)
      continue;
    ruler.resize(column(at) - begin, ' ');
    ruler += picture.time(at) + " ";
  }
  os << StringRef("rank  " + ruler).rtrim(' ') << '\n';
}

void TimePrinter::printBlock(int64_t begin, int64_t end) {
  printRuler(begin, end);
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    os << format("%4u  ", rank);
    StringRef row = StringRef(rows[rank]).slice(begin, end).rtrim(' ');
    if (!options.colors) {
      os << row << '\n';
      continue;
    }
    StringRef kind = StringRef(kinds[rank]).slice(begin, begin + row.size());
    for (size_t i = 0; i != row.size();) {
      size_t next = std::min(
          kind.find_if([&](char c) { return c != kind[i]; }, i), row.size());
      if (kind[i] != ' ')
        os << terminalColor(StepKind(kind[i] - '0')) << row.slice(i, next)
           << plainColor;
      else
        os << row.slice(i, next);
      i = next;
    }
    os << '\n';
  }
}

/// The number of steps is not limited: their width follows from the scale.
static constexpr Picture::Limits timelineLimits = {
    std::numeric_limits<size_t>::max(),
    /*ranks=*/timelineRanks};

LogicalResult writeTimes(const Schedule &schedule, const EmitOptions &options,
                         raw_ostream &os, DiagEngine &diags) {
  FailureOr<Picture> picture =
      Picture::make(schedule, options, timelineLimits, diags);
  if (failed(picture))
    return failure();
  TimePrinter(*picture, options, os).print();
  return success();
}

} // namespace pipec
