//===- CopyTimes.h - Memory and streams while copies are placed -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace pipec {

/// Levels by line, with additions to ranges of lines.
class LevelTree {
public:
  explicit LevelTree(llvm::ArrayRef<int64_t> levels) : size(levels.size()) {
    while (leaves < size)
      leaves *= 2;
    most.assign(2 * leaves, std::numeric_limits<int64_t>::min() / 2);
    more.assign(2 * leaves, 0);
    llvm::copy(levels, most.begin() + leaves);
    for (size_t node = leaves - 1; node != 0; --node)
      most[node] = std::max(most[2 * node], most[2 * node + 1]);
  }

  /// Adds `by` to the lines [begin, end).
  void add(size_t begin, size_t end, int64_t by) {
    add(begin, end, by, 1, 0, leaves);
  }
  /// The first line from `begin` on whose level exceeds `limit`, and its level;
  /// the number of lines if there is none.
  std::pair<size_t, int64_t> firstAbove(int64_t limit, size_t begin) const {
    size_t line = find(limit, begin, 0, 1, 0, leaves);
    return {std::min(line, size), found};
  }

private:
  void add(size_t begin, size_t end, int64_t by, size_t node, size_t from,
           size_t to) {
    if (begin >= to || end <= from)
      return;
    if (begin <= from && to <= end) {
      most[node] += by;
      more[node] += by;
      return;
    }
    size_t middle = (from + to) / 2;
    add(begin, end, by, 2 * node, from, middle);
    add(begin, end, by, 2 * node + 1, middle, to);
    most[node] = more[node] + std::max(most[2 * node], most[2 * node + 1]);
  }
  size_t find(int64_t limit, size_t begin, int64_t above, size_t node,
              size_t from, size_t to) const {
    if (to <= begin || most[node] + above <= limit)
      return leaves;
    if (to - from == 1) {
      found = most[node] + above;
      return from;
    }
    size_t middle = (from + to) / 2;
    above += more[node];
    size_t line = find(limit, begin, above, 2 * node, from, middle);
    return line != leaves ? line
                          : find(limit, begin, above, 2 * node + 1, middle, to);
  }

  size_t size;
  size_t leaves = 1;
  /// By node, the most below it, and the sum of additions to all of it.
  std::vector<int64_t> most, more;
  mutable int64_t found = 0;
};

/// When a stream that runs its copies in the order in which they are ready is
/// busy.
class BusyTimes {
public:
  /// Adds a copy that is ready at `from`; it and later ones wait for others.
  void add(int64_t from, int64_t length) {
    if (length == 0)
      return;
    int64_t begin = from, end = from + length;
    auto next = periods.upper_bound(from);
    if (next != periods.begin() && std::prev(next)->second >= from) {
      begin = std::prev(next)->first;
      end = std::prev(next)->second + length;
      periods.erase(std::prev(next));
    }
    while (next != periods.end() && next->first <= end) {
      end += next->second - next->first;
      next = periods.erase(next);
    }
    periods[begin] = end;
  }

  /// The first time from `from` on at which the stream is idle for `length`, if
  /// it is close.
  std::optional<int64_t> idleFrom(int64_t from, int64_t length) const {
    auto next = periods.upper_bound(from);
    if (next != periods.begin())
      from = std::max(from, std::prev(next)->second);
    for (unsigned hop = 0; hop != maxHops; ++hop, ++next) {
      if (next == periods.end() || next->first - from >= length)
        return from;
      from = next->second;
    }
    return std::nullopt;
  }

private:
  static constexpr unsigned maxHops = 64;
  /// By its begin, the end of each period.
  std::map<int64_t, int64_t> periods;
};

} // namespace pipec
