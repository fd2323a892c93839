//===- Relaxation.h - Bounds of more schedules than words -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bounds of a problem are those of its words: of schedules that run one
// step at a time, with one form of the backward. Bounds of a problem with
// shorter times hold for schedules with overlaps, and for schedules with both
// forms of the backward (docs/Rationale/Bounds.md, "Overlaps" and "Forms of the
// backward").
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_RELAXATION_H
#define PIPEC_SEARCH_RELAXATION_H

#include "Search/Model.h"
#include "Search/Search.h"

namespace pipec::search {

/// True if some overlap of F, I and W (F and B without a split; all of these if
/// `mixed`) takes less time than its members one after the other.
bool overlapsGain(const Model &model, bool mixed = false);

/// True if every schedule with whole backwards, and every one with both forms,
/// is at least as long as one with split backwards: no I and W take longer or
/// need more memory than their B, and overlaps gain nothing. `model` has split
/// backwards.
bool splitCoversAll(const Model &model, DiagEngine &diags);

/// A model with the times at which every schedule becomes one of words: in an
/// overlap, the members run one after the other. With `mixed`, `model` has
/// split backwards, and a B becomes an I and a W. A time is a number of ticks
/// of the result.
Model relaxed(const Model &model, bool mixed);

/// A lower bound, and what it follows from.
struct LowerBound {
  Rational bound;
  BoundSource source = BoundSource::Paths;
};

/// Bounds the schedules with overlaps (and, if `mixed`, with both forms of the
/// backward) of a model. Spends `budget` on raising the bound, at most to
/// `makespan`.
LowerBound relaxedBound(const Model &model, bool mixed, Rational makespan,
                        Budget budget);

/// The bound that a search of `model` begins with: of schedules with overlaps,
/// too.
LowerBound leastBound(const Model &model);

} // namespace pipec::search

#endif // PIPEC_SEARCH_RELAXATION_H
