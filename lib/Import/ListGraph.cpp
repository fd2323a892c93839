//===- ListGraph.cpp - The stage graph of a list of steps -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Import/Lists.h"

#include "IR/DataFlow.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"

#include <set>

using namespace llvm;

namespace pipec {

static bool isTransfer(StepKind kind) {
  return isP2P(kind) || isSendWait(kind);
}

/// True if the other end of a transfer is a later stage.
static bool goesUp(StepKind kind) {
  return isRecv(kind) != (dataKind(kind) == DataKind::Activation);
}

/// The edge of a transfer of `step` whose other end is stage `peer`.
static std::pair<unsigned, unsigned> edgeOf(Step step, unsigned peer) {
  return goesUp(step.kind()) ? std::pair(step.stage(), peer)
                             : std::pair(peer, step.stage());
}

LogicalResult ListGraph::infer(const Schedule &schedule, GraphBuilder &builder,
                               DiagEngine &diags) const {
  auto rangeOf = [&](Step step) {
    return diags.sourceFiles().itemAt(step.source());
  };
  const Named &first = named.front();
  builder.replaceChain(rangeOf(schedule.ranks[first.rank][first.index]));
  std::set<std::pair<unsigned, unsigned>> seen;
  for (const Named &one : named) {
    Step step = schedule.ranks[one.rank][one.index];
    auto [from, to] = edgeOf(step, one.peer);
    if (seen.insert({from, to}).second &&
        failed(builder.add(from, to, rangeOf(step))))
      return failure();
  }
  // By stage, a step that transfers data on the edge of the chain to it.
  std::vector<Step> used(schedule.numStages);
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (isTransfer(step.kind()) && step.port() == 0)
        if (unsigned to = step.stage() + goesUp(step.kind());
            to < schedule.numStages)
          used[to] = step;
  for (unsigned to = 1; to < schedule.numStages; ++to) {
    bool within = schedule.placement.rankOf(to - 1, 0) ==
                  schedule.placement.rankOf(to, 0);
    bool isUsed = used[to].kind() != StepKind::Bubble;
    if ((within || isUsed) && seen.insert({to - 1, to}).second &&
        failed(builder.add(to - 1, to, isUsed ? rangeOf(used[to]) : SMRange())))
      return failure();
  }
  return success();
}

LogicalResult ListGraph::setPorts(Schedule &schedule, DiagEngine &diags) const {
  const DataFlow flow(schedule);
  auto refuse = [&](Step step, unsigned peer) {
    auto [from, to] = edgeOf(step, peer);
    return diags.report(step.source(), diag::ListNoEdge,
                        stepKindName(step.kind()), step.stage(), from, to);
  };
  if (!flow.isChain())
    for (StepList &list : schedule.ranks)
      for (Step &step : list) {
        if (!isTransfer(step.kind()) || step.port() != 0)
          continue;
        unsigned to = step.stage() + goesUp(step.kind());
        if (auto port = flow.portOfChain(step.kind(), step.stage()))
          step.setPort(*port);
        else if (to != 0 && to != schedule.numStages)
          return refuse(step, goesUp(step.kind()) ? to : to - 1);
        // Otherwise the verifier reports that the stage has no neighbour.
      }
  for (const Named &one : named) {
    Step &step = schedule.ranks[one.rank][one.index];
    std::optional<unsigned> port =
        flow.portTo(step.kind(), step.stage(), one.peer);
    if (!port)
      return refuse(step, one.peer);
    step.setPort(*port);
  }
  return success();
}

LogicalResult ListGraph::apply(Schedule &schedule, const ListOptions &options,
                               DiagEngine &diags) const {
  const GivenGraph &given = options.graph;
  if (named.empty() && given.empty())
    return success();
  if (schedule.placement.bidirectional())
    return diags.report(schedule.source, diag::GraphBidirectional,
                        !given.empty()
                            ? given.replaces() ? "--graph" : "--connect"
                            : "a stage that a transfer names");
  if (given.empty() && !options.present.empty())
    return diags.report(schedule.source, diag::ListGraphUnknown);
  GraphBuilder builder(schedule.numStages, diags);
  if (failed(given.empty() ? infer(schedule, builder, diags)
                           : builder.add(given)))
    return failure();
  FailureOr<StageGraph> made = builder.finish();
  if (failed(made))
    return failure();
  schedule.graph = std::move(*made);
  return setPorts(schedule, diags);
}

} // namespace pipec
