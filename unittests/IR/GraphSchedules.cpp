//===- GraphSchedules.cpp - Small schedules of stage graphs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/GraphSchedules.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace pipec::test {

Model chainOf(unsigned numStages) {
  Model graph{numStages, {}};
  for (unsigned stage = 1; stage < numStages; ++stage)
    graph.edges.push_back({stage - 1, stage});
  return graph;
}

Model forkGraph() { return {3, {{0, 1}, {0, 2}}}; }

Model joinGraph() { return {3, {{0, 2}, {1, 2}}}; }

Model randomGraph(Rng &rng) {
  Model graph{1 + unsigned(pick(rng, 5)), {}};
  unsigned stages = graph.numStages;
  for (unsigned from = 0; from + 1 < stages; ++from) {
    // A graph without edges would be a chain.
    unsigned always = from + 1 + pick(rng, stages - from - 1);
    for (unsigned to = from + 1; to != stages; ++to)
      if (to == always || oneIn(rng, 3))
        graph.edges.push_back({from, to});
  }
  return graph;
}

Schedule headerFor(const Model &graph, unsigned microbatches) {
  Schedule schedule;
  schedule.name = "graph";
  schedule.numStages = schedule.numRanks = graph.numStages;
  schedule.numUnits = microbatches;
  schedule.graph = StageGraph(graph.edges);
  std::vector<uint32_t> map(graph.numStages);
  std::iota(map.begin(), map.end(), 0);
  schedule.placement = Placement({map});
  schedule.ranks.resize(schedule.numRanks);
  return schedule;
}

Schedule randomHeaderFor(Rng &rng, const Model &graph) {
  Schedule schedule = headerFor(graph, 1 + pick(rng, 3));
  schedule.numRanks = 1 + pick(rng, 3);
  schedule.ranks.resize(schedule.numRanks);
  std::vector<uint32_t> map(graph.numStages);
  for (uint32_t &rank : map)
    rank = pick(rng, schedule.numRanks);
  schedule.placement = Placement({map});
  return schedule;
}

std::vector<Step> producersOf(const Model &graph, Step step) {
  std::vector<Step> producers;
  unsigned stage = step.stage(), microbatch = step.unit();
  if (step.kind() == StepKind::F || step.kind() == StepKind::B)
    for (StageGraph::Edge edge : graph.edges) {
      if (step.kind() == StepKind::F && edge.to == stage)
        producers.push_back(Step(StepKind::F, edge.from, microbatch));
      if (step.kind() == StepKind::B && edge.from == stage)
        producers.push_back(Step(StepKind::B, edge.to, microbatch));
    }
  return producers;
}

/// Appends the sends and receives of the results of `producer`.
static void transfer(const Model &graph, Step producer, Schedule &schedule) {
  bool forward = producer.kind() == StepKind::F;
  unsigned microbatch = producer.unit();
  // The number of a port is the index of its edge among the edges of its stage.
  std::vector<unsigned> in(graph.numStages), out(graph.numStages);
  for (StageGraph::Edge edge : graph.edges) {
    unsigned outPort = out[edge.from]++, inPort = in[edge.to]++;
    unsigned from = forward ? edge.from : edge.to;
    unsigned to = forward ? edge.to : edge.from;
    if (from != producer.stage())
      continue;
    unsigned fromRank = schedule.placement.rankOf(from, 0);
    unsigned toRank = schedule.placement.rankOf(to, 0);
    if (fromRank == toRank)
      continue;
    Step send(forward ? StepKind::SendF : StepKind::SendB, from, microbatch);
    send.setPort(forward ? outPort : inPort);
    Step receive(forward ? StepKind::RecvF : StepKind::RecvB, to, microbatch);
    receive.setPort(forward ? inPort : outPort);
    schedule.ranks[fromRank].push_back(send);
    schedule.ranks[toRank].push_back(receive);
  }
}

void fillLists(Rng &rng, const Model &graph, bool transfers,
               Schedule &schedule) {
  std::vector<Step> open, done;
  auto isDone = [&](Step step) {
    return any_of(done, [&](Step other) { return other.sameAction(step); });
  };
  for (unsigned stage = 0; stage != graph.numStages; ++stage)
    for (unsigned m = 0; m != schedule.numUnits; ++m) {
      open.push_back(Step(StepKind::F, stage, m));
      open.push_back(Step(StepKind::B, stage, m));
    }
  auto isReady = [&](Step step) {
    if (step.kind() == StepKind::B &&
        !isDone(Step(StepKind::F, step.stage(), step.unit())))
      return false;
    return all_of(producersOf(graph, step), isDone);
  };
  while (!open.empty()) {
    std::vector<Step> ready;
    copy_if(open, std::back_inserter(ready), isReady);
    Step step = ready[pick(rng, ready.size())];
    erase_if(open, [&](Step other) { return other.sameAction(step); });
    done.push_back(step);
    schedule.ranks[schedule.placement.rankOf(step.stage(), 0)].push_back(step);
    if (transfers && (step.kind() == StepKind::F || step.kind() == StepKind::B))
      transfer(graph, step, schedule);
  }
}

void swapNeighbours(Rng &rng, Schedule &schedule) {
  StepList &list = schedule.ranks[pick(rng, schedule.numRanks)];
  if (list.size() < 2)
    return;
  size_t i = pick(rng, list.size() - 1);
  std::swap(list[i], list[i + 1]);
}

} // namespace pipec::test
