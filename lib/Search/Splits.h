//===- Splits.h - The ways to cut layers into stages ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A split cuts the layers of a model, in their order, into stages with at least
// one layer each. There are too many to try all of them: 386 million for 61
// layers in 8 stages. They are listed in the order of a lower bound of the
// makespan, which is also known for the first stages of a split.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Problem.h"

#include <optional>
#include <queue>

namespace pipec::search {

/// The times of one layer on one rank, for one micro-batch.
struct LayerTimes {
  /// The forward; the backward of the inputs, or the whole one if backwards are
  /// not split; and all of the layer.
  Ticks forward = 0;
  Ticks backward = 0;
  Ticks all = 0;
};

/// Layers that are cut into stages.
struct SplitSpace {
  unsigned ranks = 1;
  unsigned microbatches = 1;
  /// The rank of each stage.
  std::vector<uint32_t> map;
  /// The times of each layer on each rank, rank by rank.
  std::vector<LayerTimes> layers;
  /// From the end of the F (I) of the stage before (after) each stage until the
  /// stage can start.
  std::vector<Ticks> hopF;
  std::vector<Ticks> hopI;
  /// True if the last step of a rank may be a W, which no other rank waits for.
  bool split = true;

  unsigned numLayers() const { return layers.size() / ranks; }
  unsigned numStages() const { return map.size(); }
};

/// A lower bound of the makespans of one split, with any memory: of paths, and
/// of each rank alone. All ranks have equally many stages.
Ticks boundOfSplit(const SplitSpace &space, std::span<const uint32_t> sizes);

/// The splits of a space, those with the smallest bounds first.
class SplitQueue {
public:
  /// The number of layers of each stage.
  using Split = std::vector<uint32_t>;

  /// The space has as many layers as stages, or more. At most `maxNodes`
  /// beginnings are kept.
  SplitQueue(SplitSpace space, size_t maxNodes);

  /// A lower bound of the makespans of all splits that `next` has not returned;
  /// empty if it has returned all.
  std::optional<Ticks> bound() const;
  /// The next split; empty if there are none, or too many beginnings.
  std::optional<Split> next();

private:
  /// A beginning extends its parent by one stage.
  struct Node {
    uint32_t parent;
    /// The number of stages, and of their layers.
    uint32_t stages;
    uint32_t layers;
  };
  struct Open {
    Ticks bound;
    uint32_t stages;
    uint32_t node;
    /// The smaller bound comes first, then the longer beginning.
    bool operator<(const Open &other) const {
      if (bound != other.bound)
        return bound > other.bound;
      if (stages != other.stages)
        return stages < other.stages;
      return node > other.node;
    }
  };

  Split sizesOf(uint32_t node) const;
  /// Extends a beginning by a stage, up to this number of layers.
  void add(const Open &parent, uint32_t layers);
  /// A lower bound of the makespans of all splits that begin like this.
  Ticks boundOf(const Split &sizes) const;
  /// The times of the layers from `from` to before `to`, on a rank.
  LayerTimes times(unsigned rank, uint32_t from, uint32_t to) const;

  SplitSpace space;
  size_t maxNodes;
  /// By rank and number of layers: the times of the first layers.
  std::vector<LayerTimes> sums;
  /// By number of layers: the least total time of the remaining layers.
  std::vector<Ticks> rest;
  std::vector<Node> nodes;
  std::priority_queue<Open> open;
};

} // namespace pipec::search
