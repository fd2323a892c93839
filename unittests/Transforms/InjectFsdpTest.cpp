//===- InjectFsdpTest.cpp - inject-fsdp against its definition ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/RandomSchedules.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace pipec;
using namespace pipec::test;

namespace {

/// What the pass is asked for.
struct Asked {
  unsigned maxActive = 3;
  std::optional<unsigned> prefetch;
  std::set<unsigned> managed;
};

/// A compute step, or the members of one overlap.
using Group = std::vector<Step>;

/// The steps around one group, as the definition gives them: by looking ahead
/// anew from each step, which costs the square of the length.
struct Around {
  std::vector<unsigned> reshards;
  std::vector<unsigned> unshards;
  Group group;
  std::vector<unsigned> reductions;
};

} // namespace

static std::vector<unsigned> stagesAhead(const std::vector<Group> &groups,
                                         size_t from, const Asked &asked) {
  std::vector<unsigned> stages;
  for (size_t i = from; i != groups.size(); ++i) {
    for (Step step : groups[i])
      if (asked.managed.count(step.stage()) &&
          !llvm::is_contained(stages, step.stage()))
        stages.push_back(step.stage());
    if (stages.size() >= asked.maxActive)
      break;
  }
  return stages;
}

/// The list by definition; the last element has no group, only what closes the
/// list.
static std::vector<Around> define(const std::vector<Group> &groups,
                                  const Asked &asked) {
  std::vector<Around> result(groups.size() + 1);
  std::set<unsigned> live;
  for (size_t i = 0; i != groups.size(); ++i) {
    std::vector<unsigned> next = stagesAhead(groups, i, asked);
    for (unsigned stage : live)
      if (!llvm::is_contained(next, stage))
        result[i].reshards.push_back(stage);
    for (unsigned stage : next)
      if (!live.count(stage))
        result[i].unshards.push_back(stage);
    live = std::set<unsigned>(next.begin(), next.end());
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

  // Later, never earlier: to `prefetch` steps before the first use.
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

TEST(InjectFsdp, EqualsItsDefinition) {
  Rng rng(7);
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  for (unsigned round = 0; round != 1500; ++round) {
    RandomOptions random;
    random.ranks = 1 + pick(rng, 3);
    random.stages = random.ranks * (1 + pick(rng, 4));
    random.microbatches = 1 + pick(rng, 5);
    random.split = oneIn(rng, 2);
    random.overlaps = oneIn(rng, 2);
    Schedule schedule = randomSchedule(rng, random);

    Asked asked;
    InjectFsdpOptions options;
    if (!oneIn(rng, 4)) {
      asked.maxActive = 1 + pick(rng, 6);
      options.maxActive = AtLeastOne{asked.maxActive};
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

    Schedule before = schedule;
    ASSERT_TRUE(succeeded(makeInjectFsdp(options)->run(schedule, diags)));
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      Schedule wanted = schedule;
      wanted.ranks[rank] = flatten(define(groupsOf(before.ranks[rank]), asked));
      ASSERT_EQ(listing(wanted), listing(schedule))
          << "max-active " << asked.maxActive << " prefetch "
          << (asked.prefetch ? int(*asked.prefetch) : -1);
    }
  }
}
