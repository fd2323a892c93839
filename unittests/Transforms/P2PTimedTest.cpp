//===- P2PTimedTest.cpp - The properties of insert-p2p{order=timed} -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/Replay.h"
#include "Simulation/Simulate.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/RandomSchedules.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <map>
#include <tuple>

using namespace pipec;
using namespace pipec::test;

namespace {

class P2PTimed : public testing::Test {
protected:
  /// `schedule` with its transfers in order of time.
  Schedule timed(const Schedule &schedule, P2PAt at, unsigned rounds = 0,
                 WaitModel model = WaitModel::Stream,
                 P2PFavor favor = P2PFavor::Sends) {
    Schedule result = schedule;
    InsertP2POptions options;
    options.order = P2POrder::Timed;
    options.at = at;
    options.rounds = rounds;
    options.model = modelOption(model);
    options.favor = favor;
    EXPECT_TRUE(succeeded(makeInsertP2P(options)->run(result, diags)));
    return result;
  }

  Schedule random() {
    RandomOptions options;
    options.ranks = 2 + pick(rng, 4);
    options.stages = options.ranks + pick(rng, 6);
    options.microbatches = 1 + pick(rng, 5);
    options.split = oneIn(rng, 2);
    options.overlaps = oneIn(rng, 2);
    Schedule schedule = randomSchedule(rng, options);
    randomCosts(rng, schedule);
    return schedule;
  }

  Rng rng{4711};
  SourceFiles files;
  std::string messages;
  DiagEngine diags{files,
                   [this](const Diagnostic &d) { messages += d.message; }};
};

} // namespace

// The schedule finishes under every model, no transfers are crossed, and all
// are in the right places: for any costs, with and without latency, for every
// choice of t, and after rounds.
TEST_F(P2PTimed, EndsUnderEveryModel) {
  for (unsigned round = 0; round != 3000; ++round) {
    Schedule schedule = random();
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::P2P,
                         *Rational::make(pick(rng, 9), 1 + pick(rng, 4)));
    P2PAt at = P2PAt(pick(rng, 3));
    unsigned rounds = oneIn(rng, 3) ? 1 + pick(rng, 3) : 0;
    Schedule placed = timed(schedule, at, rounds, allWaitModels[pick(rng, 4)],
                            P2PFavor(pick(rng, 2)));
    ASSERT_TRUE(succeeded(verify(placed, diags)))
        << messages << listing(placed);
    Transfers transfers(placed);
    ASSERT_TRUE(transfers.sound()) << listing(placed);
    ASSERT_TRUE(endsUnder(placed, transfers)[WaitModel::Stream])
        << listing(placed);
    for (WaitModel model : allWaitModels)
      ASSERT_TRUE(Waiting(placed, transfers, model).ends());
  }
}

// With an order per edge, the same holds for blocking receives and the models
// that they imply.
TEST_F(P2PTimed, EdgesEndUnderBlockingReceives) {
  unsigned onlyThere = 0;
  for (unsigned round = 0; round != 3000; ++round) {
    Schedule schedule = random();
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::P2P,
                         *Rational::make(pick(rng, 9), 1 + pick(rng, 4)));
    P2PAt at = P2PAt(pick(rng, 3));
    unsigned rounds = oneIn(rng, 3) ? 1 + pick(rng, 3) : 0;
    Schedule placed = timed(schedule, at, rounds, WaitModel::Blocking,
                            P2PFavor(pick(rng, 2)));
    ASSERT_TRUE(succeeded(verify(placed, diags)))
        << messages << listing(placed);
    Transfers transfers(placed);
    ASSERT_TRUE(transfers.sound()) << listing(placed);
    WaitOutcomes ends = endsUnder(placed, transfers);
    ASSERT_TRUE(ends[WaitModel::Blocking]) << listing(placed);
    ASSERT_TRUE(ends[WaitModel::Edge]) << listing(placed);
    onlyThere += !ends[WaitModel::Pair];
  }
  EXPECT_GT(onlyThere, 100u);
}

// With a run in which the ranks of a transfer meet, the same holds as for one
// order, and no other order is faster where both ranks wait.
TEST_F(P2PTimed, MeetingsAreFastest) {
  unsigned faster = 0;
  for (unsigned round = 0; round != 1000; ++round) {
    Schedule schedule = random();
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::P2P,
                         *Rational::make(pick(rng, 9), 1 + pick(rng, 4)));
    Schedule placed = timed(schedule, P2PAt(pick(rng, 3)), pick(rng, 3),
                            WaitModel::BlockingSends);
    ASSERT_TRUE(succeeded(verify(placed, diags)))
        << messages << listing(placed);
    Transfers transfers(placed);
    ASSERT_TRUE(transfers.sound()) << listing(placed);
    ASSERT_TRUE(endsUnder(placed, transfers)[WaitModel::Stream])
        << listing(placed);
    Rational time = Replay(placed, WaitModel::BlockingSends).makespan();
    Rational stream =
        Replay(timed(schedule, P2PAt::Need), WaitModel::BlockingSends)
            .makespan();
    ASSERT_LE(time, stream) << listing(placed);
    faster += time < stream;
  }
  EXPECT_GT(faster, 100u);
}

// Without latency, an order per edge does not increase the makespan, whatever
// the transfers are ordered by.
TEST_F(P2PTimed, EdgesCostNothing) {
  unsigned waiting = 0;
  for (unsigned round = 0; round != 500; ++round) {
    Schedule schedule = random();
    Rational free = Replay(schedule, std::nullopt).makespan();
    for (P2PAt at : {P2PAt::Need, P2PAt::Mid, P2PAt::Ready}) {
      Schedule placed = timed(schedule, at, 0, WaitModel::Blocking);
      for (WaitModel model : {WaitModel::Blocking, WaitModel::Edge})
        ASSERT_EQ(Replay(placed, model).makespan(), free) << listing(placed);
    }
    Schedule other = timed(schedule, P2PAt::Need);
    waiting += free < Replay(other, WaitModel::Blocking).makespan();
  }
  // Lists in one order for all ranks do increase it.
  EXPECT_GT(waiting, 20u);
}

// Without latency, ordering by need does not increase the makespan under the
// strictest model, and so under none.
TEST_F(P2PTimed, NeedCostsNothing) {
  unsigned waiting = 0;
  for (unsigned round = 0; round != 2000; ++round) {
    Schedule schedule = random();
    Rational free = Replay(schedule, std::nullopt).makespan();
    Schedule placed = timed(schedule, P2PAt::Need);
    Schedule late =
        timed(schedule, P2PAt::Need, 0, WaitModel::Stream, P2PFavor::Receives);
    for (WaitModel model : {WaitModel::Stream, WaitModel::Edge}) {
      ASSERT_EQ(Replay(placed, model).makespan(), free) << listing(placed);
      ASSERT_EQ(Replay(late, model).makespan(), free) << listing(late);
    }
    Schedule ready = timed(schedule, P2PAt::Ready);
    waiting += free < Replay(ready, WaitModel::Stream).makespan();
  }
  // Other choices increase it, so the test is not vacuous.
  EXPECT_GT(waiting, 50u);
}

// If receives are placed first, only other transfers for the same step, and
// sends, come between a receive and the step that uses it, unless steps take no
// time.
TEST_F(P2PTimed, ReceivesAreLast) {
  unsigned moved = 0;
  for (unsigned round = 0; round != 1000; ++round) {
    Schedule schedule = random();
    schedule.costs = {};
    for (Figure figure : {Figure::F, Figure::B, Figure::I, Figure::W})
      schedule.costs.set(figure, 1 + pick(rng, 5));
    schedule.costs.set(Figure::P2P, pick(rng, 4));
    Schedule placed =
        timed(schedule, P2PAt::Need, 0, WaitModel::Stream, P2PFavor::Receives);
    for (const StepList &list : placed.ranks) {
      std::vector<Step> waiting;
      for (size_t begin = 0, end; begin != list.size(); begin = end) {
        end = Schedule::groupEnd(list, begin);
        if (isRecv(list[begin].kind()))
          waiting.push_back(list[begin]);
        if (isP2P(list[begin].kind()))
          continue;
        for (Step receive : waiting)
          ASSERT_TRUE(
              llvm::any_of(llvm::ArrayRef(list).slice(begin, end - begin),
                           [&](Step step) {
                             return step.stage() == receive.stage() &&
                                    step.unit() == receive.unit();
                           }))
              << listing(placed);
        waiting.clear();
      }
    }
    Schedule early = timed(schedule, P2PAt::Need);
    moved += listing(early) != listing(placed);
  }
  EXPECT_GT(moved, 50u);
}

// On every rank the transfers are ordered by the start of their consumers, then
// by the end of their producers, in long lists with widely spread times.
TEST_F(P2PTimed, LongListsAreInOrder) {
  for (unsigned round = 0; round != 60; ++round) {
    RandomOptions options;
    options.ranks = 2 + pick(rng, 3);
    options.stages = options.ranks + pick(rng, 3);
    options.microbatches = 40 + pick(rng, 100);
    options.split = oneIn(rng, 2);
    Schedule schedule = randomSchedule(rng, options);
    randomCosts(rng, schedule);
    if (oneIn(rng, 3))
      schedule.costs.set(Figure::Factor, 1000000000,
                         {FigureScope::Microbatch, pick(rng, 40)});
    else if (oneIn(rng, 2)) // steps that produce nothing
      schedule.costs.set(Figure::B, 1500000000, {FigureScope::Stage, 0});
    auto simulation = simulate(schedule, diags);
    ASSERT_TRUE(succeeded(simulation)) << messages;
    // Starts and ends by the steps that were run.
    std::map<std::tuple<bool, unsigned, unsigned>, std::pair<int64_t, int64_t>>
        times;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      for (size_t i = 0; i != schedule.ranks[rank].size(); ++i)
        if (Step step = schedule.ranks[rank][i]; step.kind() != StepKind::W)
          times[{step.kind() == StepKind::F, step.stage(), step.unit()}] = {
              simulation->start(rank, i), simulation->end(rank, i)};
    Schedule placed = timed(schedule, P2PAt::Need);
    ASSERT_TRUE(succeeded(verify(placed, diags))) << messages;
    for (const StepList &list : placed.ranks) {
      std::pair<int64_t, int64_t> last;
      for (Step step : list) {
        if (!isP2P(step.kind()))
          continue;
        bool forward =
            step.kind() == StepKind::SendF || step.kind() == StepKind::RecvF;
        unsigned producer = step.stage(), consumer = producer;
        int on = forward ? 1 : -1;
        if (isSend(step.kind()))
          consumer += on;
        else
          producer -= on;
        std::pair own(times.at({forward, consumer, step.unit()}).first,
                      times.at({forward, producer, step.unit()}).second);
        ASSERT_LE(last, own);
        last = own;
      }
    }
  }
}

// Further rounds never increase the makespan under the model that they use.
TEST_F(P2PTimed, RoundsKeepTheBest) {
  unsigned better = 0;
  for (unsigned round = 0; round != 600; ++round) {
    Schedule schedule = random();
    schedule.costs.set(Figure::P2P,
                       *Rational::make(1 + pick(rng, 6), 1 + pick(rng, 4)));
    WaitModel model = allWaitModels[pick(rng, 2)];
    P2PAt at = P2PAt(pick(rng, 3));
    Rational best = Replay(timed(schedule, at), model).makespan();
    for (unsigned rounds = 1; rounds != 4; ++rounds) {
      Rational next =
          Replay(timed(schedule, at, rounds, model), model).makespan();
      ASSERT_LE(next, best);
      better += next < best;
      best = next;
    }
  }
  EXPECT_GT(better, 20u);
}
