//===- GraphSchedules.h - Small schedules of stage graphs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data flow of a stage graph is computed here directly from its edges,
// without the table of IR/DataFlow.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_IR_GRAPHSCHEDULES_H
#define PIPEC_UNITTESTS_IR_GRAPHSCHEDULES_H

#include "IR/DataFlow.h"
#include "Waiting/RandomSchedules.h"

namespace pipec::test {

/// The stages of a model: the edges in ascending order.
struct Model {
  unsigned numStages;
  std::vector<StageGraph::Edge> edges;
};

Model chainOf(unsigned numStages);
/// Stage 0 feeds stages 1 and 2.
Model forkGraph();
/// Stages 0 and 1 feed stage 2.
Model joinGraph();
/// Up to five stages, each fed by some of the previous ones.
Model randomGraph(Rng &rng);

/// A schedule without lists: one stage per rank in order, or at random on up to
/// three ranks.
Schedule headerFor(const Model &graph, unsigned microbatches);
Schedule randomHeaderFor(Rng &rng, const Model &graph);

/// The producers of the inputs of a step according to the graph: for an F, the
/// F of each stage that feeds its own; for a B, the B of each stage that its
/// own feeds.
std::vector<Step> producersOf(const Model &graph, Step step);

/// Fills the lists with Fs and Bs in an order that can run. With `transfers`,
/// adds a send and a receive when their producer runs.
void fillLists(Rng &rng, const Model &graph, bool transfers,
               Schedule &schedule);

/// Exchanges two adjacent steps of a list with at least two.
void swapNeighbours(Rng &rng, Schedule &schedule);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_IR_GRAPHSCHEDULES_H
