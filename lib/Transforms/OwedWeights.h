//===- OwedWeights.h - Pending weight gradients -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Step.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <vector>

namespace pipec {

/// The pending weight gradients of a rank, in order of age. Finds the oldest
/// one with at most a given cost. There is one queue per cost, and a segment
/// tree over the queues with the oldest front of every range of costs, so an
/// operation takes time logarithmic in the number of distinct costs.
class OwedWeights {
public:
  /// `costs` are all possible costs, without duplicates, in any order.
  explicit OwedWeights(std::vector<int64_t> costs = {}) {
    llvm::sort(costs);
    for (int64_t cost : costs)
      queues.push_back({cost, {}});
    tree.resize(2 * queues.size(), none);
  }

  void add(Step step, int64_t cost) {
    size_t index = llvm::lower_bound(queues, cost,
                                     [](const Queue &queue, int64_t cost) {
                                       return queue.cost < cost;
                                     }) -
                   queues.begin();
    queues[index].steps.push_back({step, added++});
    refresh(index);
  }

  /// Removes the oldest one with a cost of at most `limit`; returns false if
  /// there is none.
  bool take(int64_t limit, Step &step, int64_t &cost) {
    size_t end = llvm::upper_bound(queues, limit,
                                   [](int64_t limit, const Queue &queue) {
                                     return limit < queue.cost;
                                   }) -
                 queues.begin();
    Front oldest = none;
    for (size_t from = queues.size(), to = from + end; from < to;
         from /= 2, to /= 2) {
      if (from % 2)
        oldest = std::min(oldest, tree[from++]);
      if (to % 2)
        oldest = std::min(oldest, tree[--to]);
    }
    if (oldest == none)
      return false;
    Queue &queue = queues[oldest.second];
    step = queue.steps[queue.taken++].first;
    cost = queue.cost;
    refresh(oldest.second);
    return true;
  }

private:
  /// The steps of one cost, each with the number of steps added before it.
  struct Queue {
    int64_t cost;
    std::vector<std::pair<Step, uint32_t>> steps;
    size_t taken = 0;
  };
  /// The age of the first step of a queue, and the queue.
  using Front = std::pair<uint32_t, uint32_t>;
  static constexpr Front none = {std::numeric_limits<uint32_t>::max(), 0};

  /// Updates the tree with the front of a queue.
  void refresh(size_t index) {
    const Queue &queue = queues[index];
    size_t node = queues.size() + index;
    tree[node] = queue.taken == queue.steps.size()
                     ? none
                     : Front(queue.steps[queue.taken].second, index);
    for (node /= 2; node != 0; node /= 2)
      tree[node] = std::min(tree[2 * node], tree[2 * node + 1]);
  }

  /// Indexed by cost.
  std::vector<Queue> queues;
  /// Node k is the older one of 2k and 2k + 1; the queues are the second half.
  std::vector<Front> tree;
  uint32_t added = 0;
};

} // namespace pipec
