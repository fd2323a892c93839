//===- PlacementGen.cpp - The ranks and the graph of the stages -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Lowering.h"

#include "IR/RegularPlacements.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

namespace {
/// A row of AST/Placements.def.
struct NamedPlacement {
  StringLiteral name;
  unsigned chunks;
  unsigned factor;
  uint32_t (*rankOf)(unsigned stage, unsigned ranks, unsigned chunks);
};
} // namespace

static constexpr NamedPlacement namedPlacements[] = {
#define PIPEC_PLACEMENT(Name, Argument, Chunks, Factor, RankOf, Doc)           \
  {Name, Chunks, Factor,                                                       \
   [](unsigned stage, unsigned ranks, unsigned chunks) -> uint32_t {           \
     return RankOf;                                                            \
   }},
#include "AST/Placements.def"
};

LogicalResult Lowering::makePlacement(const PlacementStmt *placement) {
  if (failed(placement->stages ? makeSpelledOut(placement)
                               : makeNamed(placement)))
    return failure();
  // The chunks of a rank are numbered in the order of the stages or, if there
  // are two directions, by direction.
  chunkStages.assign(schedule.numRanks, {});
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    for (unsigned s = 0; s != schedule.numStages; ++s)
      chunkStages[schedule.placement.rankOf(s, d)].push_back(s);
  return success();
}

/// Reports a number of chunks per rank that is not the value of the parameter.
LogicalResult Lowering::checkChunks(int64_t chunks, SMRange range) {
  const ParamDecl *param = checked.chunks;
  if (!param || machine->value(param->variable) == chunks)
    return success();
  return diags
      .report(range, diag::ChunksDiffer, chunks, param->name.text,
              machine->value(param->variable))
      .note(param->name.range, diag::NoteDefinedHere, param->name.text);
}

LogicalResult Lowering::makeNamed(const PlacementStmt *placement) {
  // Sema has checked the name.
  const NamedPlacement &named =
      *find_if(namedPlacements, [&](const NamedPlacement &row) {
        return row.name == placement->name.text;
      });
  SMRange range = placement->name.range;
  unsigned ranks = schedule.numRanks;
  unsigned directions = named.name == "bidirectional" ? 2 : 1;
  if (ranks % directions != 0)
    return diags.report(range, diag::OddBidirectional, ranks, "ranks");
  if (schedule.numMicrobatches() % directions != 0)
    return diags.report(range, diag::OddBidirectional,
                        schedule.numMicrobatches(), "micro-batches");
  int64_t chunks = named.chunks;
  if (placement->argument) {
    std::optional<int64_t> argument = evaluate(placement->argument);
    if (!argument)
      return failure();
    chunks = *argument;
    range = placement->argument->range;
    if (chunks > 0 && chunks <= int64_t(maxStages))
      chunks *= named.factor;
  } else if (chunks > 1 && checked.chunks) {
    chunks = machine->value(checked.chunks->variable);
  }
  if (chunks < 1 || chunks > int64_t(maxStages / ranks))
    return diags.report(range, diag::PlacementOutOfRange, chunks, maxStages);
  if (failed(checkChunks(chunks * directions, range)))
    return failure();
  schedule.numStages = ranks * chunks;
  std::vector<std::vector<uint32_t>> maps(1);
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    maps[0].push_back(named.rankOf(stage, ranks, chunks));
  if (directions == 2)
    maps.emplace_back(maps[0].rbegin(), maps[0].rend());
  schedule.placement = Placement(std::move(maps));
  return success();
}

LogicalResult Lowering::makeSpelledOut(const PlacementStmt *placement) {
  std::optional<int64_t> stages = evaluate(placement->stages);
  if (!stages)
    return failure();
  if (*stages < 1 || *stages > int64_t(maxStages))
    return diags.report(placement->stages->range, diag::SettingOutOfRange,
                        "stages", *stages,
                        "1.." + std::to_string(maxStages + 1));
  std::vector<uint32_t> map(*stages);
  std::vector<unsigned> held(schedule.numRanks);
  for (int64_t s = 0; s != *stages; ++s) {
    machine->setValue(placement->stageVariable, s);
    std::optional<int64_t> rank = evaluate(placement->rank);
    if (!rank)
      return failure();
    if (*rank < 0 || *rank >= int64_t(schedule.numRanks))
      return diags.report(placement->rank->range, diag::StageOnNoRank, s, *rank,
                          schedule.numRanks);
    map[s] = *rank;
    ++held[*rank];
  }
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    if (held[rank] == 0)
      return diags.report(placement->range, diag::RankWithoutStage, rank);
  for (unsigned chunks : held)
    if (failed(checkChunks(chunks, placement->range)))
      return failure();
  schedule.numStages = *stages;
  schedule.placement = Placement({std::move(map)});
  return success();
}

//===----------------------------------------------------------------------===//
// The graph of the stages
//===----------------------------------------------------------------------===//

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
  if (!schedule.sections.empty() &&
      (!schedule.graph.isChain() || !schedule.ties.empty()))
    return diags.report(checked.sections->range, diag::SectionsGraph,
                        schedule.ties.empty() ? "connect" : "tie");
  return success();
}

} // namespace pipec
