//===- Timing.h - When the steps of words run -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every rank runs its word in order, each step as early as the one before it
// and its data allow: free arrival (Simulation/Simulate.h) in whole numbers.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_TIMING_H
#define PIPEC_SEARCH_TIMING_H

#include "Search/Problem.h"

#include <optional>

namespace pipec::search {

/// The times of words, by the numbers of steps.
class Timing {
public:
  explicit Timing(const Problem &problem);

  /// Runs `words`, which are valid; nothing when they wait for each other.
  std::optional<Ticks> run(const Words &words);
  /// After a run that ended: what remains after the end of each step to the end
  /// of all.
  void findTails();

  /// The steps of each rank in order, the end of each step and its tail.
  std::vector<std::vector<uint32_t>> steps;
  std::vector<uint32_t> places;
  std::vector<Ticks> ends;
  std::vector<Ticks> tails;
  /// The end of each rank.
  std::vector<Ticks> rankEnds;
  Ticks makespan = 0;

private:
  const Problem &problem;
  /// All steps, each after those that it waits for.
  std::vector<uint32_t> order;
};

} // namespace pipec::search

#endif // PIPEC_SEARCH_TIMING_H
