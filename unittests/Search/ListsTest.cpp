//===- ListsTest.cpp - Lists with overlaps and recomputation --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the results and the bounds with the optimum over all lists of tiny
// problems, and the times and the memory with the simulator.
//
//===----------------------------------------------------------------------===//

#include "Search/ListProblem.h"
#include "Search/RandomProblems.h"
#include "Search/Relaxation.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Support/SourceFiles.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace pipec;
using namespace llvm;

namespace {

ScheduleHeader randomHeader(search::Random &random, unsigned ranks,
                            unsigned microbatches, Rational limit) {
  ScheduleHeader header;
  header.name = "lists";
  header.numRanks = header.numStages = ranks;
  header.numUnits = microbatches;
  header.placement = Placement({search::placementMap(false, ranks, 1)});
  for (unsigned stage = 0; stage != ranks; ++stage) {
    Place place{FigureScope::Stage, stage};
    for (Figure figure : {Figure::F, Figure::I, Figure::W, Figure::R})
      header.costs.set(figure, test::quarters(random, 2, 12), place);
    header.costs.set(Figure::B, test::quarters(random, 4, 20), place);
    header.memory.set(Figure::LiveF, 4, place);
    header.memory.set(Figure::Stash, test::quarters(random, 0, 6), place);
  }
  header.costs.set(Figure::P2P, test::quarters(random, 0, 3));
  header.costs.set(Figure::Overlap, *Rational::make(5 + random.below(4), 8));
  if (random.chance(30))
    header.costs.set(Figure::Factor, 2, {FigureScope::Microbatch, 1});
  header.memory.set(Figure::Limit, limit);
  return header;
}

bool fits(const Schedule &schedule, unsigned rank, DiagEngine &diags) {
  auto memory = MemoryModel::make(schedule, diags);
  return succeeded(memory) &&
         memory->peaks(rank).total <= *schedule.memory.limit(rank);
}

/// Which lists of a rank there are: with whole backwards, and if `forms` with
/// split ones, too; if `recomputes` with recomputation; with overlaps and any
/// order of the units, or if `plain` with ascending units of each direction.
struct ListKinds {
  bool recomputes = false, forms = false, plain = false;
};

/// All lists of one rank that fit its memory.
class AllLists {
public:
  AllLists(const ScheduleHeader &header, unsigned rank, ListKinds kinds,
           DiagEngine &diags)
      : header(header), rank(rank), kinds(kinds), diags(diags),
        states(header.numUnits) {
    Schedule sizes(header);
    for (unsigned unit = 0; unit != header.numUnits; ++unit) {
      stages.push_back(0);
      while (sizes.rankOf(stages.back(), unit) != rank)
        ++stages.back();
    }
    extend();
  }
  std::vector<StepList> lists;

private:
  /// What has run of a unit.
  enum State : uint8_t { None, Kept, Stashed, Again, HasGradient, Done };

  /// True if the unit before it of its direction has run its own step.
  bool isNext(unsigned unit, State before) const {
    return !kinds.plain || unit == 0 || stages[unit] != stages[unit - 1] ||
           (before == None ? states[unit - 1] != None
                           : states[unit - 1] >= HasGradient);
  }

  void extend() {
    if (all_of(states, [](State state) { return state == Done; })) {
      Schedule schedule(header);
      schedule.ranks.resize(header.numRanks);
      schedule.ranks[rank] = list;
      if (fits(schedule, rank, diags))
        lists.push_back(list);
      return;
    }
    for (unsigned unit = 0; unit != states.size(); ++unit) {
      State before = states[unit];
      if (!isNext(unit, before))
        continue;
      auto add = [&](StepKind kind, State after) {
        list.push_back(Step(kind, stages[unit], unit));
        states[unit] = after;
        extend();
        // The same as an overlap with the step before.
        if (!kinds.plain && list.size() > 1 &&
            canJoin(list[list.size() - 2], list.back())) {
          list[list.size() - 2].setJoined(true);
          extend();
          list[list.size() - 2].setJoined(false);
        }
        states[unit] = before;
        list.pop_back();
      };
      if (before == None) {
        add(StepKind::F, Kept);
        if (kinds.recomputes)
          add(StepKind::F, Stashed);
      } else if (before == Stashed) {
        add(StepKind::R, Again);
      } else if (before == HasGradient) {
        add(StepKind::W, Done);
      } else if (before != Done) {
        add(StepKind::B, Done);
        if (kinds.forms)
          add(StepKind::I, HasGradient);
      }
    }
  }
  bool canJoin(Step a, Step b) const {
    bool isFree = list.size() < 3 || !list[list.size() - 3].joined();
    auto isBackward = [](Step step) {
      return step.kind() == StepKind::B || step.kind() == StepKind::I;
    };
    bool isPair = (a.kind() == StepKind::F && isBackward(b)) ||
                  (isBackward(a) && b.kind() == StepKind::F);
    return isFree && isPair && a.unit() != b.unit();
  }

  const ScheduleHeader &header;
  unsigned rank;
  ListKinds kinds;
  DiagEngine &diags;
  std::vector<State> states;
  /// By unit, its stage on the rank.
  std::vector<unsigned> stages;
  StepList list;
};

/// Forwards, then backwards.
Schedule plainStart(const ScheduleHeader &header, bool isSplit) {
  Schedule start(header);
  start.ranks.resize(header.numRanks);
  auto add = [&](StepKind kind) {
    for (unsigned unit = 0; unit != header.numUnits; ++unit)
      for (unsigned stage = 0; stage != header.numStages; ++stage)
        start.ranks[start.rankOf(stage, unit)].push_back(
            Step(kind, stage, unit));
  };
  add(StepKind::F);
  if (isSplit) {
    add(StepKind::I);
    add(StepKind::W);
  } else {
    add(StepKind::B);
  }
  return start;
}

/// One micro-batch after the other.
Schedule tightStart(const ScheduleHeader &header) {
  Schedule start(header);
  start.ranks.resize(header.numRanks);
  for (unsigned unit = 0; unit != header.numUnits; ++unit)
    for (StepKind kind : {StepKind::F, StepKind::B})
      for (unsigned stage = 0; stage != header.numStages; ++stage)
        start.ranks[start.rankOf(stage, unit)].push_back(
            Step(kind, stage, unit));
  return start;
}

/// Searches, and compares what is found with the verifier and the simulator.
std::optional<Rational> searched(const ScheduleHeader &header,
                                 ArrayRef<Schedule> starts,
                                 search::ListMoves moves, uint64_t work,
                                 DiagEngine &diags) {
  auto problem = search::ListProblem::make(header, diags);
  EXPECT_TRUE(problem);
  std::vector<std::vector<search::ItemList>> lists;
  for (const Schedule &start : starts)
    lists.push_back(*problem->listsOf(start));
  search::Budget budget(work);
  search::FoundLists found =
      search::searchLists(*problem, lists, moves,
                          /*seed=*/1, /*bound=*/0, budget);
  if (found.lists.empty())
    return std::nullopt;
  Schedule schedule = problem->makeSchedule(found.lists);
  EXPECT_TRUE(succeeded(verify(schedule, diags)));
  auto run = simulate(schedule, diags);
  if (failed(run)) {
    ADD_FAILURE() << "what is found deadlocks";
    return std::nullopt;
  }
  EXPECT_EQ(run->time(run->makespan()), problem->time(found.makespan));
  for (unsigned rank = 0; rank != header.numRanks; ++rank)
    EXPECT_TRUE(fits(schedule, rank, diags)) << rank;
  EXPECT_EQ(problem->listsOf(schedule), found.lists);
  return problem->time(found.makespan);
}

TEST(Lists, AgreeWithAllLists) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  search::Random random(5);
  unsigned missed = 0, recomputed = 0, paired = 0;
  constexpr unsigned rounds = 30;
  for (unsigned round = 0; round != rounds; ++round) {
    ScheduleHeader header =
        randomHeader(random, 2, 2, *Rational::make(16 + random.below(16), 4));
    ListKinds kinds{.recomputes = true};
    AllLists first(header, 0, kinds, diags), second(header, 1, kinds, diags);
    std::optional<Rational> optimum;
    bool hasR = false, hasPair = false;
    Schedule both(header);
    both.ranks.resize(2);
    for (const StepList &a : first.lists)
      for (const StepList &b : second.lists) {
        both.ranks = {a, b};
        auto run = simulate(both, diags);
        if (failed(run))
          continue;
        Rational makespan = run->time(run->makespan());
        if (optimum && makespan >= *optimum)
          continue;
        optimum = makespan;
        hasR = both.has(step_facts::bit(StepKind::R));
        hasPair = any_of(both.ranks, [](const StepList &list) {
          return any_of(list, [](Step step) { return step.joined(); });
        });
      }
    ASSERT_TRUE(optimum);
    recomputed += hasR;
    paired += hasPair;
    search::ListMoves moves;
    moves.overlaps = moves.recomputes = true;
    std::optional<Rational> found = searched(header, tightStart(header), moves,
                                             search::workPerEffort / 50, diags);
    ASSERT_TRUE(found) << round;
    EXPECT_GE(*found, *optimum) << round;
    missed += *found != *optimum;
    // The bound without a limit also holds for lists that recompute.
    ScheduleHeader free = header;
    free.memory.set(Figure::Limit, 1000);
    auto model = search::makeModel(free, /*split=*/false, diags);
    ASSERT_TRUE(succeeded(model));
    search::LowerBound bound =
        search::relaxedBound(*model, /*mixed=*/false, *optimum,
                             search::Budget(search::workPerEffort / 100));
    EXPECT_LE(bound.bound, *optimum) << round;
  }
  EXPECT_LT(missed, 3u);
  EXPECT_GT(recomputed, 3u);
  EXPECT_GT(paired, 3u);
}

/// The least makespan of all lists of all ranks; empty if none can run.
std::optional<Rational> leastOf(const ScheduleHeader &header, ListKinds kinds,
                                DiagEngine &diags) {
  std::vector<AllLists> all;
  for (unsigned rank = 0; rank != header.numRanks; ++rank)
    all.emplace_back(header, rank, kinds, diags);
  std::optional<Rational> least;
  Schedule schedule(header);
  schedule.ranks.resize(header.numRanks);
  auto extend = [&](auto &self, unsigned rank) -> void {
    if (rank == header.numRanks) {
      auto run = simulate(schedule, diags);
      if (failed(run))
        return;
      Rational makespan = run->time(run->makespan());
      least = least ? std::min(*least, makespan) : makespan;
      return;
    }
    for (const StepList &list : all[rank].lists) {
      schedule.ranks[rank] = list;
      self(self, rank + 1);
    }
  };
  extend(extend, 0);
  return least;
}

TEST(Lists, AgreeWithAllListsOfTwoDirections) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  search::Random random(11);
  struct {
    unsigned ranks, microbatches;
    ListKinds kinds;
    unsigned rounds;
  } sizes[] = {{4, 2, {}, 2},
               {2, 2, {.forms = true, .plain = true}, 12},
               {2, 4, {.plain = true}, 3}};
  unsigned missed = 0, exact = 0, number = 0;
  for (const auto &size : sizes)
    for (unsigned round = 0; round != size.rounds; ++round, ++number) {
      // One or two micro-batches fit.
      ScheduleHeader header = randomHeader(
          random, size.ranks, size.microbatches, 4 * (1 + random.below(2)));
      std::vector<uint32_t> up = search::placementMap(false, size.ranks, 1);
      header.placement = Placement({up, {up.rbegin(), up.rend()}});
      if (size.kinds.plain) {
        header.costs.set(Figure::Overlap, 1);
        header.costs.set(Figure::Factor, 1, {FigureScope::Microbatch, 1});
      }
      std::optional<Rational> optimum = leastOf(header, size.kinds, diags);
      ASSERT_TRUE(optimum) << number;
      search::ListMoves moves;
      moves.overlaps = true;
      moves.forms = size.kinds.forms;
      std::vector<Schedule> starts;
      for (bool isSecondFirst : {false, true})
        starts.push_back(
            search::serialLists(header, moves.forms, isSecondFirst));
      std::optional<Rational> found = searched(
          header, starts, moves, search::workPerEffort / 50, diags);
      ASSERT_TRUE(found) << number;
      EXPECT_GE(*found, *optimum) << number;
      missed += *found != *optimum;
      auto model = search::makeModel(header, /*split=*/moves.forms, diags);
      ASSERT_TRUE(succeeded(model)) << number;
      search::LowerBound bound =
          search::relaxedBound(*model, moves.forms, *optimum,
                               search::Budget(search::workPerEffort / 100));
      EXPECT_LE(bound.bound, *optimum) << number;
      exact += bound.bound == *optimum;
      // Words have the steps of both directions.
      auto words = search::wordsOf(*model, tightStart(header));
      ASSERT_TRUE(words) << number;
      EXPECT_TRUE(
          succeeded(verify(search::makeSchedule(*model, *words), diags)));
    }
  EXPECT_LT(missed, 3u);
  EXPECT_GT(exact, 2u);
}

TEST(Lists, AreNeverWorseThanTheirStarts) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  search::Random random(9);
  unsigned better = 0;
  for (unsigned round = 0; round != 20; ++round) {
    ScheduleHeader header = randomHeader(random, 4, 8, 100);
    // Every second one has the stages of each rank in two directions.
    if (round % 2) {
      std::vector<uint32_t> up = search::placementMap(false, 4, 1), down = up;
      std::reverse(down.begin(), down.end());
      header.placement = Placement({up, down});
    }
    search::ListMoves moves;
    moves.overlaps = moves.recomputes = moves.forms = true;
    for (bool isSplit : {false, true}) {
      Schedule start = plainStart(header, isSplit);
      ASSERT_TRUE(succeeded(verify(start, diags)));
      auto run = simulate(start, diags);
      ASSERT_TRUE(succeeded(run));
      Rational before = run->time(run->makespan());
      for (Rational limit : {Rational(40), Rational(12)}) {
        header.memory.set(Figure::Limit, limit);
        std::optional<Rational> found =
            searched(header, {start}, moves, search::workPerEffort / 50, diags);
        // Eight forwards hold 32.
        EXPECT_EQ(found.has_value(), limit == Rational(40));
        if (!found)
          continue;
        EXPECT_LE(*found, before);
        better += *found < before;
      }
    }
  }
  EXPECT_GT(better, 30u);
}

TEST(Lists, RefuseWhatTheyCannotTime) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  search::Random random(3);
  ScheduleHeader header = randomHeader(random, 2, 2, 100);
  EXPECT_TRUE(search::ListProblem::make(header, diags));
  ScheduleHeader other = header;
  other.costs.set(Figure::Occupancy, 1);
  EXPECT_FALSE(search::ListProblem::make(other, diags));
  other = header;
  other.costs.set(Figure::Port, 1);
  EXPECT_FALSE(search::ListProblem::make(other, diags));
  other = header;
  other.numSlices = 2;
  EXPECT_FALSE(search::ListProblem::make(other, diags));
  other = header;
  other.costs.set(Figure::F, Rational(int64_t(1) << 45),
                  {FigureScope::Stage, 0});
  EXPECT_FALSE(search::ListProblem::make(other, diags));
  // A list does not have sends.
  Schedule sends = plainStart(header, false);
  sends.ranks[0].push_back(Step(StepKind::SendF, 0, 0));
  EXPECT_FALSE(search::ListProblem::make(header, diags)->listsOf(sends));
}

} // namespace
