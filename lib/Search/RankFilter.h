//===- RankFilter.h - The windows that one rank can keep --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The third bound of docs/Rationale/Bounds.md: all orders in which one rank can
// run its steps within their windows, at once. A step that no order can start
// as early, or end as late, as its window allows gets a smaller window; a rank
// without any order refutes the makespan.
//
// States without W stand for all orders of F and I. W then fills gaps: it may
// be interrupted, and starts after its I.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Budget.h"
#include "Search/Paths.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>

namespace pipec::search {

/// A state of a rank is how often each letter has run. The states that the
/// order of a micro-batch, the cap and lemma 2 allow are few when memory is
/// tight, and they repeat: a state is the count of one letter, the base, and
/// how far the others are from it, the lags. The lags that can occur are listed
/// once. States without W have the counts of F and I only and are far fewer;
/// each I then also frees the memory that its W frees.
class StateSpace {
public:
  /// The largest number of states of a rank that are listed.
  static constexpr uint64_t maxStates = 2'500'000;

  /// With all letters of the rank, or with F and I alone. At most `maxTuples`
  /// are listed.
  StateSpace(const Problem &problem, unsigned rank, bool withW,
             uint64_t maxTuples);
  StateSpace(const Problem &problem, unsigned rank, bool withW)
      : StateSpace(problem, rank, withW,
                   maxStates / (problem.microbatches + 1)) {}

  /// The figures that determine the states of a rank.
  static std::vector<Ticks> key(const Problem &problem, unsigned rank,
                                bool withW);

  /// False when there are too many states.
  bool isListed() const { return listed; }
  bool hasW() const { return withW; }
  uint32_t numTuples() const { return numListed; }
  uint64_t numStates() const {
    return uint64_t(numListed) * (microbatches + 1);
  }
  /// The tuple of the first and the last state: all offsets are 0.
  uint32_t start() const { return startTuple; }
  /// The offsets of the letters of a tuple: how often they have run beyond the
  /// base.
  llvm::ArrayRef<int16_t> offsets(uint32_t tuple) const {
    return llvm::ArrayRef(allOffsets)
        .slice(size_t(tuple) * numLetters, numLetters);
  }

  /// A step that the rank can run in a state.
  struct Transition {
    /// The tuple of the next state: of this base, or, with `numTuples` added,
    /// of the next one. The order of tuples is such that it is later.
    uint32_t next;
    /// The letter times `stride`, plus how often it has run without the base.
    int32_t place;
  };
  /// More than the count of any letter can reach above the base.
  uint32_t stride() const { return 2 * microbatches + 1; }
  llvm::ArrayRef<Transition> transitions(uint32_t tuple) const {
    return llvm::ArrayRef(all).slice(begins[tuple],
                                     begins[tuple + 1] - begins[tuple]);
  }

private:
  unsigned microbatches;
  bool withW;
  unsigned numLetters;
  bool listed = true;
  uint32_t numListed = 0;
  uint32_t startTuple = 0;
  std::vector<int16_t> allOffsets;
  std::vector<uint32_t> begins;
  std::vector<Transition> all;
};

enum class Filtered {
  /// No order is left: there is no schedule of that makespan.
  Refuted,
  /// Some window has become smaller.
  Narrowed,
  Unchanged,
};

/// Filters ranks one after the other; its tables are used again.
class RankFilter {
public:
  explicit RankFilter(const Problem &problem) : problem(problem) {}

  /// Narrows the windows of the steps of `rank`, whose states are listed.
  Filtered run(unsigned rank, const StateSpace &space, Ticks makespan,
               StepWindows &windows, Budget &budget);

private:
  /// The window of one step, and what becomes of it.
  struct Window {
    Ticks start;
    Ticks lastStart;
    Ticks time;
    Ticks newStart;
    Ticks newEnd;
  };

  void copyWindows(unsigned rank, const StateSpace &space,
                   const StepWindows &windows);
  template <bool withW>
  bool findEarliest(unsigned rank, const StateSpace &space, Ticks makespan);
  template <bool withW>
  bool findLatest(unsigned rank, const StateSpace &space, Ticks makespan);
  void findWork(unsigned rank, const StateSpace &space);
  Ticks leastWork(uint32_t base, uint32_t tuple, Ticks taken,
                  const StateSpace &space) const;
  Ticks leastBefore(unsigned rank, uint32_t base, uint32_t tuple,
                    StateSpace::Transition to, const StateSpace &space) const;

  const Problem &problem;
  /// By letter, with entries for counts above the number of micro-batches,
  /// which no step has.
  std::vector<Window> steps;
  /// By state: when the rank is done with it at the earliest.
  std::vector<Ticks> earliest;
  /// When the rank must start the next step at the latest, of one base and of
  /// the next.
  std::vector<Ticks> latest;
  /// Without W: the same times less the W that has run before.
  std::vector<Ticks> earliestLess;
  std::vector<Ticks> latestLess;
  /// The time of the W of one micro-batch, and by tuple the time of the W of
  /// its I beyond the base.
  Ticks workOfEach = 0;
  std::vector<Ticks> workOfTuple;
  /// The memory that a rank would hold without any W: per base and by tuple.
  Ticks heldOfEach = 0;
  std::vector<Ticks> heldOfTuple;
  /// The W of the chunks; those that free most for their time come first.
  struct Giver {
    unsigned letter;
    Ticks time;
    Ticks gives;
  };
  std::vector<Giver> givers;
  /// The greatest common divisor of all sizes that W free.
  Ticks givesUnit = 1;
};

} // namespace pipec::search
