//===- PlacementSearch.h - The best of several placements -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_PLACEMENTSEARCH_H
#define PIPEC_RESULTS_PLACEMENTSEARCH_H

#include "Results/ScheduleSearch.h"

namespace pipec {

/// A placement with a number of chunks, and what became of its search.
struct PlacementTrial {
  unsigned chunks = 1;
  bool isV = false;
  enum class Outcome {
    Best,
    Slower,
    /// Its bound is not below the makespan of the best.
    Excluded,
    /// It has none that fits; `reason` says why.
    NoSchedule,
    /// The search was stopped before.
    NotSearched,
  } outcome = Outcome::NotSearched;
  std::optional<Rational> makespan, bound;
  std::string reason;
};

struct PlacementResult {
  /// That of the best placement.
  SearchProblem problem;
  FoundSchedule found;
  std::vector<PlacementTrial> trials;
};

/// Searches `loop` with 1 to `chunks` chunks and `v` with 2, 4, ... chunks, as
/// far as they fit the memory. The costs are per part of the model. Each gets
/// an equal part of the effort, first those with the least bounds; a placement
/// whose bound shows that it cannot be better than the best is given up.
llvm::FailureOr<PlacementResult> searchPlacements(ScheduleSearch &search,
                                                  const SearchRequest &request,
                                                  DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_RESULTS_PLACEMENTSEARCH_H
