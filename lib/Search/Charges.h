//===- Charges.h - The rate of a run under its memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fifth bound of docs/Rationale/Bounds.md. Charges are weights of times
// that every run has: between the starts of two steps of one micro-batch,
// before a start, and after one. At every moment the weights of the open times
// add up to at most 1, so that the run is at least as long as all charges, and
// as the least time of its steps that no charge covers. The best weights are
// the dual solution of a linear program; any weights give a bound.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/RankFilter.h"

#include <optional>

namespace pipec::search {

/// Weights of times of one rank, in parts of `unit`.
struct Charges {
  static constexpr Ticks unit = Ticks(1) << 20;

  struct Charge {
    enum Kind : uint8_t {
      /// From the start of `letter` to that of `to`, a later letter of the same
      /// micro-batch, for every micro-batch.
      Between,
      /// From the start of the run to the start of one step of `letter`, and
      /// from that to the end of the run.
      Before,
      After,
    } kind;
    uint8_t letter;
    uint8_t to;
    uint32_t microbatch;
    Ticks weight = 0;
  };

  uint32_t rank = 0;
  /// The states have the counts of all letters, or of F and I only.
  bool withW = false;
  std::vector<Charge> charges;
  /// Without W: the weight of the time in which W run.
  Ticks weightOfW = 0;
};

/// A bound that follows from charges.
struct ChargeBound {
  Ticks bound = 0;
  Charges charges;
};

/// Looks for charges that prove more than `bound`, at most `best`: for the
/// ranks that promise most, within the budget.
std::optional<ChargeBound> boundByCharges(const Problem &problem, Ticks bound,
                                          Ticks best, Budget &budget);

} // namespace pipec::search
