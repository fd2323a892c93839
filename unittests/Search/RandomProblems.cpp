//===- RandomProblems.cpp - Small random problems of a search -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/RandomProblems.h"

namespace pipec::test {

using namespace pipec::search;

/// Adds the edges of a chain, or of a graph in which every stage has a way to
/// the last one.
static void addEdges(Problem &problem, Random &random, bool isGraph) {
  unsigned stages = problem.map.size();
  for (unsigned from = 0; from + 1 < stages; ++from) {
    unsigned sure = from + 1;
    if (isGraph)
      sure += random.below(stages - from - 1);
    for (unsigned to = from + 1; to != stages; ++to) {
      if (to != sure && (!isGraph || !random.chance(30)))
        continue;
      Edge edge{from, to};
      if (problem.map[from] != problem.map[to]) {
        edge.hopF = random.below(3);
        edge.hopI = random.below(3);
      }
      problem.edges.push_back(edge);
    }
  }
}

Problem randomProblem(Random &random, const ProblemLimits &limits) {
  for (;;) {
    Problem problem;
    problem.ranks = 1 + random.below(limits.ranks);
    problem.chunks = 1 + random.below(limits.chunks);
    problem.microbatches = 1 + random.below(limits.microbatches);
    problem.split = random.chance(75);
    unsigned stages = problem.ranks * problem.chunks;
    if (stages * problem.microbatches * problem.numKinds() > limits.steps)
      continue;
    problem.map =
        placementMap(random.chance(50), problem.ranks, problem.chunks);
    bool moreTakers = limits.moreTakers && random.chance(limits.moreTakers);
    // Mostly no backward gives all back at one of its two ends.
    unsigned both = random.below(3);
    for (unsigned stage = 0; stage != stages; ++stage) {
      StageFigures figures;
      for (unsigned kind = 0; kind != problem.numKinds(); ++kind)
        figures.time[kind] =
            random.chance(5) ? 0 : 1 + random.below(limits.figures);
      figures.givenByI = both == 1 ? 0 : random.below(3);
      figures.givenByW = both == 2 || !problem.split ? 0 : random.below(3);
      if (moreTakers && problem.split && random.chance(50)) {
        Ticks more = random.below(3);
        figures.givenByI -= figures.givenByI + more;
        figures.givenByW += more;
      }
      for (unsigned kind = 0; moreTakers && kind != problem.numKinds(); ++kind)
        figures.during[kind] = random.chance(60) ? random.below(4) : 0;
      problem.stages.push_back(figures);
    }
    addEdges(problem, random, random.chance(limits.graphs));
    problem.finish();
    for (unsigned rank = 0; rank != problem.ranks; ++rank)
      problem.caps.push_back(problem.roomForOne(rank) +
                             random.below(limits.spare + 1));
    return problem;
  }
}

ScheduleHeader randomSizes(Random &random) {
  ScheduleHeader header;
  header.name = "random";
  header.numRanks = 2 + random.below(2);
  unsigned chunks = 1 + random.below(2);
  header.numStages = header.numRanks * chunks;
  header.numUnits = 2 + random.below(3);
  header.placement = Placement(
      {search::placementMap(random.chance(50), header.numRanks, chunks)});
  return header;
}

} // namespace pipec::test
