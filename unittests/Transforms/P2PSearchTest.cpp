//===- P2PSearchTest.cpp - The properties of insert-p2p{order=search} -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/DataFlow.h"
#include "Simulation/Replay.h"
#include "Simulation/Simulate.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/RandomSchedules.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace pipec;
using namespace pipec::test;

namespace {

constexpr WaitModel searched[] = {WaitModel::Stream, WaitModel::Pair,
                                  WaitModel::Edge};

class P2PSearch : public testing::Test {
protected:
  Schedule placed(const Schedule &schedule, InsertP2POptions options) {
    Schedule result = schedule;
    EXPECT_TRUE(succeeded(makeInsertP2P(options)->run(result, diags)))
        << messages;
    return result;
  }
  Schedule search(const Schedule &schedule, WaitModel model,
                  unsigned effort = 1, P2PPost post = P2PPost::Early) {
    InsertP2POptions options;
    options.order = P2POrder::Search;
    options.model = modelOption(model);
    options.effort = effort;
    options.post = post;
    return placed(schedule, options);
  }

  /// A schedule with costs, zeros among them, and latencies of all edges.
  Schedule random(const RandomOptions &options) {
    Schedule schedule = randomSchedule(rng, options);
    randomCosts(rng, schedule);
    schedule.costs.set(Figure::P2P,
                       *Rational::make(pick(rng, 9), 1 + pick(rng, 4)));
    if (oneIn(rng, 3))
      for (unsigned edge = 0; edge != 3; ++edge) {
        unsigned from = pick(rng, options.ranks), to = pick(rng, options.ranks);
        if (from != to)
          schedule.costs.set(Figure::P2P,
                             *Rational::make(pick(rng, 12), 1 + pick(rng, 3)),
                             {FigureScope::Edge, from, to});
      }
    return schedule;
  }

  Rng rng{815};
  SourceFiles files;
  std::string messages;
  DiagEngine diags{files,
                   [this](const Diagnostic &d) { messages += d.message; }};
};

/// The lists in which the transfers of a schedule are in a given order on all
/// ranks, each send and receive as early as that permits. The sends of an order
/// precede the receives before which they may be.
class Orders {
public:
  explicit Orders(const Schedule &schedule) : schedule(schedule) {
    DataFlow flow(schedule);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (size_t begin = 0, end; begin != list.size(); begin = end) {
        end = Schedule::groupEnd(list, begin);
        for (size_t i = begin; i != end; ++i)
          for (const DataFlow::Port &port : flow.outputs(list[i]))
            if (port.transfers) {
              bool forward = list[i].kind() == StepKind::F;
              Step send(forward ? StepKind::SendF : StepKind::SendB,
                        list[i].stage(), list[i].unit());
              all.push_back({rank, port.rank, end, send,
                             DataFlow::otherEnd(send, *flow.transfer(send))});
            }
      }
    }
  }
  size_t size() const { return all.size(); }

  Schedule place(llvm::ArrayRef<unsigned> order) const {
    // What comes before each step of each list.
    std::vector<std::vector<StepList>> before(schedule.numRanks);
    std::vector<size_t> next(schedule.numRanks);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      before[rank].resize(schedule.ranks[rank].size() + 1);
    for (unsigned number : order) {
      const Transfer &own = all[number];
      next[own.from] = std::max(next[own.from], own.made);
      before[own.from][next[own.from]].push_back(own.send);
      before[own.to][next[own.to]].push_back(own.receive);
    }
    Schedule result{static_cast<const ScheduleHeader &>(schedule)};
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      StepList &list = result.ranks.emplace_back();
      for (size_t i = 0; i != before[rank].size(); ++i) {
        llvm::append_range(list, before[rank][i]);
        if (i != schedule.ranks[rank].size())
          list.push_back(schedule.ranks[rank][i]);
      }
    }
    return result;
  }

private:
  struct Transfer {
    unsigned from, to;
    /// The index after its producer.
    size_t made;
    Step send, receive;
  };

  const Schedule &schedule;
  std::vector<Transfer> all;
};

bool areSameComputes(const Schedule &a, const Schedule &b) {
  auto computes = [](const StepList &list) {
    StepList own;
    llvm::copy_if(list, std::back_inserter(own),
                  [](Step step) { return !isP2P(step.kind()); });
    return own;
  };
  return llvm::equal(a.ranks, b.ranks, [&](const auto &x, const auto &y) {
    return llvm::equal(computes(x), computes(y), [](Step s, Step t) {
      return s.sameAction(t) && s.source() == t.source();
    });
  });
}

} // namespace

// The result of the search is the best of all orders of all transfers, placed
// as early as possible, and no bound exceeds it.
TEST_F(P2PSearch, FindsTheBestOfAllOrders) {
  unsigned differs = 0, proven = 0, rounds = 0;
  while (rounds != 60) {
    RandomOptions options;
    options.ranks = 2 + pick(rng, 2);
    options.stages = options.ranks + pick(rng, 2);
    options.microbatches = 1 + pick(rng, 3);
    options.split = oneIn(rng, 2);
    options.overlaps = oneIn(rng, 3);
    Schedule schedule = random(options);
    Orders orders(schedule);
    if (orders.size() < 4 || orders.size() > 6)
      continue;
    ++rounds;
    WaitModel model = searched[pick(rng, 3)];
    std::optional<Rational> best, worst;
    std::vector<unsigned> order(orders.size());
    for (unsigned i = 0; i != order.size(); ++i)
      order[i] = i;
    do {
      Schedule tried = orders.place(order);
      Transfers transfers(tried);
      if (!transfers.sound() || !Waiting(tried, transfers, model).ends())
        continue;
      Rational makespan = Replay(tried, model).makespan();
      best = best ? std::min(*best, makespan) : makespan;
      worst = worst ? std::max(*worst, makespan) : makespan;
    } while (std::next_permutation(order.begin(), order.end()));
    ASSERT_TRUE(best);
    Schedule found = search(schedule, model);
    const PlacedTransfers *figures = found.placed();
    ASSERT_TRUE(figures);
    ASSERT_EQ(figures->makespan, *best)
        << waitModelName(model).str() << listing(schedule) << listing(found);
    ASSERT_TRUE(figures->bound);
    ASSERT_LE(*figures->bound, *best) << listing(schedule);
    differs += *best < *worst;
    proven += figures->isOptimal();
  }
  EXPECT_GT(differs, 20u);
  EXPECT_GT(proven, 50u);
}

// For any list and costs: the result is valid, finishes under the model, has
// the computes of the list, takes the time that the search says, and no more
// than any other order.
TEST_F(P2PSearch, IsNeverSlowerThanOtherOrders) {
  unsigned faster = 0;
  for (unsigned round = 0; round != 400; ++round) {
    RandomOptions options;
    options.ranks = 2 + pick(rng, 4);
    options.stages = options.ranks + pick(rng, 6);
    options.microbatches = 1 + pick(rng, 5);
    options.split = oneIn(rng, 2);
    options.overlaps = oneIn(rng, 2);
    options.twoWays = oneIn(rng, 4);
    Schedule schedule = random(options);
    WaitModel model = searched[pick(rng, 3)];
    P2PPost post = P2PPost(pick(rng, 2));
    Schedule found = search(schedule, model, pick(rng, 3) ? 0 : 1, post);
    ASSERT_TRUE(succeeded(verify(found, diags))) << messages << listing(found);
    Transfers transfers(found);
    ASSERT_TRUE(transfers.sound()) << listing(found);
    ASSERT_TRUE(Waiting(found, transfers, model).ends()) << listing(found);
    ASSERT_TRUE(areSameComputes(schedule, found)) << listing(found);
    const PlacedTransfers *figures = found.placed();
    ASSERT_TRUE(figures);
    ASSERT_EQ(figures->makespan, Replay(found, model).makespan());
    ASSERT_EQ(figures->free, Replay(schedule, std::nullopt).makespan());
    ASSERT_LE(*figures->bound, figures->makespan);
    ASSERT_LE(figures->free, *figures->bound);

    InsertP2POptions other;
    if (pick(rng, 4)) {
      other.order = P2POrder::Timed;
      other.at = P2PAt(pick(rng, 3));
      other.favor = P2PFavor(pick(rng, 2));
      other.rounds = pick(rng, 7);
      if (oneIn(rng, 2))
        other.model = modelOption(model);
    }
    Schedule placedOther = placed(schedule, other);
    if (!Waiting(placedOther, Transfers(placedOther), model).ends())
      continue;
    Rational makespan = Replay(placedOther, model).makespan();
    ASSERT_LE(figures->makespan, makespan) << listing(found);
    faster += figures->makespan < makespan;
  }
  EXPECT_GT(faster, 100u);
}

// The figures are dropped when the order of computes or transfers changes, and
// kept when other steps are added.
TEST_F(P2PSearch, FiguresBelongToTheList) {
  RandomOptions options;
  options.ranks = options.stages = 3;
  options.microbatches = 4;
  Schedule found = search(random(options), WaitModel::Stream);
  Schedule waiting = found;
  ASSERT_TRUE(succeeded(makeInsertWaits({})->run(waiting, diags))) << messages;
  ASSERT_TRUE(waiting.hasSendWaits());
  EXPECT_TRUE(waiting.placed());
  StepList &list = found.ranks[0];
  auto compute =
      llvm::find_if(list, [](Step s) { return isCompute(s.kind()); });
  auto transfer = llvm::find_if(list, [](Step s) { return isP2P(s.kind()); });
  std::iter_swap(compute, transfer);
  EXPECT_FALSE(found.placed());
}
