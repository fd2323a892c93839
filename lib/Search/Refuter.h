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

#include "Search/Narrower.h"

namespace pipec::search {

class Refuter {
public:
  explicit Refuter(const Problem &problem);

  /// Tries to refute `makespan`.
  Narrower::Answer tryRefute(Ticks makespan, Budget &budget);

  /// The largest lower bound found so far.
  Ticks bound() const { return lowerBound; }
  /// Raises the bound, at most to `best`, the makespan of a schedule.
  void raise(Ticks best, Budget &budget);
  /// True when trying again cannot raise the bound.
  bool isExhausted() const { return exhausted; }

  const Paths &paths() const { return narrower.paths(); }
  /// False when a rank has too many states to be filtered.
  bool isComplete(Budget &budget) { return narrower.isComplete(budget); }

private:
  const Problem &problem;
  Narrower narrower;
  Ticks lowerBound;
  /// The step of `raise`.
  Ticks stride = 0;
  bool exhausted = false;
};

} // namespace pipec::search

#endif // PIPEC_SEARCH_REFUTER_H
