//===- StageGraph.h - Which stages feed which -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <compare>
#include <vector>

namespace pipec {

/// The edges between the stages of a model. By default the stages form a chain,
/// in which stage s feeds stage s + 1.
class StageGraph {
public:
  /// The output of `from` is an input of `to`, a later stage.
  struct Edge {
    unsigned from;
    unsigned to;
    friend auto operator<=>(const Edge &, const Edge &) = default;
    /// True if the edge is one of a chain.
    bool ofChain() const { return to == from + 1; }
  };

  /// The chain of any number of stages.
  StageGraph() = default;
  /// The graph with these edges, which are distinct and go from lower to higher
  /// stages. The chain if there are none.
  explicit StageGraph(std::vector<Edge> edges);

  /// True if the graph was not given by its edges.
  bool isChain() const { return stageEdges.empty(); }
  /// Calls `visit` for the edges of the graph of `numStages` stages, in
  /// ascending order of `from`, then of `to`.
  void forEachEdge(unsigned numStages,
                   llvm::function_ref<void(Edge)> visit) const;
  /// True if every edge of the chain of `numStages` stages is in the graph.
  bool containsChain(unsigned numStages) const;

  friend bool operator==(const StageGraph &, const StageGraph &) = default;

private:
  /// In ascending order; empty for a chain.
  std::vector<Edge> stageEdges;
};

} // namespace pipec
