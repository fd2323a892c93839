//===- StageGraph.cpp - Which stages feed which ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/StageGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

StageGraph::StageGraph(std::vector<Edge> edges) : stageEdges(std::move(edges)) {
  llvm::sort(stageEdges);
}

void StageGraph::forEachEdge(unsigned numStages,
                             function_ref<void(Edge)> visit) const {
  for (Edge edge : stageEdges)
    visit(edge);
  if (isChain())
    for (unsigned stage = 1; stage < numStages; ++stage)
      visit({stage - 1, stage});
}

bool StageGraph::containsChain(unsigned numStages) const {
  return isChain() ||
         count_if(stageEdges, [](Edge edge) { return edge.ofChain(); }) + 1 ==
             numStages;
}

} // namespace pipec
