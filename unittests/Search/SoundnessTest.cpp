//===- SoundnessTest.cpp - Bounds against all schedules -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/RandomProblems.h"
#include "Search/Search.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <optional>

using namespace pipec::search;
using namespace pipec::test;

namespace {

/// Tries all orders of all steps, of any micro-batch, and shares no code with
/// the search: the definition of a problem and no lemma.
class AllSchedules {
public:
  AllSchedules(const Problem &problem, Ticks limit)
      : problem(problem), limit(limit), free(problem.ranks),
        held(problem.ranks), work(problem.ranks) {
    for (unsigned kind = 0; kind != 3; ++kind)
      ends[kind].assign(problem.numStages(), std::vector<std::optional<Ticks>>(
                                                 problem.microbatches));
    for (unsigned stage = 0; stage != problem.numStages(); ++stage)
      for (unsigned kind = 0; kind != kinds(); ++kind)
        work[problem.map[stage]] +=
            problem.stages[stage].time[kind] * problem.microbatches;
    findTails();
  }

  /// Whether some schedule has a makespan of at most the limit; nothing when
  /// that takes too long to find out.
  std::optional<bool> any() {
    bool found = place(problem.numStages() * problem.microbatches * kinds(), 0);
    if (!found && nodes > maxNodes)
      return std::nullopt;
    return found;
  }

private:
  static constexpr unsigned maxNodes = 60'000;
  unsigned kinds() const { return problem.split ? 3 : 2; }

  /// What must follow the end of a step of one micro-batch.
  void findTails() {
    unsigned stages = problem.numStages();
    for (auto &list : tails)
      list.assign(stages, 0);
    auto time = [&](unsigned kind, unsigned stage) {
      return problem.stages[stage].time[kind];
    };
    for (unsigned s = 0; s != stages; ++s) {
      Ticks tail = problem.split ? time(LetterW, s) : 0;
      for (const Edge &edge : problem.edges)
        if (edge.to == s)
          tail = std::max(tail, edge.hopI + time(LetterI, edge.from) +
                                    tails[LetterI][edge.from]);
      tails[LetterI][s] = tail;
    }
    for (unsigned s = stages; s-- != 0;) {
      Ticks tail = time(LetterI, s) + tails[LetterI][s];
      for (const Edge &edge : problem.edges)
        if (edge.from == s)
          tail = std::max(tail, edge.hopF + time(LetterF, edge.to) +
                                    tails[LetterF][edge.to]);
      tails[LetterF][s] = tail;
    }
  }

  /// When the data of a step is there; nothing while it is not made.
  std::optional<Ticks> arrival(unsigned kind, unsigned stage, unsigned j) {
    if (kind == LetterW)
      return ends[LetterI][stage][j];
    std::optional<Ticks> there = 0;
    auto wait = [&](std::optional<Ticks> end, Ticks hop) {
      there = there && end ? std::optional(std::max(*there, *end + hop))
                           : std::nullopt;
    };
    for (const Edge &edge : problem.edges) {
      if (kind == LetterF && edge.to == stage)
        wait(ends[LetterF][edge.from][j], edge.hopF);
      if (kind == LetterI && edge.from == stage)
        wait(ends[LetterI][edge.to][j], edge.hopI);
    }
    if (kind == LetterI)
      wait(ends[LetterF][stage][j], 0);
    return there;
  }

  /// Places the remaining steps, in the order of their starts.
  bool place(unsigned left, Ticks since) {
    if (left == 0)
      return true;
    if (++nodes > maxNodes)
      return false;
    for (unsigned stage = 0; stage != problem.numStages(); ++stage) {
      unsigned rank = problem.map[stage];
      const StageFigures &own = problem.stages[stage];
      for (unsigned kind = 0; kind != kinds(); ++kind)
        for (unsigned j = 0; j != problem.microbatches; ++j) {
          if (ends[kind][stage][j])
            continue;
          std::optional<Ticks> data = arrival(kind, stage, j);
          if (!data)
            continue;
          // What the step leaves, and what it needs beyond what is held.
          Ticks change = kind == LetterF   ? own.givenByI + own.givenByW
                         : kind == LetterI ? -own.givenByI
                                           : -own.givenByW;
          Ticks taken = std::max<Ticks>(change, 0) + own.during[kind];
          if (held[rank] + taken > problem.caps[rank])
            continue;
          Ticks start = std::max(free[rank], *data);
          Ticks end = start + own.time[kind];
          Ticks tail = kind == LetterW ? 0 : tails[kind][stage];
          if (start < since || end + tail > limit || start + work[rank] > limit)
            continue;
          Ticks before = free[rank];
          ends[kind][stage][j] = end;
          free[rank] = end;
          held[rank] += change;
          work[rank] -= own.time[kind];
          bool found = place(left - 1, start);
          work[rank] += own.time[kind];
          held[rank] -= change;
          free[rank] = before;
          ends[kind][stage][j] = std::nullopt;
          if (found)
            return true;
        }
    }
    return false;
  }

  const Problem &problem;
  Ticks limit;
  unsigned nodes = 0;
  std::vector<std::vector<std::optional<Ticks>>> ends[3];
  std::vector<Ticks> free, held, work;
  std::vector<Ticks> tails[2];
};

} // namespace

/// Searches random problems, and compares each result with all schedules.
static void compareWithAllSchedules(uint64_t seed, const ProblemLimits &limits,
                                    unsigned percentOptimal) {
  Random random(seed);
  unsigned decided = 0, optimal = 0, total = 0;
  for (unsigned round = 0; round != 1000; ++round) {
    Problem problem = randomProblem(random, limits);
    SearchOptions options;
    options.seed = round;
    options.work = workPerEffort / 50;
    SearchResult result = search(problem, {}, options);
    ASSERT_TRUE(problem.isValid(result.best.words)) << round;
    ASSERT_LE(result.bound, result.best.makespan) << round;
    ++total;
    optimal += result.isOptimal();
    std::optional<bool> below = AllSchedules(problem, result.bound - 1).any();
    if (!below)
      continue;
    ASSERT_FALSE(*below) << round << ": a makespan below the bound "
                         << result.bound;
    ++decided;
    // What was found exists.
    std::optional<bool> there =
        AllSchedules(problem, result.best.makespan).any();
    ASSERT_TRUE(there.value_or(true)) << round;
  }
  EXPECT_GE(decided, 500u);
  EXPECT_GE(optimal * 100, total * percentOptimal);
}

TEST(Search, BoundIsBelowAllSchedules) {
  compareWithAllSchedules(7, ProblemLimits(), 95);
}

/// The same where steps take memory while they run, and I for their W.
TEST(Search, BoundIsBelowAllSchedulesWithMoreTakers) {
  ProblemLimits limits;
  limits.moreTakers = 100;
  compareWithAllSchedules(8, limits, 90);
  limits.ranks = 2;
  limits.chunks = 1;
  limits.spare = 6;
  compareWithAllSchedules(9, limits, 90);
}

/// With less room than one micro-batch needs there is no schedule at all.
TEST(Search, RoomForOneIsTheLeastOfAChain) {
  Random random(12);
  ProblemLimits limits;
  limits.moreTakers = 100;
  limits.graphs = 0;
  limits.microbatches = 2;
  limits.steps = 12;
  unsigned decided = 0;
  for (unsigned round = 0; round != 400; ++round) {
    Problem problem = randomProblem(random, limits);
    problem.caps.assign(problem.ranks, 1000);
    unsigned rank = random.below(problem.ranks);
    problem.caps[rank] = problem.roomForOne(rank);
    if (problem.caps[rank] == 0)
      continue;
    Ticks enough = 1000;
    std::optional<bool> fits = AllSchedules(problem, enough).any();
    ASSERT_TRUE(fits.value_or(true)) << round;
    --problem.caps[rank];
    std::optional<bool> tooLittle = AllSchedules(problem, enough).any();
    ASSERT_FALSE(tooLittle.value_or(false)) << round;
    decided += fits.has_value() && tooLittle.has_value();
  }
  EXPECT_GE(decided, 300u);
}

/// The same where W gives memory back and room is small, so that W must run
/// before an F.
TEST(Search, BoundIsBelowAllSchedulesThatWaitForW) {
  Random random(11);
  ProblemLimits limits;
  limits.ranks = 2;
  limits.chunks = 1;
  limits.spare = 2;
  unsigned decided = 0;
  for (unsigned round = 0; round != 3000; ++round) {
    Problem problem = randomProblem(random, limits);
    Ticks given = 0;
    for (const StageFigures &own : problem.stages)
      given += own.givenByW;
    if (!problem.split || given == 0 || problem.microbatches < 2)
      continue;
    SearchOptions options;
    options.seed = round;
    options.work = workPerEffort / 200;
    Ticks bound = search(problem, {}, options).bound;
    std::optional<bool> below = AllSchedules(problem, bound - 1).any();
    ASSERT_FALSE(below.value_or(false))
        << round << ": a makespan below the bound " << bound;
    decided += below.has_value();
  }
  EXPECT_GE(decided, 500u);
}

/// Charges need no search: any number of them is a bound.
TEST(Search, ChargesAreBelowAllSchedules) {
  Random random(13);
  ProblemLimits limits;
  limits.spare = 2;
  unsigned decided = 0, tight = 0;
  for (unsigned round = 0; round != 1500; ++round) {
    limits.moreTakers = round % 3 == 2 ? 100 : 0;
    Problem problem = randomProblem(random, limits);
    Budget budget(workPerEffort / 100);
    auto found = boundByCharges(problem, 0, Problem::maxTicks, budget);
    if (!found)
      continue;
    std::optional<bool> below = AllSchedules(problem, found->bound - 1).any();
    ASSERT_FALSE(below.value_or(false))
        << round << ": a makespan below the bound " << found->bound;
    decided += below.has_value();
    tight += AllSchedules(problem, found->bound).any().value_or(false);
  }
  EXPECT_GE(decided, 800u);
  // Most bounds are those of schedules.
  EXPECT_GE(tight * 2, decided);
}
