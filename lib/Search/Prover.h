//===- Prover.h - Why a makespan is refuted ---------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_PROVER_H
#define PIPEC_SEARCH_PROVER_H

#include "Search/Budget.h"
#include "Search/Problem.h"

#include <optional>

namespace pipec::search {

/// A proof that no schedule has a makespan of at most `refuted`, for a checker
/// that knows the order of data and of micro-batches, the states of a rank and
/// Jackson's rule only.
struct Refutation {
  Ticks refuted = 0;
  /// The ranks whose windows are narrowed, in that order.
  std::vector<uint32_t> rounds;
  /// The rank that alone takes longer.
  std::optional<uint32_t> machine;
};

/// Proves `bound`, or as much of it as is possible this way.
Refutation prove(const Problem &problem, Ticks bound, Budget &budget);

} // namespace pipec::search

#endif // PIPEC_SEARCH_PROVER_H
