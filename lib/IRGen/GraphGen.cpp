//===- GraphGen.cpp - The graph of the stages -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Lowering.h"

#include "Support/Diagnostics/LoweringDiags.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

/// Evaluates the edges of a `connect` or `graph`.
LogicalResult Lowering::addEdges(const EdgesStmt *stmt) {
  if (options.graph.replaces())
    return success();
  bool replaces = stmt->kind == Stmt::Kind::Graph;
  if (schedule.placement.bidirectional())
    return diags.report(stmt->range, diag::GraphBidirectional,
                        replaces ? "graph" : "connect");
  if (replaces)
    graph->replaceChain(stmt->range);
  for (const EdgeEntry &edge : stmt->edges) {
    std::optional<int64_t> begin = 0, end = 1;
    if (edge.isLoop() &&
        (!(begin = evaluate(edge.begin)) || !(end = evaluate(edge.end))))
      return failure();
    for (int64_t value = *begin; value < *end; ++value) {
      if (edge.isLoop())
        machine->setValue(edge.loopVariable, value);
      std::optional<int64_t> from = evaluate(edge.from);
      if (!from)
        return failure();
      std::optional<int64_t> to = evaluate(edge.to);
      if (!to || failed(graph->add(*from, *to, edge.range)))
        return failure();
    }
  }
  return success();
}

/// Evaluates the stages of a `tie`.
LogicalResult Lowering::addTie(const TieStmt *stmt) {
  if (schedule.placement.bidirectional())
    return diags.report(stmt->range, diag::GraphBidirectional, "tie");
  SmallVector<int64_t, 4> stages;
  for (const Expr *expr : stmt->stages) {
    std::optional<int64_t> stage = evaluate(expr);
    if (!stage)
      return failure();
    stages.push_back(*stage);
  }
  return ties->add(stages, stmt->range);
}

LogicalResult Lowering::makeGraph() {
  const GivenGraph &given = options.graph;
  if (!given.empty() && schedule.placement.bidirectional())
    return diags.report(DiagLoc(), diag::GraphBidirectional,
                        given.replaces() ? "--graph" : "--connect");
  if (failed(graph->add(given)))
    return failure();
  FailureOr<StageGraph> made = graph->finish();
  if (failed(made))
    return failure();
  schedule.graph = std::move(*made);
  schedule.ties = ties->take();
  return success();
}

} // namespace pipec
