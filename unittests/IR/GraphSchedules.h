//===- GraphSchedules.h - Small schedules of stage graphs -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows from a stage graph is worked out here from its edges, step by
// step and without the table of IR/DataFlow.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_IR_GRAPHSCHEDULES_H
#define PIPEC_UNITTESTS_IR_GRAPHSCHEDULES_H

#include "IR/DataFlow.h"
#include "Waiting/RandomSchedules.h"

namespace pipec::test {

/// Stage 0 feeds stages 1 and 2.
StageGraph forkGraph();
/// Stages 0 and 1 feed stage 2.
StageGraph joinGraph();
/// Up to five stages, each fed by some of those before it. Some share
/// parameters.
StageGraph randomGraph(Rng &rng);

/// A schedule without lists: stages are on ranks in order, or at random on up
/// to three.
Schedule headerFor(const StageGraph &graph, unsigned microbatches);
Schedule randomHeaderFor(Rng &rng, const StageGraph &graph);

/// The steps whose data a step takes, by the graph: an F takes the F of each
/// stage that feeds its own, a B the B of each that its own feeds, and a wait
/// for a reduction the reductions of the stages that share its parameters.
std::vector<Step> producersOf(const StageGraph &graph, Step step);

/// Lists of Fs, Bs and, on tied stages, reductions and waits for them, in an
/// order that can run. With `transfers`, sends and receives as well, each pair
/// when its producer runs.
void fillLists(Rng &rng, const StageGraph &graph, bool transfers,
               Schedule &schedule);

/// Exchanges two neighbours of a list that has two.
void swapNeighbours(Rng &rng, Schedule &schedule);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_IR_GRAPHSCHEDULES_H
