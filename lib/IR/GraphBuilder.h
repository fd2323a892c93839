//===- GraphBuilder.h - A stage graph from its edges ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_GRAPHBUILDER_H
#define PIPEC_IR_GRAPHBUILDER_H

#include "IR/StageGraph.h"
#include "Support/DiagEngine.h"

#include <map>
#include <vector>

namespace pipec {

/// The maximum number of edges of a graph that is not a chain.
inline constexpr unsigned maxGraphEdges = 1u << 20;

/// The edges of a stage graph that a command line gives.
struct GivenGraph {
  /// The edges of `--graph`, which replace those of a chain or of a program.
  std::vector<StageGraph::Edge> all;
  /// The edges of `--connect`, which are added.
  std::vector<StageGraph::Edge> more;

  bool replaces() const { return !all.empty(); }
  bool empty() const { return all.empty() && more.empty(); }
};

/// Collects the edges of a stage graph and reports those that no graph can
/// have.
class GraphBuilder {
public:
  GraphBuilder(unsigned numStages, DiagEngine &diags)
      : numStages(numStages), diags(diags) {}

  /// Makes the edges that are added the only ones. Otherwise they are added to
  /// a chain. `where` is the place of the whole graph; invalid if it has none.
  void replaceChain(llvm::SMRange where) {
    replaces = true;
    graphRange = where;
  }
  /// Adds an edge. Reports one that is out of range, goes to an earlier stage,
  /// or is already there.
  llvm::LogicalResult add(int64_t from, int64_t to, llvm::SMRange where);
  /// The same for the edges of a command line, which have no places.
  llvm::LogicalResult add(const GivenGraph &given);
  /// The graph. Reports a stage that does not reach the last one.
  llvm::FailureOr<StageGraph> finish();

private:
  unsigned numStages;
  DiagEngine &diags;
  /// True if the edges that were added are the only ones.
  bool replaces = false;
  /// The place of the graph that replaces the chain.
  llvm::SMRange graphRange;
  /// The edges that were added and their places.
  std::map<StageGraph::Edge, llvm::SMRange> edges;
};

} // namespace pipec

#endif // PIPEC_IR_GRAPHBUILDER_H
