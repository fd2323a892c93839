//===- GraphBuilder.cpp - A stage graph from its edges --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/GraphBuilder.h"

#include "IR/Step.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"
#include "Support/Words.h"

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

InFlightDiagnostic GraphBuilder::withOption(InFlightDiagnostic error,
                                            Origin origin, StringRef what) {
  if (!origin.option.empty())
    error.note(DiagLoc(), diag::NoteGraphOption, what, origin.option);
  return error;
}

LogicalResult GraphBuilder::add(int64_t from, int64_t to, Origin origin) {
  SMRange where = origin.range;
  for (int64_t stage : {from, to})
    if (stage < 0 || stage >= int64_t(numStages))
      return withOption(diags.report(where, diag::GraphStageOutOfRange, stage,
                                     countText(numStages, "stage")),
                        origin);
  if (from >= to)
    return withOption(diags.report(where, diag::GraphEdgeBackward, from, to),
                      origin);
  StageGraph::Edge edge{unsigned(from), unsigned(to)};
  auto [it, isNew] = edges.try_emplace(edge, origin);
  if (!isNew) {
    InFlightDiagnostic error =
        withOption(diags.report(where, diag::GraphEdgeTwice, from, to), origin);
    const Origin &previous = it->second;
    if (previous.range.isValid())
      error.note(previous.range, diag::NotePrevious);
    else if (previous.option != origin.option)
      return withOption(std::move(error), previous, "previous one");
    return error;
  }
  if (edges.size() > maxGraphEdges)
    return withOption(
        diags.report(where, diag::GraphTooManyEdges, maxGraphEdges), origin);
  return success();
}

LogicalResult GraphBuilder::add(const GivenGraph &given) {
  const Origin graph{SMRange(), "--graph"}, connect{SMRange(), "--connect"};
  if (given.replaces())
    replaceChain(graph);
  auto addAll = [&](ArrayRef<StageGraph::Edge> list, Origin origin) {
    return success(all_of(list, [&](StageGraph::Edge edge) {
      return succeeded(add(edge.from, edge.to, origin));
    }));
  };
  return success(succeeded(addAll(given.all, graph)) &&
                 succeeded(addAll(given.more, connect)));
}

FailureOr<StageGraph> GraphBuilder::finish() {
  if (!replaces && edges.empty())
    return StageGraph();
  std::vector<StageGraph::Edge> all;
  for (const auto &[edge, origin] : edges) {
    if (!replaces && edge.ofChain())
      return withOption(diags.report(origin.range, diag::GraphEdgeOfChain,
                                     edge.from, edge.to),
                        origin);
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
      return withOption(diags.report(graphOrigin.range, diag::GraphDeadEnd,
                                     stage, numStages - 1),
                        graphOrigin, "graph");
  // One port of each row is left for the data that a stage keeps.
  constexpr unsigned limit = maxPorts - 2;
  for (unsigned stage = 0; stage != numStages; ++stage)
    if (std::max(inputs[stage], outputs[stage]) > limit)
      return withOption(diags.report(edges.begin()->second.range,
                                     diag::GraphStageEdges, stage, limit),
                        edges.begin()->second);
  bool isAsLong = all.size() + 1 == numStages;
  StageGraph graph(std::move(all));
  // A graph that spells out the chain is the chain.
  return graph.containsChain(numStages) && isAsLong ? StageGraph()
                                                    : std::move(graph);
}

} // namespace pipec
