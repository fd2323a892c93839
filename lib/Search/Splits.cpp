//===- Splits.cpp - The ways to cut layers into stages --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Splits.h"

#include "Search/Paths.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace pipec::search {

SplitQueue::SplitQueue(SplitSpace given, size_t maxNodes)
    : space(std::move(given)), maxNodes(maxNodes) {
  uint32_t numLayers = space.numLayers();
  assert(numLayers >= space.numStages() && "no stage is empty");
  sums.resize(size_t(space.ranks) * (numLayers + 1));
  rest.resize(numLayers + 1);
  for (unsigned rank = 0; rank != space.ranks; ++rank)
    for (uint32_t i = 0; i != numLayers; ++i) {
      const LayerTimes &own = space.layers[size_t(rank) * numLayers + i];
      const LayerTimes &before = sums[size_t(rank) * (numLayers + 1) + i];
      sums[size_t(rank) * (numLayers + 1) + i + 1] = {
          before.forward + own.forward, before.backward + own.backward,
          before.all + own.all};
    }
  for (uint32_t i = numLayers; i-- != 0;) {
    Ticks least = space.layers[i].all;
    for (unsigned rank = 1; rank != space.ranks; ++rank)
      least = std::min(least, space.layers[size_t(rank) * numLayers + i].all);
    rest[i] = rest[i + 1] + least;
  }
  nodes.push_back({0, 0, 0});
  open.push({0, 0, 0});
}

LayerTimes SplitQueue::times(unsigned rank, uint32_t from, uint32_t to) const {
  const LayerTimes *own = &sums[size_t(rank) * (space.numLayers() + 1)];
  return {own[to].forward - own[from].forward,
          own[to].backward - own[from].backward, own[to].all - own[from].all};
}

SplitQueue::Split SplitQueue::sizesOf(uint32_t node) const {
  Split sizes(nodes[node].stages);
  for (; nodes[node].stages != 0; node = nodes[node].parent)
    sizes[nodes[node].stages - 1] =
        nodes[node].layers - nodes[nodes[node].parent].layers;
  return sizes;
}

/// The least that the largest of `loads` can become when `more` is spread over
/// them, rounded up.
static Ticks levelOf(std::vector<Ticks> &loads, Ticks more) {
  std::sort(loads.begin(), loads.end());
  // The first `n` are raised to a common level, which is at most the next load.
  Ticks sum = more;
  for (size_t n = 1; n <= loads.size(); ++n) {
    sum += loads[n - 1];
    Ticks level = (sum + Ticks(n) - 1) / Ticks(n);
    if (n == loads.size() || level <= loads[n])
      return std::max(level, loads.back());
  }
  return more;
}

// A rank cannot start before the forwards of one micro-batch have run on all
// stages before its first one. Then it has its work, and after its last
// backward the backwards of that micro-batch follow on the stages before its
// first one. The layers that are not in a stage yet add to the work of the
// ranks that still get a stage; at best they end at the same time.
Ticks SplitQueue::boundOf(const Split &sizes) const {
  constexpr Ticks none = -1;
  struct Load {
    /// Before the first step of the rank, and after its last backward.
    Ticks start = none, after = 0;
    LayerTimes work;
  };
  std::vector<Load> loads(space.ranks);
  Ticks head = 0, tail = 0, all = space.microbatches;
  uint32_t layers = 0;
  for (uint32_t stage = 0; stage != sizes.size(); ++stage) {
    unsigned rank = space.map[stage];
    Load &load = loads[rank];
    head += space.hopF[stage];
    if (stage)
      tail += space.hopI[stage - 1];
    if (load.start == none)
      load.start = head, load.after = tail;
    LayerTimes own = times(rank, layers, layers + sizes[stage]);
    load.work.forward += own.forward;
    load.work.backward += own.backward;
    load.work.all += own.all;
    head += own.forward;
    tail += own.backward;
    layers += sizes[stage];
  }
  Ticks bound = 0;
  for (Load &load : loads) {
    if (load.start == none)
      continue;
    Ticks inputs = load.work.forward + load.work.backward;
    bound = std::max({bound, load.start + all * load.work.all,
                      load.start + all * inputs + load.after});
  }
  if (sizes.size() == space.numStages())
    return bound;
  head += space.hopF[sizes.size()];
  std::vector<Ticks> ends;
  std::vector<char> isIn(space.ranks);
  for (size_t stage = sizes.size(); stage != space.numStages(); ++stage) {
    unsigned rank = space.map[stage];
    if (std::exchange(isIn[rank], true))
      continue;
    const Load &load = loads[rank];
    ends.push_back(load.start == none ? head
                                      : load.start + all * load.work.all);
  }
  return std::max(bound, levelOf(ends, all * rest[layers]));
}

Ticks boundOfSplit(const SplitSpace &space, std::span<const uint32_t> sizes) {
  Problem problem;
  problem.ranks = space.ranks;
  problem.chunks = space.numStages() / space.ranks;
  problem.microbatches = space.microbatches;
  problem.split = space.split;
  problem.map = space.map;
  problem.stages.resize(space.numStages());
  problem.caps.resize(space.ranks);
  uint32_t layer = 0;
  for (uint32_t stage = 0; stage != space.numStages(); ++stage) {
    Ticks *time = problem.stages[stage].time;
    for (uint32_t end = layer + sizes[stage]; layer != end; ++layer) {
      const LayerTimes &own =
          space.layers[size_t(space.map[stage]) * space.numLayers() + layer];
      time[LetterF] += own.forward;
      time[LetterI] += own.backward;
      time[LetterW] += own.all - own.forward - own.backward;
    }
    if (stage)
      problem.edges.push_back(
          {stage - 1, stage, space.hopF[stage], space.hopI[stage - 1]});
  }
  problem.finish();
  return Paths(problem, /*memory=*/false).bound();
}

void SplitQueue::add(const Open &parent, uint32_t layers) {
  uint32_t stages = parent.stages + 1, node = nodes.size();
  nodes.push_back({parent.node, stages, layers});
  // The bound of the parent holds, too.
  Ticks bound = std::max(parent.bound, boundOf(sizesOf(node)));
  open.push({bound, stages, node});
}

std::optional<Ticks> SplitQueue::bound() const {
  if (open.empty())
    return std::nullopt;
  return open.top().bound;
}

std::optional<SplitQueue::Split> SplitQueue::next() {
  uint32_t numLayers = space.numLayers(), numStages = space.numStages();
  while (!open.empty()) {
    Open first = open.top();
    Node node = nodes[first.node];
    if (node.stages == numStages) {
      open.pop();
      return sizesOf(first.node);
    }
    uint32_t left = numStages - node.stages - 1;
    uint32_t from = left ? node.layers + 1 : numLayers;
    uint32_t to = numLayers - left;
    if (nodes.size() + (to - from + 1) > maxNodes)
      return std::nullopt;
    open.pop();
    for (uint32_t layers = from; layers <= to; ++layers)
      add(first, layers);
  }
  return std::nullopt;
}

} // namespace pipec::search
