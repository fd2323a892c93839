//===- Prover.h - Why a makespan is refuted ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proofs for a checker that uses the order of data and of micro-batches, the
// states of a rank, Jackson's rule and charges only. Where windows alone refute
// nothing, a step starts early or late, and each case is refuted on its own:
// the fourth bound of docs/Rationale/Bounds.md.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Charges.h"

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
  /// The charges that exceed the makespan after the rounds.
  std::optional<Charges> charges;
};

/// Narrows the windows of all steps along paths and by the orders of one rank
/// after the other, to a fixed point. First only orders of F and I, which are
/// few; then all orders, for ranks whose states fit the limit.
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

/// Raises the lower bound of a problem. A makespan is refuted if the windows of
/// its steps, narrowed along paths and by one rank after the other until
/// nothing changes, leave some rank without an order; all smaller makespans are
/// then refuted as well.
class Refuter {
public:
  explicit Refuter(const Problem &problem);

  /// Tries to refute `makespan`.
  Narrower::Answer tryRefute(Ticks makespan, Budget &budget);

  /// The largest lower bound found so far.
  Ticks bound() const { return lowerBound; }
  /// Raises the bound, at most to `best`, the makespan of a schedule.
  void raise(Ticks best, Budget &budget);
  /// Takes a bound that was proven otherwise.
  void take(Ticks bound);

  const Paths &paths() const { return narrower.paths(); }
  /// False when a rank has too many states to be filtered.
  bool isComplete(Budget &budget) { return narrower.isComplete(budget); }

private:
  const Problem &problem;
  Narrower narrower;
  Ticks lowerBound;
  /// The step of `raise`.
  Ticks stride = 0;
  /// Trying again cannot raise the bound.
  bool exhausted = false;
};

/// A step starts at most at a time, or later.
struct StartCase {
  LetterKind kind;
  uint32_t stage;
  uint32_t microbatch;
  bool isLater;
  Ticks time;
};

/// One part of a proof: windows are narrowed until one is too small, or two
/// cases follow, each with a part of its own.
struct ProofPart {
  Narrowing narrowing;
  /// The first case. The second is its opposite.
  std::optional<StartCase> split;
};

/// A proof that no schedule has a makespan of at most `refuted`.
struct Refutation {
  Ticks refuted = 0;
  /// A part with cases is followed by the parts of its first case, then by the
  /// parts of its second.
  std::vector<ProofPart> parts;
};

/// The proof of a bound by charges.
Refutation proofOf(const ChargeBound &found);

/// Proves `bound`, or as much of it as is possible without cases.
Refutation prove(const Problem &problem, Ticks bound, Budget &budget);

/// Proves a bound above `bound`, at most `best`, with cases. Returns nothing if
/// the budget ends first.
std::optional<Refutation> proveByCases(const Problem &problem, Ticks bound,
                                       Ticks best, Budget &budget);

} // namespace pipec::search
