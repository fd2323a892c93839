//===- Cycle.cpp - Finding a shortest cycle of waits ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every wait of a step in a queue leads to the head of the queue, so every
// cycle contains a head or the current compute step of some rank. Their
// number, and that of the steps that they reach, depends on the number of
// queues, not of steps.
//
// Tarjan's algorithm (llvm::scc_iterator) computes the strongly connected
// components. A component in which every step waits for one other step is a
// single cycle. If some step waits for several others (only in batches), every
// cycle contains such a step, since otherwise it could not be left. So
// breadth-first searches start only from these steps, and stop at the length of
// the best cycle so far.
//
//===----------------------------------------------------------------------===//

#include "Waiting/Waiting.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/GraphTraits.h"
#include "llvm/ADT/SCCIterator.h"

#include <memory>

using namespace llvm;

namespace pipec {

namespace {

struct WaitNode {
  uint32_t step = StepNumbers::none;
  std::vector<WaitEdge> edges;
  std::vector<WaitNode *> targets;
  /// Marks of the current search.
  unsigned component = 0;
  uint32_t visited = 0;
  WaitNode *parent = nullptr;
  unsigned parentEdge = 0;
  unsigned depth = 0;
};

/// The graph of waits that are reachable from the blocked steps of a schedule.
/// Its entry is an extra node with edges to all of them.
struct WaitGraph {
  explicit WaitGraph(const Waiting &waiting);

  WaitNode entry;
  /// In the order of discovery.
  std::vector<std::unique_ptr<WaitNode>> nodes;

private:
  WaitNode *nodeOf(uint32_t step);
  DenseMap<uint32_t, WaitNode *> byStep;
};

} // namespace

WaitNode *WaitGraph::nodeOf(uint32_t step) {
  WaitNode *&node = byStep[step];
  if (!node) {
    nodes.push_back(std::make_unique<WaitNode>());
    node = nodes.back().get();
    node->step = step;
  }
  return node;
}

WaitGraph::WaitGraph(const Waiting &waiting) {
  for (uint32_t step : waiting.blockedSteps())
    entry.targets.push_back(nodeOf(step));
  // `nodes` grows during the loop.
  for (size_t i = 0; i != nodes.size(); ++i) {
    WaitNode *node = nodes[i].get();
    waiting.forEachWait(node->step, [&](const WaitEdge &edge) {
      node->edges.push_back(edge);
      node->targets.push_back(nodeOf(edge.target));
    });
  }
}

} // namespace pipec

namespace llvm {
template <> struct GraphTraits<const pipec::WaitGraph *> {
  using NodeRef = pipec::WaitNode *;
  using ChildIteratorType = std::vector<pipec::WaitNode *>::iterator;
  static NodeRef getEntryNode(const pipec::WaitGraph *graph) {
    return const_cast<pipec::WaitNode *>(&graph->entry);
  }
  static ChildIteratorType child_begin(NodeRef node) {
    return node->targets.begin();
  }
  static ChildIteratorType child_end(NodeRef node) {
    return node->targets.end();
  }
};
} // namespace llvm

namespace pipec {

/// The edges from `start` to `node` along the parents, followed by the edge
/// back.
static std::vector<WaitEdge> pathBack(WaitNode *start, WaitNode *node,
                                      unsigned lastEdge) {
  std::vector<WaitEdge> cycle = {node->edges[lastEdge]};
  for (; node != start; node = node->parent)
    cycle.push_back(node->parent->edges[node->parentEdge]);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

/// A shortest cycle through `start` in its component with fewer than `limit`
/// edges; empty if there is none.
static std::vector<WaitEdge> cycleThrough(WaitNode *start, size_t limit,
                                          uint32_t mark) {
  std::vector<WaitNode *> queue = {start};
  start->visited = mark;
  start->depth = 0;
  for (size_t i = 0; i != queue.size(); ++i) {
    WaitNode *node = queue[i];
    if (node->depth + 1 >= limit)
      break;
    for (unsigned e = 0; e != node->edges.size(); ++e) {
      WaitNode *target = node->targets[e];
      if (target == start)
        return pathBack(start, node, e);
      if (target->component != start->component || target->visited == mark)
        continue;
      target->visited = mark;
      target->parent = node;
      target->parentEdge = e;
      target->depth = node->depth + 1;
      queue.push_back(target);
    }
  }
  return {};
}

std::vector<WaitEdge> findShortestCycle(const Waiting &waiting) {
  std::vector<WaitEdge> best;
  if (waiting.ends())
    return best;
  const WaitGraph graph(waiting);
  unsigned component = 0;
  uint32_t mark = 0;
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) {
    if (!scc.hasCycle())
      continue;
    ++component;
    for (WaitNode *node : *scc)
      node->component = component;
    WaitNode *any = nullptr;
    std::vector<WaitNode *> starts;
    for (WaitNode *node : *scc) {
      unsigned inside = count_if(node->targets, [&](WaitNode *target) {
        return target->component == component;
      });
      if (inside > 1)
        starts.push_back(node);
      if (!any || node->step < any->step)
        any = node;
    }
    if (starts.empty())
      starts.push_back(any);
    sort(starts, [](WaitNode *a, WaitNode *b) { return a->step < b->step; });
    for (WaitNode *start : starts) {
      size_t limit = best.empty() ? SIZE_MAX : best.size();
      std::vector<WaitEdge> cycle = cycleThrough(start, limit, ++mark);
      if (!cycle.empty())
        best = std::move(cycle);
    }
  }
  auto first = std::min_element(
      best.begin(), best.end(),
      [](const WaitEdge &a, const WaitEdge &b) { return a.step < b.step; });
  std::rotate(best.begin(), first, best.end());
  return best;
}

std::vector<WaitEdge> findDeadEnd(const Waiting &waiting) {
  if (waiting.ends())
    return {};
  WaitGraph graph(waiting);
  std::vector<WaitNode *> queue;
  for (WaitNode *node : graph.entry.targets) {
    node->visited = 1;
    queue.push_back(node);
  }
  for (size_t i = 0; i != queue.size(); ++i) {
    WaitNode *node = queue[i];
    if (node->edges.empty()) {
      std::vector<WaitEdge> chain = {{node->step}};
      for (; node->parent; node = node->parent)
        chain.push_back(node->parent->edges[node->parentEdge]);
      std::reverse(chain.begin(), chain.end());
      return chain;
    }
    for (unsigned e = 0; e != node->edges.size(); ++e) {
      WaitNode *target = node->targets[e];
      if (target->visited)
        continue;
      target->visited = 1;
      target->parent = node;
      target->parentEdge = e;
      queue.push_back(target);
    }
  }
  return {};
}

} // namespace pipec
