//===- Paths.h - Bounds from paths, and from one rank alone -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lower bounds of the makespan, the first two of docs/Rationale/Bounds.md, and
// what they share with the third (Windows.h): for every step the earliest start
// and the latest end that a schedule of a given makespan can have.
//
// Paths go along data, along the micro-batches of a letter, and along memory:
// an F cannot start before an earlier micro-batch has given back its memory.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_PATHS_H
#define PIPEC_SEARCH_PATHS_H

#include "Search/Problem.h"

namespace pipec::search {

/// By the numbers of steps.
struct StepWindows {
  std::vector<Ticks> starts;
  std::vector<Ticks> ends;
};

/// An F of a letter cannot start before the step of `letter` that is `lag`
/// micro-batches earlier has ended.
struct MemoryArc {
  uint8_t forward;
  uint8_t letter;
  uint32_t lag;
};

class Paths {
public:
  /// Without memory arcs, which need lemma 2 and more, where `memory` is false.
  explicit Paths(const Problem &problem, bool memory = true);

  /// No start before 0, no end after `makespan`, and no path.
  StepWindows open(Ticks makespan) const;
  /// Moves starts up and ends down along all paths. Marks in `changed` the
  /// ranks with another window; false when a window has become too small for
  /// its step.
  bool narrow(StepWindows &windows, std::vector<char> *changed = nullptr) const;

  /// The longest path: no schedule has a smaller makespan.
  Ticks longest() const;
  /// The least time in which one rank can run its steps within `windows` of the
  /// makespan `makespan` if it may interrupt them (Jackson's rule).
  Ticks machine(unsigned rank, const StepWindows &windows,
                Ticks makespan) const;
  /// The largest of `longest` and of `machine` of all ranks.
  Ticks bound() const;

  const std::vector<MemoryArc> &arcs(unsigned rank) const {
    return memoryArcs[rank];
  }

private:
  bool moveStarts(StepWindows &windows, std::vector<char> *changed) const;
  bool moveEnds(StepWindows &windows, std::vector<char> *changed) const;

  const Problem &problem;
  std::vector<std::vector<MemoryArc>> memoryArcs;
};

} // namespace pipec::search

#endif // PIPEC_SEARCH_PATHS_H
