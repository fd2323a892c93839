//===- Decoder.h - Words from target times, and their times -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the ranks step by step. The rank that can start first runs next, and it
// prefers the step with the least target time. A rank starts a step only if the
// run can still be finished (Problem::isSafe), so that no order of targets can
// end in a deadlock.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Budget.h"
#include "Search/Problem.h"

#include <optional>

namespace pipec::search {

/// The times of words, by the numbers of steps. Every rank runs its word in
/// order, each step as early as the previous step and its data allow: free
/// arrival (Simulation/Simulate.h) in integers.
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

/// When steps are wanted, and how strictly.
struct Targets {
  /// By the number of the step.
  std::vector<Ticks> times;
  /// How long a rank waits for a step with a smaller target.
  Ticks patience = 0;
  /// The most micro-batches in flight on each rank, at least 1.
  std::vector<uint32_t> inFlight;
  /// Which steps do not start before their target: the F that nothing precedes,
  /// or all F.
  enum class Hold : uint8_t { None, FirstSteps, Forwards } hold = Hold::None;
};

class Decoder {
public:
  explicit Decoder(const Problem &problem);

  /// Decodes `targets` into words, which are valid and can run.
  const Words &run(const Targets &targets);

  /// The work of a run and of timing its words. Words that exceed the caches
  /// cost five times as much.
  static uint64_t workFor(const Problem &problem) {
    uint64_t steps = problem.numSteps();
    return steps * (steps > 1u << 18 ? 60 : 12);
  }

private:
  /// A rank while it runs.
  struct Rank {
    Ticks now = 0;
    /// The least start of the steps that it can run next.
    Ticks next = 0;
    Ticks held = 0;
  };
  struct Choice {
    unsigned letter;
    Ticks start;
    Ticks target;
  };

  void findChoices(unsigned rank, const Targets &targets);
  void take(unsigned rank, const Targets &targets);
  void findNext(unsigned rank, const Targets &targets);
  /// Sets when a rank can start its next step.
  void setNext(unsigned rank, Ticks next);
  uint32_t &count(unsigned rank, unsigned letter) {
    return counts[rank * problem.numLetters() + letter];
  }

  const Problem &problem;
  std::vector<Rank> states;
  /// The ranks by `next` as a tournament: entry i is the winner of entries 2 i
  /// and 2 i + 1, and entry `leaves` + r is rank r.
  std::vector<uint32_t> firsts;
  uint32_t leaves;
  std::vector<uint32_t> counts;
  /// By step: the latest known arrival of its inputs from other ranks, and the
  /// number of inputs that are not known yet.
  std::vector<Ticks> arrivals;
  std::vector<uint32_t> missing;
  std::vector<Choice> choices;
  Words words;
};

/// Words and their makespan.
struct Found {
  Words words;
  Ticks makespan = 0;
};

/// Decodes with the latest starts of the steps of `found` as targets, again and
/// again while the makespan falls.
void justify(const Problem &problem, Found &found, Decoder &decoder,
             Timing &timing, Budget &budget);

} // namespace pipec::search
