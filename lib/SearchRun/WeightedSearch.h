//===- WeightedSearch.h - Lists and order of one batch ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Order/BatchOrder.h"
#include "SearchRun/PlacementSearch.h"

namespace pipec {

/// The best lists that were found for a batch, with its order.
struct WeightedResult {
  /// With the order and, unless they differ by stage, with the weights as
  /// factors of micro-batches.
  Schedule schedule;
  /// The title of a start, or `found`.
  std::string title;
  /// Its bound holds for all lists and orders.
  BatchOrder order;
};

/// Searches lists and an order of a batch. Finds the best order for every
/// start of the request with the given form of backwards, whether it fits for
/// equal micro-batches or not; then searches lists for the micro-batches in the
/// best order, and again an order for these lists, with half of the effort
/// each. Where nothing fits the limits, searches lists for larger equal
/// micro-batches, with as much effort again. Reports what `findOrder` does if
/// no result fits.
llvm::FailureOr<WeightedResult> searchWeighted(ScheduleSearch &searcher,
                                               const SearchRequest &request,
                                               const BatchWeights &batch,
                                               DiagEngine &diags);

/// True if micro-batches have different factors.
bool hasFactors(const CostSettings &costs, unsigned microbatches);

/// If micro-batches have different factors: raises the bound of a result to one
/// that holds for all orders and, unless `request` keeps the order, searches
/// lists and an order for the placement of the result with as much work again,
/// and replaces a slower one.
llvm::LogicalResult orderMicrobatches(ScheduleSearch &searcher,
                                      const SearchRequest &request,
                                      PlacementResult &result,
                                      DiagEngine &diags);

} // namespace pipec
