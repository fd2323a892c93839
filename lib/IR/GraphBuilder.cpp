//===- GraphBuilder.cpp - A stage graph from its edges --------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/GraphBuilder.h"

#include "IR/Step.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LogicalResult GraphBuilder::add(int64_t from, int64_t to, SMRange where) {
  for (int64_t stage : {from, to})
    if (stage < 0 || stage >= int64_t(numStages))
      return diags.report(where, diag::GraphStageOutOfRange, stage, numStages);
  if (from >= to)
    return diags.report(where, diag::GraphEdgeBackward, from, to);
  StageGraph::Edge edge{unsigned(from), unsigned(to)};
  auto [it, isNew] = edges.try_emplace(edge, where);
  if (!isNew) {
    InFlightDiagnostic error =
        diags.report(where, diag::GraphEdgeTwice, from, to);
    if (it->second.isValid())
      error.note(it->second, diag::NotePrevious);
    return error;
  }
  if (edges.size() > maxGraphEdges)
    return diags.report(where, diag::GraphTooManyEdges, maxGraphEdges);
  return success();
}

LogicalResult GraphBuilder::add(const GivenGraph &given) {
  if (given.replaces())
    replaceChain(SMRange());
  for (const auto *list : {&given.all, &given.more})
    for (StageGraph::Edge edge : *list)
      if (failed(add(edge.from, edge.to, SMRange())))
        return failure();
  return success();
}

FailureOr<StageGraph> GraphBuilder::finish() {
  if (!replaces && edges.empty())
    return StageGraph();
  std::vector<StageGraph::Edge> all;
  for (const auto &[edge, where] : edges) {
    if (!replaces && edge.ofChain())
      return diags.report(where, diag::GraphEdgeOfChain, edge.from, edge.to);
    all.push_back(edge);
  }
  if (!replaces)
    for (unsigned stage = 1; stage < numStages; ++stage)
      all.push_back({stage - 1, stage});

  // Every stage but the last one feeds a later one, and so reaches the last.
  std::vector<unsigned> inputs(numStages), outputs(numStages);
  for (StageGraph::Edge edge : all) {
    ++outputs[edge.from];
    ++inputs[edge.to];
  }
  for (unsigned stage = 0; stage + 1 != numStages; ++stage)
    if (outputs[stage] == 0)
      return diags.report(graphRange, diag::GraphDeadEnd, stage, numStages - 1);
  // One port of each row is left for what a stage keeps for itself.
  constexpr unsigned limit = maxPorts - 2;
  for (unsigned stage = 0; stage != numStages; ++stage)
    if (std::max(inputs[stage], outputs[stage]) > limit)
      return diags.report(edges.begin()->second, diag::GraphStageEdges, stage,
                          limit);
  bool isAsLong = all.size() + 1 == numStages;
  StageGraph graph(std::move(all));
  // A graph that spells out the chain is the chain.
  return graph.containsChain(numStages) && isAsLong ? StageGraph()
                                                    : std::move(graph);
}

} // namespace pipec
