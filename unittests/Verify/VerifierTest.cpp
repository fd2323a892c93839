//===- VerifierTest.cpp - The verifier against its definitions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verify/Verifier.h"
#include "IR/GraphSchedules.h"
#include "Verify/NaiveVerifier.h"
#include "Waiting/RandomSchedules.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

/// The verdict of one level. An error must be reported if and only if it is
/// negative.
bool verdict(const Schedule &schedule, VerifyLevel level) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  bool good = succeeded(verify(schedule, level, diags));
  EXPECT_EQ(good, diags.numErrors() == 0) << listing(schedule);
  return good;
}

bool verdict(const Schedule &schedule) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  return succeeded(verify(schedule, diags));
}

/// A correct schedule of a random stage graph.
Schedule drawGraph(Rng &rng, bool transfers) {
  Model model = randomGraph(rng);
  Schedule schedule = randomHeaderFor(rng, model);
  fillLists(rng, model, transfers, schedule);
  return schedule;
}

/// A correct schedule of random shape, sometimes forward-only.
Schedule draw(Rng &rng, bool transfers) {
  if (oneIn(rng, 4))
    return drawGraph(rng, transfers);
  RandomOptions options;
  options.ranks = 1 + pick(rng, 4);
  options.stages = options.ranks + pick(rng, 4);
  options.microbatches = 1 + pick(rng, 4);
  options.split = oneIn(rng, 2);
  options.overlaps = oneIn(rng, 2);
  options.transfers = transfers;
  options.twoWays = oneIn(rng, 4);
  Schedule schedule = randomSchedule(rng, options);
  if (oneIn(rng, 5)) {
    // Inference: removes all steps other than forwards.
    schedule.forwardOnly = true;
    for (StepList &list : schedule.ranks) {
      StepList kept;
      for (Step step : list)
        if (step.kind() == StepKind::F || step.kind() == StepKind::SendF ||
            step.kind() == StepKind::RecvF) {
          step.setJoined(false);
          kept.push_back(step);
        }
      list = kept;
    }
  }
  return schedule;
}

/// A step with one field changed, or a different step.
Step alter(Rng &rng, const Schedule &schedule, Step step) {
  unsigned stage = step.stage(), m = step.unit();
  StepKind kind = step.kind();
  switch (pick(rng, 3)) {
  case 0:
    stage = pick(rng, schedule.numStages);
    break;
  case 1:
    m = pick(rng, schedule.numUnits);
    break;
  default:
    if (isCompute(kind))
      kind = StepKind(pick(rng, 4));
    else if (isP2P(kind))
      kind = StepKind(unsigned(StepKind::SendF) + pick(rng, 4));
    else if (streamOf(kind) == Stream::Gather)
      kind = StepKind(unsigned(StepKind::Unshard) + pick(rng, 3));
  }
  Step altered(kind, stage, m, 0, step.source(), step.joined());
  if (isP2P(kind) && !schedule.graph.isChain())
    altered.setPort(pick(rng, 3));
  return altered;
}

/// Introduces an error in one place; groups remain groups.
void spoil(Rng &rng, Schedule &schedule) {
  unsigned rank = pick(rng, schedule.numRanks);
  StepList &list = schedule.ranks[rank];
  if (list.empty())
    return;
  size_t i = pick(rng, list.size());
  auto isLone = [&](size_t k) {
    return !list[k].joined() && (k == 0 || !list[k - 1].joined());
  };
  switch (pick(rng, 6)) {
  case 0:
    list[i] = alter(rng, schedule, list[i]);
    return;
  case 1:
    if (isLone(i))
      list.erase(list.begin() + i);
    return;
  case 2:
    if (isLone(i)) {
      Step step = list[i];
      StepList &other = schedule.ranks[pick(rng, schedule.numRanks)];
      size_t place = pick(rng, other.size() + 1);
      if (place == 0 || !other[place - 1].joined())
        other.insert(other.begin() + place, step);
    }
    return;
  case 3: // joins adjacent steps of one class
    if (i + 1 != list.size() && list[i].stream() != Stream::Gather &&
        list[i].kind() != StepKind::Bubble &&
        isCompute(list[i].kind()) == isCompute(list[i + 1].kind()) &&
        isP2P(list[i].kind()) == isP2P(list[i + 1].kind()))
      list[i].setJoined(true);
    return;
  default: {
    // Exchanges two steps, near or far, including their places in groups.
    size_t k = oneIn(rng, 2) ? std::min(i + 1, list.size() - 1)
                             : pick(rng, list.size());
    if (isCompute(list[i].kind()) != isCompute(list[k].kind()) &&
        !(isLone(i) && isLone(k)))
      return;
    bool a = list[i].joined(), b = list[k].joined();
    std::swap(list[i], list[k]);
    list[i].setJoined(a);
    list[k].setJoined(b);
  }
  }
}

void insertFsdp(Rng &rng, Schedule &schedule) {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    StepList &list = schedule.ranks[rank];
    for (unsigned s = 0; s != schedule.numStages; ++s) {
      bool held = false;
      for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
        held |= schedule.placement.rankOf(s, d) == rank;
      if (!held)
        continue;
      if (!schedule.forwardOnly)
        list.push_back(Step(StepKind::ReduceGrad, s, 0));
      if (!oneIn(rng, 3)) {
        list.insert(list.begin(), Step(StepKind::Unshard, s, 0));
        list.push_back(Step(StepKind::Reshard, s, 0));
      }
    }
  }
}

/// The verdicts of one level, compared with its definition.
struct Verdicts {
  VerifyLevel level;
  unsigned good = 0, bad = 0;

  /// Introduces up to three errors in a schedule that the level accepts.
  void spoilGood(Rng &rng, Schedule &schedule) const {
    ASSERT_TRUE(verdict(schedule, level)) << listing(schedule);
    for (unsigned n = pick(rng, 4); n != 0; --n)
      spoil(rng, schedule);
  }

  /// Compares and counts the verdict, unless it is not defined (`expected` is
  /// nothing): then the level only has to handle the schedule.
  void compare(const Schedule &schedule, std::optional<bool> expected) {
    bool found = verdict(schedule, level);
    if (!expected)
      return;
    ASSERT_EQ(found, *expected) << listing(schedule);
    ++(found ? good : bad);
  }
};

TEST(Verifier, ComputeIsAsDefined) {
  Rng rng(1);
  Verdicts verdicts{VerifyLevel::Compute};
  unsigned stuck = 0;
  for (unsigned i = 0; i != 10000; ++i) {
    Schedule schedule = draw(rng, /*transfers=*/false);
    ASSERT_TRUE(verdict(schedule)) << listing(schedule);
    ASSERT_NO_FATAL_FAILURE(verdicts.spoilGood(rng, schedule));
    bool expected = naiveCompute(schedule);
    ASSERT_NO_FATAL_FAILURE(verdicts.compare(schedule, expected));
    stuck += !expected && naiveCounts(schedule);
  }
  EXPECT_GT(verdicts.good, 1000u);
  EXPECT_GT(verdicts.bad, 1000u);
  EXPECT_GT(stuck, 250u);
}

TEST(Verifier, PlacedIsAsDefined) {
  Rng rng(2);
  Verdicts verdicts{VerifyLevel::Placed};
  for (unsigned i = 0; i != 12000; ++i) {
    Schedule schedule = draw(rng, /*transfers=*/true);
    ASSERT_NO_FATAL_FAILURE(verdicts.spoilGood(rng, schedule));
    // The level is only defined if the compute steps are correct.
    std::optional<bool> expected;
    if (naiveCounts(schedule))
      expected = naivePlaced(schedule);
    ASSERT_NO_FATAL_FAILURE(verdicts.compare(schedule, expected));
  }
  EXPECT_GT(verdicts.good, 800u);
  EXPECT_GT(verdicts.bad, 800u);
}

TEST(Verifier, ShardedIsAsDefined) {
  Rng rng(3);
  Verdicts verdicts{VerifyLevel::Sharded};
  for (unsigned i = 0; i != 8000; ++i) {
    Schedule schedule = draw(rng, /*transfers=*/oneIn(rng, 2));
    insertFsdp(rng, schedule);
    ASSERT_NO_FATAL_FAILURE(verdicts.spoilGood(rng, schedule));
    ASSERT_NO_FATAL_FAILURE(verdicts.compare(schedule, naiveSharded(schedule)));
  }
  EXPECT_GT(verdicts.good, 800u);
  EXPECT_GT(verdicts.bad, 800u);
}

/// Sets the start times of the lines so that they run one after the other, then
/// removes some times and changes others.
void addTimes(Rng &rng, Schedule &schedule) {
  schedule.times.resize(schedule.numRanks);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    schedule.times[rank].resize(schedule.ranks[rank].size());
  auto setLine = [&](unsigned rank, size_t begin, Rational time) {
    size_t end = Schedule::groupEnd(schedule.ranks[rank], begin);
    for (size_t k = begin; k != end; ++k)
      schedule.times[rank][k] = time;
  };
  Rational clock;
  for (auto [rank, begin] : naiveRun(schedule)) {
    setLine(rank, begin, clock);
    Step step = schedule.ranks[rank][begin];
    Rational cost = 0;
    for (size_t k = begin; k != Schedule::groupEnd(schedule.ranks[rank], begin);
         ++k)
      if (isCompute(step.kind()))
        cost = *Rational::add(
            cost, *schedule.costs.of(schedule.ranks[rank][k].kind(),
                                     schedule.ranks[rank][k].stage()));
    clock = *Rational::add(clock, cost);
    if (isCompute(step.kind()))
      clock = *Rational::add(clock, schedule.costs.general(Figure::P2P));
  }
  for (unsigned n = pick(rng, 6); n != 0; --n) {
    unsigned rank = pick(rng, schedule.numRanks);
    if (schedule.ranks[rank].empty())
      continue;
    size_t i = pick(rng, schedule.ranks[rank].size());
    while (i != 0 && schedule.ranks[rank][i - 1].joined())
      --i;
    if (oneIn(rng, 2)) {
      size_t end = Schedule::groupEnd(schedule.ranks[rank], i);
      for (size_t k = i; k != end; ++k)
        schedule.times[rank][k].reset();
    } else if (schedule.times[rank][i]) {
      setLine(rank, i,
              *Rational::add(*schedule.times[rank][i],
                             *Rational::make(int64_t(pick(rng, 9)) - 4, 3)));
    }
  }
}

TEST(Verifier, TimedIsAsDefined) {
  Rng rng(4);
  Verdicts verdicts{VerifyLevel::Timed};
  for (unsigned i = 0; i != 3000; ++i) {
    Schedule schedule = draw(rng, /*transfers=*/oneIn(rng, 2));
    randomCosts(rng, schedule);
    if (oneIn(rng, 2))
      schedule.costs.set(Figure::P2P, *Rational::make(pick(rng, 4), 3));
    addTimes(rng, schedule);
    ASSERT_NO_FATAL_FAILURE(verdicts.compare(schedule, naiveTimed(schedule)));
  }
  EXPECT_GT(verdicts.good, 300u);
  EXPECT_GT(verdicts.bad, 300u);
}

// Groups of any kind, and a list that ends within one: no input format can
// produce these, but the verifier must handle them.
TEST(Verifier, StrayJoins) {
  Rng rng(8);
  for (unsigned i = 0; i != 3000; ++i) {
    Schedule schedule = draw(rng, /*transfers=*/true);
    insertFsdp(rng, schedule);
    schedule.times.resize(schedule.numRanks);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      for (Step &step : schedule.ranks[rank])
        if (oneIn(rng, 4))
          step.setJoined(!step.joined());
      schedule.times[rank].assign(schedule.ranks[rank].size(), Rational(0));
    }
    for (VerifyLevel level :
         {VerifyLevel::Compute, VerifyLevel::Placed, VerifyLevel::Sharded,
          VerifyLevel::Tied, VerifyLevel::Timed})
      verdict(schedule, level);
    verdict(schedule);
  }
}

// A list may be long or its sizes large independently of each other; the cost
// is bounded by the steps in either case.
TEST(Verifier, ClaimedSizesCostNothing) {
  Schedule schedule;
  schedule.numRanks = 1;
  schedule.numStages = maxStages;
  schedule.numUnits = maxUnits;
  schedule.placement = Placement({std::vector<uint32_t>(maxStages, 0)});
  schedule.ranks.resize(1);
  for (StepKind kind : {StepKind::F, StepKind::SendF, StepKind::RecvB,
                        StepKind::I, StepKind::W, StepKind::ReduceGrad})
    schedule.ranks[0].push_back(Step(kind, 77, maxUnits - 1));
  schedule.times = {{Rational(0), {}, {}, Rational(3), {}, {}}};
  EXPECT_FALSE(verdict(schedule, VerifyLevel::Compute));
  EXPECT_FALSE(verdict(schedule, VerifyLevel::Placed));
  EXPECT_FALSE(verdict(schedule, VerifyLevel::Sharded));
  EXPECT_TRUE(verdict(schedule, VerifyLevel::Timed));
}

} // namespace
