//===- PlacementSearch.h - The best of several placements -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "SearchRun/ScheduleSearch.h"

namespace pipec {

/// A placement with a number of chunks and a form of the backward, and the
/// outcome of its search.
struct PlacementTrial {
  unsigned chunks = 1;
  bool isV = false;
  /// `Mixed` for starts alone.
  BackwardForm form = BackwardForm::Split;
  enum class Outcome {
    Best,
    Slower,
    /// Its bound is not below the makespan of the best.
    Excluded,
    /// Its schedules are no better than those with split backwards, whose bound
    /// covers them.
    Covered,
    /// It has none that fits; `reason` says why.
    NoSchedule,
    /// The search was stopped before.
    NotSearched,
  } outcome = Outcome::NotSearched;
  std::optional<Rational> makespan, bound;
  search::BoundSource source = search::BoundSource::Paths;
  std::string reason;
};
inline llvm::StringRef nameOf(PlacementTrial::Outcome outcome) {
  static constexpr llvm::StringLiteral names[] = {
      "best", "slower", "excluded", "covered", "no schedule", "not searched"};
  return names[unsigned(outcome)];
}

/// The schedules that a bound holds for: all backwards split, all whole, either
/// of these, or any.
enum class Coverage { Split, Whole, Either, All };
/// `with split backwards`; empty for all schedules.
inline llvm::StringRef coverText(Coverage coverage) {
  static constexpr llvm::StringLiteral texts[] = {
      "with split backwards", "with whole backwards",
      "with backwards all split or all whole", ""};
  return texts[unsigned(coverage)];
}

struct PlacementResult {
  /// That of the best placement and form.
  SearchProblem problem;
  FoundSchedule found;
  /// Empty if one form of one placement was searched.
  std::vector<PlacementTrial> trials;
  /// The bound of the other form of the placement, where it was searched, too.
  std::optional<search::LowerBound> other = std::nullopt;
  Coverage coverage = Coverage::Split;

  /// No schedule of the placement that `coverage` names has a smaller makespan.
  search::LowerBound bound() const {
    if (other && other->bound < found.bound)
      return *other;
    return {found.bound, found.source};
  }
  /// Makes the bound one of another form, too. There are no trials before.
  void addForm(const PlacementResult &form);
};

/// Searches one placement, with one form of the backward or, if the request
/// has `anyForm`, with both. Each gets an equal part of the effort, first the
/// one with the smaller bound; a form whose bound shows that it cannot be
/// better is not searched.
llvm::FailureOr<PlacementResult> searchForms(ScheduleSearch &search,
                                             const SearchRequest &request,
                                             DiagEngine &diags);

/// Searches `loop` with 1 to `chunks` chunks and `v` with 2, 4, ... chunks, as
/// far as they fit the memory, each like `searchForms`. The costs are per part
/// of the model.
llvm::FailureOr<PlacementResult> searchPlacements(ScheduleSearch &search,
                                                  const SearchRequest &request,
                                                  DiagEngine &diags);

} // namespace pipec
