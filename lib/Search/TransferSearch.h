//===- TransferSearch.h - The best order of transfers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches for the order of all queues of a shop (TransferShop.h) with the
// shortest makespan, in three steps:
//
//   dispatch      runs the computes, and starts the most urgent of the
//                 transfers whose data exist and whose queues are idle
//   to and fro    dispatches in the shop in which time runs backwards, with the
//                 times of the last run as urgency, then forwards again, and so
//                 on (forward-backward improvement: Li and Willis, 1992)
//   anneal        exchanges two transfers that follow each other on a critical
//                 path (van Laarhoven, Aarts and Lenstra, 1992)
//
// The effort is counted in exchanges and computed nodes, not by the clock, and
// all random numbers follow from the seed.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/TransferOrder.h"

namespace pipec::search {

struct TransferSearchOptions {
  /// 20 000 exchanges each; 0 ends before annealing.
  unsigned effort = 1;
  uint64_t seed = 1;
  /// A lower bound of the makespan, at which the search ends.
  int64_t bound = 0;
};

/// The best order found, `starts` included, and never a longer one than any of
/// these.
ShopSequence searchTransfers(const TransferShop &shop,
                             std::vector<ShopSequence> starts,
                             const TransferSearchOptions &options);

/// An order of `shop` in which each queue has the order of `queues`: the nodes
/// of transfers, by queue. Empty if it could not run.
std::optional<ShopSequence>
sequenceOf(const TransferShop &shop,
           llvm::ArrayRef<std::vector<uint32_t>> queues);

/// A lower bound of the makespan of every order: that without queues, of heads
/// and tails with queues, and of the load of each queue, each by Jackson's
/// preemptive schedule (docs/Rationale/SearchedTransfers.md).
int64_t boundTransfers(const TransferShop &shop);

} // namespace pipec::search
