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
#include "Search/StateSpace.h"

namespace pipec::search {

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
