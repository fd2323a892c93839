//===- OrderTest.cpp - Orders of batches against their definition ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Order/BatchOrder.h"
#include "Order/ScheduleLists.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/RecordedKinds.h"
#include "Waiting/RandomSchedules.h"

#include "pipec/order.h"

#include "gtest/gtest.h"

#include <cmath>
#include <sstream>

using namespace pipec;
using namespace pipec::test;

namespace {

/// A random schedule with costs, and weights of its micro-batches in tenths.
struct RandomBatch {
  RandomBatch(Rng &rng, unsigned most) {
    RandomOptions options = randomOptions(rng);
    options.microbatches = 2 + pick(rng, most - 1);
    schedule = randomSchedule(rng, options);
    randomCosts(rng, schedule);
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::P2P, *Rational::make(pick(rng, 5), 2));
    if (oneIn(rng, 3))
      schedule.costs.set(Figure::Occupancy, *Rational::make(pick(rng, 5), 3));
    for (unsigned i = 0; i != schedule.numMicrobatches(); ++i) {
      weights.push_back(*Rational::make(pick(rng, 30), 10));
      sizes.push_back(*Rational::make(1 + pick(rng, 8), 4));
    }
  }

  /// The makespan of the schedule with the batch in this order.
  Rational simulated(const order::Order &order, DiagEngine &diags) const {
    Schedule own = schedule;
    for (auto [k, data] : llvm::enumerate(order))
      own.costs.set(Figure::Factor, weights[data],
                    {FigureScope::Microbatch, unsigned(k)});
    auto run = simulate(own, diags);
    EXPECT_TRUE(succeeded(run));
    return run->time(run->makespan());
  }
  /// The largest peak in this order, where an F keeps the size of its
  /// micro-batch until its B or W.
  Rational peak(const order::Order &order) const {
    Rational most = 0;
    for (const StepList &list : schedule.ranks) {
      Rational level = 0;
      for (size_t begin = 0; begin != list.size();) {
        size_t end = Schedule::groupEnd(list, begin);
        for (bool adds : {true, false})
          for (size_t i = begin; i != end; ++i) {
            Rational size = sizes[order[list[i].unit()]];
            if (adds && list[i].kind() == StepKind::F)
              level = *Rational::add(level, size);
            if (!adds && makesWeightGradient(list[i].kind()))
              level = *Rational::sub(level, size);
            most = std::max(most, level);
          }
        begin = end;
      }
    }
    return most;
  }

  BatchWeights batch(bool withSizes) const {
    BatchWeights batch;
    batch.weights.push_back({weights, {}});
    if (withSizes)
      batch.sizes = {sizes, {}};
    return batch;
  }

  Schedule schedule;
  std::vector<Rational> weights, sizes;
};

/// Values in parts of 1/`unit`.
order::Weights parts(const std::vector<Rational> &values, int64_t unit) {
  order::Weights weights;
  weights.unit = unit;
  std::vector<int64_t> &row = weights.rows.emplace_back();
  for (Rational value : values)
    row.push_back(Rational::mul(value, unit)->numerator());
  return weights;
}
order::Weights tenths(const std::vector<Rational> &values) {
  return parts(values, 10);
}

order::Order identity(size_t m) {
  order::Order order(m);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

} // namespace

TEST(Order, ReplaysEqualSimulations) {
  Rng rng(21);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  unsigned overlaps = 0;
  for (unsigned round = 0; round != 600; ++round) {
    RandomBatch random(rng, 6);
    auto lists = makeLists(random.schedule, diags);
    ASSERT_TRUE(succeeded(lists));
    order::Options options;
    options.sizes = parts(random.sizes, 4);
    order::Problem problem(*lists, tenths(random.weights), options);
    ASSERT_TRUE(problem.isGood() && problem.fits());
    order::Order order = identity(random.weights.size());
    for (unsigned i = 0; i != 3; ++i) {
      ASSERT_EQ(*Rational::make(problem.makespan(order), problem.timeUnit()),
                random.simulated(order, diags))
          << listing(random.schedule);
      ASSERT_EQ(*Rational::make(problem.peaks(order).most, problem.sizeUnit()),
                random.peak(order));
      std::shuffle(order.begin(), order.end(), rng);
    }
    for (const StepList &list : random.schedule.ranks)
      overlaps += llvm::any_of(list, [](Step step) { return step.joined(); });
  }
  EXPECT_GT(overlaps, 50u);
  EXPECT_EQ(diags.numErrors(), 0u);
}

TEST(Order, FactorsOfTheScheduleMoveWithTheBatch) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Rng rng(22);
  for (unsigned round = 0; round != 100; ++round) {
    RandomBatch random(rng, 4);
    Schedule other = random.schedule;
    BatchWeights ones = random.batch(false);
    for (auto [i, weight] : llvm::enumerate(random.weights)) {
      other.costs.set(Figure::Factor, weight,
                      {FigureScope::Microbatch, unsigned(i)});
      ones.weights[0].values[i] = 1;
    }
    auto a = findOrder(random.schedule, random.batch(false), 1, 1, diags);
    auto b = findOrder(other, ones, 1, 1, diags);
    ASSERT_TRUE(succeeded(a) && succeeded(b));
    ASSERT_EQ(a->makespan, b->makespan);
    ASSERT_EQ(a->given, b->given);
  }
}

TEST(Order, EqualsTheBestOfAllOrders) {
  Rng rng(23);
  RecordedKinds recorded;
  DiagEngine &diags = recorded.diags;
  unsigned limited = 0, refused = 0;
  for (unsigned round = 0; round != 150; ++round) {
    RandomBatch random(rng, 5);
    order::Order order = identity(random.weights.size());
    BatchWeights batch = random.batch(true);
    Rational given = random.simulated(order, diags);
    if (oneIn(rng, 2)) {
      batch.limit = random.peak(order);
      if (oneIn(rng, 2))
        batch.limit = Rational::sub(*batch.limit, *Rational::make(1, 4));
    }
    std::optional<Rational> best;
    do {
      if (batch.limit && random.peak(order) > *batch.limit)
        continue;
      Rational time = random.simulated(order, diags);
      best = best ? std::min(*best, time) : time;
    } while (std::next_permutation(order.begin(), order.end()));
    auto found = findOrder(random.schedule, batch, 1, 1, diags);
    ASSERT_EQ(succeeded(found), best.has_value());
    if (!best) {
      ++refused;
      continue;
    }
    limited += batch.limit.has_value();
    ASSERT_EQ(found->makespan, *best);
    ASSERT_EQ(found->given, given);
    ASSERT_TRUE(found->isOptimal());
    ASSERT_EQ(random.simulated(found->order, diags), *best);
    ASSERT_EQ(found->peak, random.peak(found->order));
  }
  EXPECT_GT(limited, 20u);
  EXPECT_GT(refused, 5u);
  EXPECT_EQ(diags.numErrors(), refused);
  EXPECT_EQ(recorded.kinds.front(), diag::Id(diag::OrderNoneFits));
}

TEST(Order, BoundHoldsForAllOrders) {
  Rng rng(24);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  unsigned equal = 0, rounds = 200;
  for (unsigned round = 0; round != rounds; ++round) {
    RandomBatch random(rng, 6);
    auto lists = makeLists(random.schedule, diags);
    ASSERT_TRUE(succeeded(lists));
    order::Weights weights = tenths(random.weights);
    if (oneIn(rng, 2))
      for (unsigned stage = 1; stage < random.schedule.numStages; ++stage) {
        weights.rows.push_back(weights.rows[0]);
        std::shuffle(weights.rows.back().begin(), weights.rows.back().end(),
                     rng);
      }
    order::Problem problem(*lists, weights, {});
    order::Order order = identity(random.weights.size());
    int64_t least = problem.makespan(order);
    while (std::next_permutation(order.begin(), order.end()))
      least = std::min(least, problem.makespan(order));
    order::Bound bound(problem);
    order::Order like = bound.relax(200, least);
    int64_t relaxed = bound.value();
    ASSERT_LE(relaxed, least);
    ASSERT_TRUE(std::is_permutation(like.begin(), like.end(), order.begin()));
    bound.split(2000, least);
    ASSERT_LE(bound.value(), least);
    ASSERT_GE(bound.value(), relaxed);
    equal += bound.value() == least;
  }
  EXPECT_GT(equal, rounds * 9 / 10);
}

TEST(Order, ListsAsText) {
  Rng rng(25);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  RandomBatch random(rng, 6);
  random.schedule.costs.set(Figure::Factor, 2, {FigureScope::Microbatch, 1});
  auto lists = makeLists(random.schedule, diags);
  ASSERT_TRUE(succeeded(lists));
  std::stringstream text, again;
  lists->write(text);
  order::Lists read;
  ASSERT_TRUE(read.read(text));
  read.write(again);
  EXPECT_EQ(text.str(), again.str());
  // Any shorter text is refused, and a job that refers to a later one.
  std::string whole = text.str();
  for (size_t end = 0; end < whole.size() - 2; end += 7) {
    std::istringstream part(whole.substr(0, end));
    order::Lists other;
    // The last number of a part may be cut.
    if (end == 0 || !isdigit(whole[end]) || !isdigit(whole[end - 1])) {
      EXPECT_FALSE(other.read(part)) << end;
    }
  }
  read.jobs[1].first = 1;
  EXPECT_FALSE(read.isValid());
}

TEST(Order, OtherNumbersAreInvalid) {
  order::Lists lists;
  lists.microbatches = 2;
  lists.costs.push_back({1, 0, 0});
  lists.add({0, 0, 0, 0, 0});
  lists.add({1, 0, 0, 0, 1});
  using State = order::Result::State;
  auto stateOf = [&](const order::Weights &weights,
                     const order::Options &options = {}) {
    return order::find(lists, weights, options).state;
  };
  EXPECT_EQ(stateOf(std::vector<double>{1, 2}), State::Found);
  EXPECT_EQ(stateOf(std::vector<double>{1}), State::Invalid);
  EXPECT_EQ(stateOf(std::vector<double>{1, -1}), State::Invalid);
  EXPECT_EQ(stateOf(std::vector<double>{1, std::nan("")}), State::Invalid);
  EXPECT_EQ(stateOf(std::vector<double>{1, 1e300}), State::Invalid);
  order::Options options;
  options.sizes = std::vector<double>{1};
  EXPECT_EQ(stateOf(std::vector<double>{1, 2}, options), State::Invalid);
  lists.costs[0].ticks = int64_t(1) << 60;
  EXPECT_EQ(stateOf(std::vector<double>{1, 2}), State::TooLarge);
}
