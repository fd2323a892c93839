//===- Relaxation.h - Bounds of more schedules than words -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bounds of a problem hold for its words: for schedules that run one step
// at a time, with one form of the backward. Bounds of a problem with shorter
// times hold for schedules with overlaps, and for schedules with both forms of
// the backward (docs/Rationale/Bounds.md, "Overlaps" and "Forms of the
// backward").
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Model.h"
#include "Search/Search.h"

namespace pipec::search {

/// True if some overlap of F, I and W (F and B without a split; all of these if
/// `mixed`) is shorter than the sum of its members.
bool overlapsGain(const Model &model, bool mixed = false);

/// True if every schedule with whole backwards, or with both forms, is at least
/// as long as some schedule with split backwards: I and W are at most as long
/// as their B and need no more memory, and overlaps gain nothing. `model` has
/// split backwards.
bool splitCoversAll(const Model &model, DiagEngine &diags);

/// A model with the times at which every schedule becomes one of words: in an
/// overlap, the members run one after the other. With `mixed`, `model` has
/// split backwards, and a B becomes an I and a W. A time is a number of ticks
/// of the result.
Model relaxed(const Model &model, bool mixed);

/// A lower bound and its source.
struct LowerBound {
  Rational bound;
  BoundSource source = BoundSource::Paths;
};

/// Bounds the schedules with overlaps (and, if `mixed`, with both forms of the
/// backward) of a model. Spends `budget` on raising the bound, at most to
/// `makespan`.
LowerBound relaxedBound(const Model &model, bool mixed, Rational makespan,
                        Budget budget);

/// The initial bound of a search of `model`, which also holds for schedules
/// with overlaps.
LowerBound leastBound(const Model &model);

} // namespace pipec::search
