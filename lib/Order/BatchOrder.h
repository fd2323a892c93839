//===- BatchOrder.h - The best order of a batch -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// include/pipec/order.h has the algorithm, and docs/Order.md describes it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/BatchWeights.h"
#include "Cost/CostGrid.h"
#include "IR/Schedule.h"

#include <cstdint>
#include <vector>

namespace pipec {

/// An order of the micro-batches of a batch, under free arrival.
struct BatchOrder {
  /// By micro-batch of the schedule, its number in the batch.
  std::vector<uint32_t> order;
  /// The makespans of this order and of the batch as it was given.
  Rational makespan, given;
  /// No order within the limit is shorter.
  Rational bound;
  /// The largest peak of all ranks, if there are sizes or limits.
  std::optional<Rational> peak;
  /// How weights and sizes were rounded.
  CostRounding rounding;
  /// If it was asked for: a proof as text that no order is shorter than
  /// `certified`, which may be below `bound` where all orders were tried.
  std::string certificate;
  std::optional<Rational> certified;

  bool isOptimal() const { return makespan == bound; }
};

/// Finds the best order of a batch for a schedule of level compute, with the
/// work of `effort`, and with `certify` a certificate. Reports weights that do
/// not fit the schedule, costs that a certificate does not have, and that no
/// order within the limit was found.
llvm::FailureOr<BatchOrder> findOrder(const Schedule &schedule,
                                      const BatchWeights &batch,
                                      uint64_t effort, uint64_t seed,
                                      DiagEngine &diags, bool certify = false);

} // namespace pipec
