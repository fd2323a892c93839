//===- Narrower.h - Windows that no order violates --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrows the windows of all steps along paths and by the orders of one rank
// after the other, to a fixed point. First only orders of F and I, which are
// few; then all orders, for ranks whose states fit the limit.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/RankFilter.h"

#include <map>
#include <memory>
#include <optional>

namespace pipec::search {

/// What narrows windows, for a proof.
struct Narrowing {
  struct Round {
    uint32_t rank;
    /// Uses the orders of all its steps, or only of F and I.
    bool withW;
  };
  std::vector<Round> rounds;
  /// The rank whose own steps exceed the makespan after the rounds.
  std::optional<uint32_t> machine;
};

class Narrower {
public:
  /// `memory` as in `Paths`.
  Narrower(const Problem &problem, bool memory)
      : problem(problem), allPaths(problem, memory), filter(problem),
        spaces(2 * problem.ranks) {}

  enum class Answer {
    Refuted,
    /// Nothing changes any more.
    Open,
    /// The budget or the rounds are spent.
    Unknown,
  };
  struct Limits {
    /// Of the rounds in a narrowing.
    size_t rounds = ~size_t(0);
    /// The largest number of states for orders with W.
    uint64_t statesWithW = StateSpace::maxStates;
  };

  /// Narrows the windows of a makespan by the `changed` ranks, and by all ranks
  /// that change in turn. Adds the rounds to `done`.
  Answer run(StepWindows &windows, Ticks makespan, std::vector<char> changed,
             const Limits &limits, Narrowing &done, Budget &budget);

  const Paths &paths() const { return allPaths; }
  /// False if a rank has too many states for any filter.
  bool isComplete(Budget &budget);

private:
  const StateSpace *listed(unsigned rank, bool withW, Budget &budget);

  const Problem &problem;
  Paths allPaths;
  RankFilter filter;
  /// By rank, without and with W; shared by ranks with equal figures, and made
  /// when they are needed.
  std::vector<std::shared_ptr<const StateSpace>> spaces;
  std::map<std::vector<Ticks>, std::shared_ptr<const StateSpace>> known;
};

} // namespace pipec::search
