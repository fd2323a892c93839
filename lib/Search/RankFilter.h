//===- RankFilter.h - The windows that one rank can keep --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The third bound of docs/Rationale/Bounds.md: all orders in which one rank can
// run its steps within their windows, at once. A step that no order can start
// as early, or end as late, as its window allows gets a smaller window; a rank
// without any order refutes the makespan.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_RANKFILTER_H
#define PIPEC_SEARCH_RANKFILTER_H

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
  bool findEarliest(unsigned rank, const StateSpace &space,
                    const StepWindows &windows);

  const Problem &problem;
  /// By state: when the rank is done with it at the earliest; when it must
  /// start the next step at the latest, of one base and of the next.
  std::vector<Ticks> earliest;
  std::vector<Ticks> latest, latestOfNext;
  std::vector<Ticks> newStarts, newEnds;
};

} // namespace pipec::search

#endif // PIPEC_SEARCH_RANKFILTER_H
