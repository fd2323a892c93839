//===- LayoutSearch.h - The best of all layouts -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "SearchRun/PlacementSearch.h"

namespace pipec {

/// The results for all layouts of a model.
struct LayoutSummary {
  /// The best one, as text.
  std::string best;
  /// No layout has a schedule with a smaller makespan. Unlike the bound of what
  /// was found, this is not for its layout alone.
  Rational bound;
  /// How many layouts were searched, and how many got a bound of their own; the
  /// others are covered by bounds of beginnings.
  unsigned searched = 0, bounded = 0;
  /// The even layout, and its makespan if it has a schedule.
  std::string even;
  std::optional<Rational> evenMakespan;

  /// Adds the layouts with another form of the backward.
  void merge(const LayoutSummary &other, std::optional<Rational> otherBound);
};

struct LayoutResult {
  /// Those of the best layout. There are no trials.
  PlacementResult result;
  LayoutSummary summary;
};

/// Searches for the layers of each stage, and for the order of the steps. The
/// layout of `request` is an even one; every stage gets at least one of its
/// layers, in their order. If Megatron-LM builds models with these layers, only
/// layouts that it accepts are searched. The even layout is searched first,
/// then the others in the order of their bounds, each with a part of the
/// effort, until no layout can be better. The best layout gets the rest of the
/// effort. With `anyForm`, both forms of the backward are searched in the order
/// of their bounds. Reports costs that cannot be searched, too few layers, and
/// when no layout has a schedule.
llvm::FailureOr<LayoutResult> searchLayouts(ScheduleSearch &search,
                                            const SearchRequest &request,
                                            DiagEngine &diags);

} // namespace pipec
