//===- Timing.h - When the steps of words run -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank runs its word in order, each step as early as the previous step
// and its data allow: free arrival (Simulation/Simulate.h) in integers.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Problem.h"

#include <optional>

namespace pipec::search {

/// The times of words, by the numbers of steps.
class Timing {
public:
  explicit Timing(const Problem &problem);

  /// Runs `words`, which are valid, and returns the makespan; empty if they
  /// deadlock.
  std::optional<Ticks> run(const Words &words);
  /// After a successful run: finds the longest path from the end of each step
  /// to the end of the run.
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
