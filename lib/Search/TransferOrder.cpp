//===- TransferOrder.cpp - An order of the queues of a shop ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/TransferOrder.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::search {

TransferOrder::TransferOrder(const TransferShop &shop, ShopSequence sequence)
    : source(&shop), nodes(std::move(sequence)), positions(shop.numNodes()),
      starts(shop.numNodes()), marks(shop.numNodes()) {
  assert(nodes.size() == shop.numNodes());
  for (unsigned side : {0, 1}) {
    befores[side].assign(shop.numTransfers(), none);
    afters[side].assign(shop.numTransfers(), none);
  }
  std::vector<uint32_t> lasts(shop.numQueues(), none);
  for (const auto &[position, node] : enumerate(nodes)) {
    positions[node] = uint32_t(position);
    if (shop.isTransfer(node))
      for (unsigned side : {0, 1}) {
        uint32_t queue = shop.transfer(node).queues[side];
        if (queue == none)
          continue;
        uint32_t last = std::exchange(lasts[queue], node);
        befores[side][transferOf(node)] = last;
        if (last != none)
          afters[sideIn(last, queue)][transferOf(last)] = node;
      }
    starts[node] = earliest(node);
  }
  visited += nodes.size();
  findLatest();
}

/// The start of a node after all those it waits for.
int64_t TransferOrder::earliest(uint32_t node) const {
  if (!shop().isTransfer(node)) {
    int64_t start = shop().isFirst(node) ? 0 : end(node - 1);
    for (uint32_t receive : shop().receives(node))
      start = std::max(start, end(receive));
    return start;
  }
  int64_t start = end(shop().transfer(node).producer);
  for (unsigned side : {0, 1})
    if (uint32_t last = before(node, side); last != none)
      start = std::max(start, end(last));
  return start;
}

template <typename Visit>
void TransferOrder::forSuccessors(uint32_t node, Visit visit) const {
  if (shop().isTransfer(node)) {
    visit(shop().transfer(node).consumer);
    for (unsigned side : {0, 1})
      if (uint32_t next = afters[side][transferOf(node)]; next != none)
        visit(next);
    return;
  }
  if (!shop().isLast(node))
    visit(node + 1);
  for (uint32_t send : shop().sends(node))
    visit(send);
}

void TransferOrder::findLatest() {
  latest = 0;
  for (unsigned rank = 0; rank != shop().numRanks(); ++rank)
    if (shop().firstOf(rank) != shop().endOf(rank))
      latest = std::max(latest, end(shop().endOf(rank) - 1));
}

bool TransferOrder::areNeighbours(uint32_t first, uint32_t second) const {
  for (unsigned side : {0, 1})
    for (unsigned other : {0, 1}) {
      uint32_t queue = shop().transfer(first).queues[side];
      if (queue != none && queue == shop().transfer(second).queues[other] &&
          afters[side][transferOf(first)] != second)
        return false;
    }
  return true;
}

/// Makes `second` precede `first` in all queues they share, where `first`
/// directly precedes it.
void TransferOrder::link(uint32_t first, uint32_t second) {
  for (unsigned side : {0, 1}) {
    uint32_t queue = shop().transfer(first).queues[side];
    if (queue == none)
      continue;
    unsigned other = sideIn(second, queue);
    if (shop().transfer(second).queues[other] != queue)
      continue;
    uint32_t &beforeFirst = befores[side][transferOf(first)];
    uint32_t &afterSecond = afters[other][transferOf(second)];
    if (beforeFirst != none)
      afters[sideIn(beforeFirst, queue)][transferOf(beforeFirst)] = second;
    if (afterSecond != none)
      befores[sideIn(afterSecond, queue)][transferOf(afterSecond)] = first;
    befores[other][transferOf(second)] = beforeFirst;
    afters[side][transferOf(first)] = afterSecond;
    beforeFirst = second;
    afterSecond = first;
  }
}

/// Moves `first`, and what waits for it, after `second` in the sequence.
/// Returns false if `second` waits for `first` on another way.
bool TransferOrder::reorder(uint32_t first, uint32_t second) {
  uint32_t begin = positions[first], end = positions[second];
  ++stamp;
  marks[first] = stamp;
  moved.assign(1, first);
  segment.clear();
  auto isMarked = [&](uint32_t node) { return marks[node] == stamp; };
  auto waitsForMarked = [&](uint32_t node) {
    if (!shop().isTransfer(node))
      return (!shop().isFirst(node) && isMarked(node - 1)) ||
             any_of(shop().receives(node), isMarked);
    if (isMarked(shop().transfer(node).producer))
      return true;
    for (unsigned side : {0, 1})
      if (uint32_t last = before(node, side);
          last != none && isMarked(last) && !(node == second && last == first))
        return true;
    return false;
  };
  for (uint32_t at = begin + 1; at <= end; ++at) {
    uint32_t node = nodes[at];
    if (!waitsForMarked(node)) {
      segment.push_back(node);
      continue;
    }
    if (node == second)
      return false;
    marks[node] = stamp;
    moved.push_back(node);
  }
  append_range(segment, moved);
  segmentBegin = begin;
  // `segment` receives the old part, for `undo`.
  for (const auto &[offset, node] : enumerate(segment)) {
    std::swap(node, nodes[begin + offset]);
    positions[nodes[begin + offset]] = uint32_t(begin + offset);
  }
  return true;
}

/// Computes the times from position `from` on. The marked nodes may change.
/// Returns false if the makespan exceeds `limit`.
bool TransferOrder::recompute(uint32_t from, int64_t limit) {
  changed.clear();
  uint32_t last = from;
  for (uint32_t queued : {lastFirst, lastSecond})
    last = std::max(last, positions[queued]);
  ++stamp;
  auto mark = [&](uint32_t node) {
    marks[node] = stamp;
    last = std::max(last, positions[node]);
  };
  mark(lastFirst);
  mark(lastSecond);
  for (unsigned side : {0, 1})
    if (uint32_t next = afters[side][transferOf(lastFirst)]; next != none)
      mark(next);
  for (uint32_t at = from; at <= last; ++at) {
    uint32_t node = nodes[at];
    if (marks[node] != stamp)
      continue;
    ++visited;
    int64_t start = earliest(node);
    if (start == starts[node])
      continue;
    changed.push_back({node, std::exchange(starts[node], start)});
    if (start + shop().time(node) > limit)
      return false;
    forSuccessors(node, mark);
  }
  findLatest();
  return latest <= limit;
}

bool TransferOrder::exchange(uint32_t first, uint32_t second, int64_t limit) {
  if (!areNeighbours(first, second) || !reorder(first, second))
    return false;
  link(first, second);
  lastFirst = first;
  lastSecond = second;
  latestBefore = latest;
  if (recompute(segmentBegin, limit))
    return true;
  undo();
  return false;
}

void TransferOrder::undo() {
  for (auto [node, start] : changed)
    starts[node] = start;
  for (const auto &[offset, node] : enumerate(segment)) {
    nodes[segmentBegin + offset] = node;
    positions[node] = uint32_t(segmentBegin + offset);
  }
  link(lastSecond, lastFirst);
  latest = latestBefore;
}

} // namespace pipec::search
