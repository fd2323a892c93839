//===- TransferOrder.h - An order of the queues of a shop -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of all queues with the times that follow from it, and the exchange
// of two neighbours. The nodes are kept in a sequence in which each is after
// those it waits for. An exchange of x and y only reorders the part of the
// sequence from x to y, and times are computed again from there, only for nodes
// that wait for a node whose time has changed.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/TransferShop.h"

#include <array>
#include <limits>

namespace pipec::search {

/// The nodes of a shop, each after those it waits for. The transfers of each
/// queue are in the order of the queue.
using ShopSequence = std::vector<uint32_t>;

class TransferOrder {
public:
  static constexpr uint32_t none = ShopTransfer::none;

  TransferOrder(const TransferShop &shop, ShopSequence nodes);

  const TransferShop &shop() const { return *source; }
  const ShopSequence &sequence() const { return nodes; }
  int64_t makespan() const { return latest; }
  int64_t start(uint32_t node) const { return starts[node]; }
  int64_t end(uint32_t node) const { return starts[node] + shop().time(node); }
  /// The position of a node in the sequence.
  uint32_t position(uint32_t node) const { return positions[node]; }
  /// The transfer before (after) a transfer in one of its queues; `none` if it
  /// is the first (last).
  uint32_t before(uint32_t node, unsigned side) const {
    return befores[side][transferOf(node)];
  }

  /// Exchanges `first` and `second`, which follows it directly in a queue, in
  /// all queues they share. Returns false, and changes nothing, if they are not
  /// neighbours in one of these, if the order could not run, or if the makespan
  /// would exceed `limit`.
  bool exchange(uint32_t first, uint32_t second,
                int64_t limit = std::numeric_limits<int64_t>::max());
  /// Takes the last successful exchange back.
  void undo();
  /// The number of nodes whose times were computed so far.
  uint64_t work() const { return visited; }

private:
  uint32_t transferOf(uint32_t node) const {
    return node - shop().numComputes();
  }
  unsigned sideIn(uint32_t node, uint32_t queue) const {
    return shop().transfer(node).queues[0] == queue ? 0 : 1;
  }
  int64_t earliest(uint32_t node) const;
  template <typename Visit>
  void forSuccessors(uint32_t node, Visit visit) const;
  bool areNeighbours(uint32_t first, uint32_t second) const;
  bool reorder(uint32_t first, uint32_t second);
  void link(uint32_t first, uint32_t second);
  bool recompute(uint32_t from, int64_t limit);
  void restore();
  void findLatest();

  const TransferShop *source;
  ShopSequence nodes;
  std::vector<uint32_t> positions;
  std::vector<int64_t> starts;
  std::array<std::vector<uint32_t>, 2> befores, afters;
  int64_t latest = 0;
  uint64_t visited = 0;

  // The last exchange.
  uint32_t lastFirst = none, lastSecond = none;
  uint32_t segmentBegin = 0;
  std::vector<uint32_t> segment, moved;
  std::vector<std::pair<uint32_t, int64_t>> changed;
  int64_t latestBefore = 0;
  /// Nodes that are marked have `stamp`.
  std::vector<uint32_t> marks;
  uint32_t stamp = 0;
};

} // namespace pipec::search
