//===- Paths.h - Bounds from paths, and from one rank alone -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lower bounds of the makespan: the first two of docs/Rationale/Bounds.md, and
// the windows that the third (RankFilter.h) also uses: the earliest start and
// the latest end of every step in a schedule of a given makespan.
//
// Paths follow data, the micro-batches of a letter, and memory: an F cannot
// start before an earlier micro-batch has freed its memory.
//
//===----------------------------------------------------------------------===//

#pragma once

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
  /// `memory` adds the arcs of lemma 2.
  explicit Paths(const Problem &problem, bool memory = true);

  /// No start before 0, no end after `makespan`, and no path.
  StepWindows open(Ticks makespan) const;
  /// Moves starts up and ends down along all paths. Marks in `changed` the
  /// ranks whose windows change. False if a window becomes too small for its
  /// step.
  bool narrow(StepWindows &windows, std::vector<char> *changed = nullptr) const;

  /// The longest path: no schedule has a smaller makespan.
  Ticks longest() const;
  /// The least makespan of the steps of one rank within `windows`, if they may
  /// be interrupted (Jackson's rule).
  Ticks machine(unsigned rank, const StepWindows &windows,
                Ticks makespan) const;
  /// The largest of `longest` and of `machine` of all ranks.
  Ticks bound() const;

  const std::vector<MemoryArc> &arcs(unsigned rank) const {
    return memoryArcs[rank];
  }

private:
  template <typename Visitor>
  void forSources(unsigned rank, unsigned letter, uint32_t j,
                  Visitor visit) const;
  bool moveStarts(StepWindows &windows, std::vector<char> *changed) const;
  bool moveEnds(StepWindows &windows, std::vector<char> *changed) const;

  const Problem &problem;
  std::vector<std::vector<MemoryArc>> memoryArcs;
};

} // namespace pipec::search
