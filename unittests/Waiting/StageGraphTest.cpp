//===- StageGraphTest.cpp - Waiting in schedules of stage graphs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the waiting engine, on steps with several inputs and several
// consumers, with an evaluation that repeatedly checks all steps.
//
//===----------------------------------------------------------------------===//

#include "IR/GraphSchedules.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <map>

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

/// A run without queues: everything is looked up in the lists.
class NaiveRun {
public:
  NaiveRun(const Schedule &schedule, const Model &graph, WaitModel model)
      : schedule(schedule), graph(graph), model(model), at(schedule.numRanks) {}

  void run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
        for (size_t i = 0; i != at[rank]; ++i)
          progress |= complete(rank, i);
        if (at[rank] != schedule.ranks[rank].size() && mayPass(rank)) {
          ++at[rank];
          progress = true;
        }
      }
    }
  }

  bool ends() const {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      const StepList &list = schedule.ranks[rank];
      if (at[rank] != list.size())
        return false;
      for (size_t i = 0; i != list.size(); ++i)
        if (isP2P(list[i].kind()) && !completed.count({rank, i}))
          return false;
    }
    return true;
  }

  const Schedule &schedule;
  const Model &graph;
  WaitModel model;
  std::vector<size_t> at;

private:
  using Place = std::pair<unsigned, size_t>;

  /// The peer of a P2P step: the other end of the edge whose index among the
  /// edges of its stage is the port.
  unsigned peerOf(Step step) const {
    bool forward = dataKind(step.kind()) == DataKind::Activation;
    bool isFrom = isSend(step.kind()) == forward;
    unsigned number = 0;
    for (StageGraph::Edge edge : graph.edges)
      if ((isFrom ? edge.from : edge.to) == step.stage() &&
          number++ == step.port())
        return schedule.placement.rankOf(isFrom ? edge.to : edge.from, 0);
    ADD_FAILURE() << "a P2P step without an edge";
    return 0;
  }
  bool sameQueue(Step a, Step b) const {
    return model == WaitModel::Stream ||
           (peerOf(a) == peerOf(b) && isSend(a.kind()) == isSend(b.kind()));
  }
  /// True for a posted step with nothing before it in its queue.
  bool isStarted(Place place) const {
    const StepList &list = schedule.ranks[place.first];
    if (place.second >= at[place.first])
      return false;
    for (size_t i = 0; i != place.second; ++i)
      if (isP2P(list[i].kind()) && sameQueue(list[i], list[place.second]) &&
          !completed.count({place.first, i}))
        return false;
    return true;
  }
  /// The k-th send to a rank matches its k-th receive from the sender.
  std::optional<Place> matching(Place place) const {
    Step step = schedule.ranks[place.first][place.second];
    unsigned peer = peerOf(step), before = 0;
    for (size_t i = 0; i != place.second; ++i) {
      Step other = schedule.ranks[place.first][i];
      before += isP2P(other.kind()) && peerOf(other) == peer &&
                isSend(other.kind()) == isSend(step.kind());
    }
    const StepList &list = schedule.ranks[peer];
    for (size_t i = 0; i != list.size(); ++i)
      if (isP2P(list[i].kind()) && peerOf(list[i]) == place.first &&
          isSend(list[i].kind()) != isSend(step.kind()) && before-- == 0)
        return Place{peer, i};
    return std::nullopt;
  }
  bool complete(unsigned rank, size_t i) {
    Place place{rank, i};
    if (!isP2P(schedule.ranks[rank][i].kind()) || completed.count(place))
      return false;
    std::optional<Place> other = matching(place);
    if (!other || !isStarted(place) || !isStarted(*other))
      return false;
    completed[place] = completed[*other] = true;
    return true;
  }
  /// A compute step requires all receives of its inputs that its rank has.
  bool mayPass(unsigned rank) const {
    const StepList &list = schedule.ranks[rank];
    Step step = list[at[rank]];
    if (!isCompute(step.kind()))
      return true;
    for (size_t i = 0; i != list.size(); ++i)
      if (isRecv(list[i].kind()) && list[i].stage() == step.stage() &&
          list[i].unit() == step.unit() &&
          dataKind(list[i].kind()) == dataKind(step.kind()) &&
          !completed.count({rank, i}))
        return false;
    return true;
  }

  std::map<Place, bool> completed;
};

/// A schedule of `graph` with transfers, sometimes with errors.
Schedule randomGraphSchedule(Rng &rng, const Model &graph) {
  Schedule schedule = randomHeaderFor(rng, graph);
  fillLists(rng, graph, /*transfers=*/true, schedule);
  for (unsigned swaps = pick(rng, 6); swaps != 0; --swaps)
    swapNeighbours(rng, schedule);
  return schedule;
}

} // namespace

TEST(StageGraph, RanksStopWhereTheNaiveRunStops) {
  Rng rng(8);
  unsigned ended = 0, stuck = 0;
  for (unsigned round = 0; round != 600; ++round) {
    Model graph = round % 3 == 0   ? forkGraph()
                  : round % 3 == 1 ? joinGraph()
                                   : randomGraph(rng);
    Schedule schedule = randomGraphSchedule(rng, graph);
    Transfers transfers(schedule, DataFlow(schedule));
    for (WaitModel model : {WaitModel::Stream, WaitModel::Edge}) {
      Waiting waiting(schedule, transfers, model);
      NaiveRun naive(schedule, graph, model);
      naive.run();
      for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
        ASSERT_EQ(waiting.standsAt(rank), naive.at[rank])
            << "round " << round << listing(schedule);
      ASSERT_EQ(waiting.ends(), naive.ends()) << listing(schedule);
      (waiting.ends() ? ended : stuck)++;
    }
  }
  EXPECT_GT(ended, 100u);
  EXPECT_GT(stuck, 100u);
}

TEST(StageGraph, AJoinWaitsForBothReceives) {
  Schedule schedule = headerFor(joinGraph(), 1);
  auto receive = [](unsigned port) {
    Step step(StepKind::RecvF, 2, 0);
    step.setPort(port);
    return step;
  };
  schedule.ranks = {{Step(StepKind::F, 0, 0), Step(StepKind::SendF, 0, 0)},
                    {Step(StepKind::F, 1, 0)},
                    {receive(0), receive(1), Step(StepKind::F, 2, 0)}};
  DataFlow flow(schedule);
  {
    Transfers transfers(schedule, flow);
    EXPECT_EQ(transfers.receives(transfers.numbers().of(2, 2)).size(), 2u);
    Waiting waiting(schedule, transfers, WaitModel::Edge);
    EXPECT_EQ(waiting.standsAt(2), 2u);
    std::vector<uint32_t> awaited;
    waiting.forEachWait(transfers.numbers().of(2, 2),
                        [&](const WaitEdge &edge) {
                          EXPECT_EQ(edge.reason, WaitReason::Input);
                          awaited.push_back(edge.target);
                        });
    EXPECT_EQ(awaited, std::vector<uint32_t>{transfers.numbers().of(2, 1)});
  }
  schedule.ranks[1].push_back(Step(StepKind::SendF, 1, 0));
  Transfers transfers(schedule, flow);
  EXPECT_TRUE(transfers.sound());
  EXPECT_TRUE(Waiting(schedule, transfers, WaitModel::Stream).ends());
}
