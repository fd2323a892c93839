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

namespace pipec {

/// The maximum number of edges of a graph that is not a chain.
inline constexpr unsigned maxGraphEdges = 1u << 20;

/// Collects the edges of a stage graph and reports those that no graph can
/// have.
class GraphBuilder {
public:
  GraphBuilder(unsigned numStages, DiagEngine &diags)
      : numStages(numStages), diags(diags) {}

  /// Makes the edges that are added the only ones. Otherwise they are added to
  /// a chain. `where` is the place of the whole graph.
  void replaceChain(llvm::SMRange where) { graphRange = where; }
  /// Adds an edge. Reports one that is out of range, goes to an earlier stage,
  /// or is already there.
  llvm::LogicalResult add(int64_t from, int64_t to, llvm::SMRange where);
  /// The graph. Reports a stage that does not reach the last one.
  llvm::FailureOr<StageGraph> finish();

private:
  unsigned numStages;
  DiagEngine &diags;
  /// The place of a graph that replaces the chain; otherwise invalid.
  llvm::SMRange graphRange;
  /// The edges that were added and their places.
  std::map<StageGraph::Edge, llvm::SMRange> edges;
};

} // namespace pipec

#endif // PIPEC_IR_GRAPHBUILDER_H
