//===- Refuter.h - Makespans that no schedule has ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Raises the lower bound: a makespan is refuted when the windows of its steps,
// narrowed along paths and by one rank after the other until nothing changes,
// leave some rank without an order. If a makespan is refuted, all smaller ones
// are.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_REFUTER_H
#define PIPEC_SEARCH_REFUTER_H

#include "Search/RankFilter.h"

#include <memory>

namespace pipec::search {

class Refuter {
public:
  explicit Refuter(const Problem &problem);

  enum class Answer {
    Refuted,
    /// Nothing changes any more.
    Open,
    /// The budget is spent.
    Unknown,
  };
  /// Tries to refute `makespan`; `filtered`, when given, gets the ranks in the
  /// order in which they were filtered.
  Answer tryRefute(Ticks makespan, Budget &budget,
                   std::vector<uint32_t> *filtered = nullptr);

  /// The largest lower bound found so far.
  Ticks bound() const { return lowerBound; }
  /// Raises the bound, at most to `best`, the makespan of a schedule.
  void raise(Ticks best, Budget &budget);
  /// True when trying again cannot raise the bound.
  bool isExhausted() const { return exhausted; }

  const Paths &paths() const { return allPaths; }
  /// False when a rank has too many states to be filtered.
  bool isComplete() const;

private:
  const Problem &problem;
  Paths allPaths;
  RankFilter filter;
  /// One per rank, shared by ranks with equal figures.
  std::vector<std::shared_ptr<StateSpace>> spaces;
  Ticks lowerBound;
  /// The step of `raise`.
  Ticks stride = 0;
  bool exhausted = false;
};

} // namespace pipec::search

#endif // PIPEC_SEARCH_REFUTER_H
