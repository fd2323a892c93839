//===- GraphPassesTest.cpp - Passes and times of stage graphs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random graphs, placements and orders: what passes make of them is legal and
// complete, and the times of a simulation are those of the equations of the
// model, which are evaluated from the edges of the graph.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"
#include "IR/GraphSchedules.h"
#include "Import/Readers.h"
#include "Simulation/Replay.h"
#include "Simulation/Simulate.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

class GraphPasses : public testing::Test {
protected:
  /// An order of compute steps that can run, with random costs.
  Schedule random() {
    Model model = randomGraph(rng);
    Schedule schedule = randomHeaderFor(rng, model);
    // The chain has no other form.
    if (schedule.graph.containsChain(model.numStages) &&
        model.edges.size() + 1 == model.numStages)
      schedule.graph = StageGraph();
    fillLists(rng, model, /*transfers=*/false, schedule);
    randomCosts(rng, schedule);
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::P2P,
                         *Rational::make(pick(rng, 5), 1 + pick(rng, 4)));
    if (oneIn(rng, 3))
      run(*makeSplitBackward({}), schedule);
    return schedule;
  }

  void run(Pass &pass, Schedule &schedule) {
    EXPECT_TRUE(succeeded(pass.run(schedule, diags))) << messages;
  }

  Schedule withTransfers(const Schedule &schedule) {
    Schedule placed = schedule;
    InsertP2POptions options;
    options.order = P2POrder(pick(rng, 3));
    if (options.order == P2POrder::Column) {
      AlignBubblesOptions lockstep;
      lockstep.mode = AlignMode::Lockstep;
      run(*makeAlignBubbles(lockstep), placed);
    }
    if (options.order == P2POrder::Timed) {
      options.at = P2PAt(pick(rng, 3));
      options.favor = P2PFavor(pick(rng, 2));
      options.rounds = pick(rng, 3);
    }
    run(*makeInsertP2P(options), placed);
    ordered[unsigned(options.order)]++;
    return placed;
  }

  /// Exchanges a transfer and the next one of a list.
  void swapTransfers(Schedule &schedule) {
    StepList &list = schedule.ranks[pick(rng, schedule.numRanks)];
    std::vector<size_t> places;
    for (size_t i = 1; i < list.size(); ++i)
      if (isP2P(list[i - 1].kind()) && isP2P(list[i].kind()))
        places.push_back(i);
    if (!places.empty()) {
      size_t i = places[pick(rng, places.size())];
      std::swap(list[i - 1], list[i]);
    }
  }

  /// The number of data that go to another rank, by the edges.
  static unsigned countTransfers(const Schedule &schedule) {
    unsigned transfers = 0;
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      transfers += 2 * schedule.numUnits *
                   (schedule.placement.rankOf(edge.from, 0) !=
                    schedule.placement.rankOf(edge.to, 0));
    });
    return transfers;
  }

  static void expectTimes(const Schedule &schedule, const Simulation &run,
                          Replay replay) {
    ASSERT_EQ(run.time(run.makespan()), replay.makespan()) << listing(schedule);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      for (size_t i = 0; i != schedule.ranks[rank].size(); ++i)
        if (isCompute(schedule.ranks[rank][i].kind())) {
          ASSERT_EQ(run.time(run.start(rank, i)), replay.computeStart(rank, i))
              << "rank " << rank << ", " << i << listing(schedule);
        }
  }

  Rng rng{17};
  SourceFiles files;
  std::string messages;
  DiagEngine diags{files,
                   [this](const Diagnostic &d) { messages += d.message; }};
  unsigned ordered[3] = {};
};

} // namespace

TEST_F(GraphPasses, FreeArrivalEqualsDefinition) {
  for (unsigned round = 0; round != 800; ++round) {
    Schedule schedule = random();
    ASSERT_TRUE(succeeded(verify(schedule, diags)))
        << messages << listing(schedule);
    auto simulation = simulate(schedule, diags);
    ASSERT_TRUE(succeeded(simulation));
    expectTimes(schedule, *simulation, Replay(schedule, std::nullopt));
  }
}

TEST_F(GraphPasses, TransfersOfEveryOrder) {
  unsigned ends = 0, blocked = 0;
  for (unsigned round = 0; round != 1200; ++round) {
    Schedule schedule = random();
    Schedule placed = withTransfers(schedule);
    ASSERT_TRUE(succeeded(verify(placed, diags)))
        << messages << listing(placed);
    ASSERT_EQ(countP2P(placed), 2 * countTransfers(schedule))
        << listing(placed);
    Transfers transfers(placed, DataFlow(placed));
    ASSERT_TRUE(transfers.sound());
    // What ends under a model has the times of its definition, also with
    // transfers in other orders.
    Schedule swapped = placed;
    for (unsigned swaps = oneIn(rng, 2) ? 0 : 1 + pick(rng, 4); swaps; --swaps)
      swapTransfers(swapped);
    Transfers others(swapped, DataFlow(swapped));
    for (WaitModel model : allWaitModels) {
      if (!Waiting(swapped, others, model).ends()) {
        ASSERT_TRUE(failed(simulate(swapped, model, diags)));
        ++blocked;
        continue;
      }
      auto simulation = simulate(swapped, model, diags);
      ASSERT_TRUE(succeeded(simulation)) << messages;
      expectTimes(swapped, *simulation, Replay(swapped, model));
      ++ends;
    }
    messages.clear();

    // Waits and batches keep it legal, and the models' results as they are.
    Schedule waiting = placed;
    run(*makeInsertWaits({}), waiting);
    ASSERT_TRUE(succeeded(verify(waiting, diags)))
        << messages << listing(waiting);
    Schedule batched = placed;
    run(*makeBatchP2P({}), batched);
    ASSERT_TRUE(succeeded(verify(batched, diags)))
        << messages << listing(batched);
    ASSERT_EQ(countP2P(batched), countP2P(placed));
  }
  EXPECT_GT(ends, 3000u);
  EXPECT_GT(blocked, 20u);
  EXPECT_GT(*std::min_element(ordered, ordered + 3), 300u);
}

TEST_F(GraphPasses, TimedOrderEndsUnderEveryModel) {
  for (unsigned round = 0; round != 800; ++round) {
    Schedule schedule = random();
    InsertP2POptions options;
    options.order = P2POrder::Timed;
    options.favor = P2PFavor(pick(rng, 2));
    run(*makeInsertP2P(options), schedule);
    Transfers transfers(schedule, DataFlow(schedule));
    for (WaitModel model : allWaitModels)
      ASSERT_TRUE(Waiting(schedule, transfers, model).ends())
          << listing(schedule);
  }
}

// A CSV that is written without a warning is read as the same schedule.
TEST_F(GraphPasses, CsvRoundTrip) {
  unsigned same = 0, graphs = 0;
  for (unsigned round = 0; round != 800; ++round) {
    Schedule schedule = withTransfers(random());
    if (any_of(schedule.ranks,
               [](const StepList &list) { return list.empty(); }))
      continue;
    messages.clear();
    std::string text;
    raw_string_ostream os(text);
    ASSERT_TRUE(succeeded(emitCsv(schedule, os, diags)));
    ListOptions options;
    if (!messages.empty()) // the graph must be given
      schedule.graph.forEachEdge(
          schedule.numStages,
          [&](StageGraph::Edge edge) { options.graph.all.push_back(edge); });
    auto buffer = MemoryBuffer::getMemBufferCopy(text, "a.csv");
    Expected<StringRef> copy = files.add(std::move(buffer));
    ASSERT_TRUE(bool(copy));
    FailureOr<Schedule> read = importCsv(*copy, options, diags);
    ASSERT_TRUE(succeeded(read)) << messages << text;
    ASSERT_EQ(read->graph == schedule.graph, true) << text;
    ASSERT_EQ(read->numStages, schedule.numStages);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      ASSERT_EQ(read->ranks[rank].size(), schedule.ranks[rank].size());
      for (size_t i = 0; i != schedule.ranks[rank].size(); ++i)
        ASSERT_TRUE(read->ranks[rank][i].sameAction(schedule.ranks[rank][i]))
            << text;
    }
    ++(options.graph.empty() ? same : graphs);
  }
  EXPECT_GT(same, 100u);
  EXPECT_GT(graphs, 50u);
}
