//===- InjectFsdpTest.cpp - inject-fsdp against its definition ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/Passes.h"
#include "Waiting/RandomSchedules.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace pipec;
using namespace pipec::test;

namespace {

/// The options of the pass.
struct Asked {
  unsigned maxActive = 3;
  /// The number of stages to gather ahead on the current rank.
  unsigned lookahead = 3;
  std::optional<unsigned> prefetch;
  std::set<unsigned> managed;
};

/// A compute step, or the members of one overlap.
using Group = std::vector<Step>;

/// The steps around one group according to the definition: looks ahead
/// separately from each step, which takes quadratic time.
struct Around {
  std::vector<unsigned> reshards;
  std::vector<unsigned> unshards;
  Group group;
  std::vector<unsigned> reductions;
};

} // namespace

static std::vector<unsigned> stagesAhead(const std::vector<Group> &groups,
                                         size_t from, unsigned count,
                                         const Asked &asked) {
  std::vector<unsigned> stages;
  for (size_t i = from; i != groups.size(); ++i) {
    for (Step step : groups[i])
      if (asked.managed.count(step.stage()) &&
          !llvm::is_contained(stages, step.stage()))
        stages.push_back(step.stage());
    if (stages.size() >= count)
      break;
  }
  return stages;
}

/// The list according to the definition. The last element has no group, only
/// the steps at the end of the list.
static std::vector<Around> define(const std::vector<Group> &groups,
                                  const Asked &asked) {
  std::vector<Around> result(groups.size() + 1);
  std::set<unsigned> live;
  for (size_t i = 0; i != groups.size(); ++i) {
    std::vector<unsigned> stay = stagesAhead(groups, i, asked.maxActive, asked);
    for (unsigned stage : live)
      if (!llvm::is_contained(stay, stage))
        result[i].reshards.push_back(stage);
    for (unsigned stage : result[i].reshards)
      live.erase(stage);
    for (unsigned stage : stagesAhead(groups, i, asked.lookahead, asked))
      if (live.insert(stage).second)
        result[i].unshards.push_back(stage);
    result[i].group = groups[i];
  }
  result.back().reshards.assign(live.begin(), live.end());

  std::map<unsigned, unsigned> total, seen;
  for (const Group &group : groups)
    for (Step step : group)
      total[step.stage()] += makesWeightGradient(step.kind());
  for (Around &around : result)
    for (Step step : around.group)
      if (makesWeightGradient(step.kind()) &&
          ++seen[step.stage()] == total[step.stage()])
        around.reductions.push_back(step.stage());

  // Only moves later: to `prefetch` steps before the first use.
  if (asked.prefetch) {
    std::vector<std::vector<std::pair<size_t, unsigned>>> moved(groups.size());
    for (size_t i = 0; i != groups.size(); ++i) {
      for (unsigned stage : result[i].unshards) {
        size_t use = i;
        while (llvm::none_of(groups[use],
                             [&](Step step) { return step.stage() == stage; }))
          ++use;
        size_t to = use < *asked.prefetch ? 0 : use - *asked.prefetch;
        moved[std::max(i, to)].push_back({use, stage});
      }
      result[i].unshards.clear();
    }
    for (size_t i = 0; i != groups.size(); ++i) {
      std::stable_sort(moved[i].begin(), moved[i].end(),
                       [](auto a, auto b) { return a.first < b.first; });
      for (auto [use, stage] : moved[i])
        result[i].unshards.push_back(stage);
    }
  }
  return result;
}

static StepList flatten(const std::vector<Around> &arounds) {
  StepList list;
  for (const Around &around : arounds) {
    for (unsigned stage : around.reshards)
      list.push_back(Step(StepKind::Reshard, stage, 0));
    for (unsigned stage : around.unshards)
      list.push_back(Step(StepKind::Unshard, stage, 0));
    list.insert(list.end(), around.group.begin(), around.group.end());
    for (unsigned stage : around.reductions)
      list.push_back(Step(StepKind::ReduceGrad, stage, 0));
  }
  return list;
}

static std::vector<Group> groupsOf(const StepList &list) {
  std::vector<Group> groups;
  for (size_t begin = 0; begin != list.size();) {
    size_t end = Schedule::groupEnd(list, begin);
    if (isCompute(list[begin].kind()))
      groups.push_back(Group(list.begin() + begin, list.begin() + end));
    begin = end;
  }
  return groups;
}

/// A random schedule of computes.
static Schedule randomComputes(Rng &rng) {
  RandomOptions random;
  random.ranks = 1 + pick(rng, 3);
  random.stages = random.ranks * (1 + pick(rng, 4));
  random.microbatches = 1 + pick(rng, 5);
  random.split = oneIn(rng, 2);
  random.overlaps = oneIn(rng, 2);
  return randomSchedule(rng, random);
}

/// Random options for `schedule`; sets `lookahead` to the number of each rank.
static InjectFsdpOptions randomOptions(Rng &rng, const Schedule &schedule,
                                       Asked &asked,
                                       std::vector<unsigned> &lookahead) {
  InjectFsdpOptions options;
  if (!oneIn(rng, 4)) {
    asked.maxActive = 1 + pick(rng, 6);
    options.maxActive = AtLeastOne{asked.maxActive};
  }
  lookahead.assign(schedule.numRanks, asked.maxActive);
  if (oneIn(rng, 3)) {
    options.lookahead.choice = LookaheadPolicy::Auto;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      lookahead[rank] = std::min(rank + 2, asked.maxActive);
  } else if (oneIn(rng, 2)) {
    for (unsigned &ahead : lookahead)
      ahead = 1 + pick(rng, asked.maxActive);
    options.lookahead.value = lookahead;
  }
  if (oneIn(rng, 2)) {
    asked.prefetch = pick(rng, 6);
    options.prefetch = OrAll<unsigned>{asked.prefetch};
  }
  bool all = oneIn(rng, 2);
  std::vector<unsigned> chosen;
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    if (all || oneIn(rng, 2)) {
      asked.managed.insert(stage);
      chosen.push_back(stage);
    }
  if (!all)
    options.stages = OrAll<std::vector<unsigned>>{chosen};
  return options;
}

TEST(InjectFsdp, EqualsItsDefinition) {
  Rng rng(7);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  for (unsigned round = 0; round != 1500; ++round) {
    Schedule schedule = randomComputes(rng);
    Asked asked;
    std::vector<unsigned> lookahead;
    InjectFsdpOptions options = randomOptions(rng, schedule, asked, lookahead);

    Schedule before = schedule;
    ASSERT_TRUE(succeeded(makeInjectFsdp(options)->run(schedule, diags)));
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      asked.lookahead = lookahead[rank];
      Schedule wanted = schedule;
      wanted.ranks[rank] = flatten(define(groupsOf(before.ranks[rank]), asked));
      ASSERT_EQ(listing(wanted), listing(schedule))
          << "max-active " << asked.maxActive << " lookahead "
          << asked.lookahead << " prefetch "
          << (asked.prefetch ? int(*asked.prefetch) : -1);
    }
  }
}

/// Removes the steps for which `drop` returns true.
template <typename Drop>
static void removeSteps(Schedule &schedule, Drop drop) {
  for (StepList &list : schedule.ranks)
    llvm::erase_if(list, [&](Step step) { return drop(step.kind()); });
}

// With transfers and idle slots, the inserted steps are those for the computes
// alone, and none of them waits for a transfer that the previous compute step
// does not wait for.
TEST(InjectFsdp, IgnoresTransfers) {
  Rng rng(8);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  unsigned moved = 0;
  for (unsigned round = 0; round != 1500; ++round) {
    Schedule computes = randomComputes(rng);
    Asked asked;
    std::vector<unsigned> lookahead;
    InjectFsdpOptions options = randomOptions(rng, computes, asked, lookahead);

    Schedule placed = computes;
    InsertP2POptions p2p;
    p2p.order = oneIn(rng, 2) ? P2POrder::Simulate : P2POrder::Timed;
    ASSERT_TRUE(succeeded(makeInsertP2P(p2p)->run(placed, diags)));
    if (oneIn(rng, 2))
      for (StepList &list : placed.ranks)
        for (unsigned count = pick(rng, 8); count; --count) {
          size_t at = pick(rng, list.size() + 1);
          if (at == 0 || !list[at - 1].joined())
            list.insert(list.begin() + at, Step(StepKind::Bubble, 0, 0));
        }
    ASSERT_TRUE(succeeded(makeInjectFsdp(options)->run(computes, diags)));
    ASSERT_TRUE(succeeded(makeInjectFsdp(options)->run(placed, diags)));

    for (const StepList &list : placed.ranks) {
      bool transfer = false, before = false;
      for (Step step : list) {
        bool fsdp = step.stream() == Stream::Gather;
        ASSERT_FALSE(transfer && fsdp) << listing(placed);
        moved += before && isP2P(step.kind());
        before = fsdp;
        transfer =
            isP2P(step.kind()) || (transfer && step.kind() == StepKind::Bubble);
      }
    }
    removeSteps(placed, [](StepKind kind) {
      return isP2P(kind) || kind == StepKind::Bubble;
    });
    ASSERT_EQ(listing(computes), listing(placed));
  }
  EXPECT_GT(moved, 1000u);
}
