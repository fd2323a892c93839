//===- InsertTies.cpp - Adding sums of tied gradients ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The groups come in ascending order on every rank, after those that are there
// already, so all orders agree. A step is inserted after the last step of its
// rank that changes the gradients of a member, or at the end of the list. Only
// the lists of ranks with tied stages are copied.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// Adds the groups that are not `there` to the list of a rank.
static void insertTies(Schedule &schedule, unsigned rank,
                       const std::vector<bool> &there, TiePlace place) {
  std::vector<unsigned> groups;
  for (unsigned group = 0; group != there.size(); ++group)
    if (!there[group] && schedule.holdsTied(rank, group))
      groups.push_back(group);
  if (groups.empty())
    return;

  const StepList &list = schedule.ranks[rank];
  // By stage, the end of the last line that changes its gradients.
  std::vector<size_t> ready(schedule.numStages);
  size_t after = 0;
  for (size_t i = 0; i != list.size(); ++i) {
    StepKind kind = list[i].kind();
    if (kind == StepKind::ReduceGrad || makesWeightGradient(kind))
      ready[list[i].stage()] = Schedule::groupEnd(list, i);
    else if (streamOf(kind) == Stream::Tied)
      after = i + 1;
  }
  std::vector<AddedStep> added;
  for (unsigned group : groups) {
    for (unsigned stage : schedule.ties[group])
      after = std::max(after, ready[stage]);
    if (place == TiePlace::Last)
      after = list.size();
    Step like = after == 0 ? Step() : list[after - 1];
    added.push_back({after, Step(StepKind::ReduceTied, group, 0, like.phase(),
                                 like.source())});
  }
  insertSteps(schedule, rank, added);
}

LogicalResult runInsertTies(Schedule &schedule,
                            const InsertTiesOptions &options, DiagEngine &) {
  if (schedule.ties.empty() || schedule.forwardOnly)
    return success();
  std::vector<bool> there(schedule.ties.size());
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.stream() == Stream::Tied)
        there[step.stage()] = true;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    insertTies(schedule, rank, there, options.place);
  return success();
}

} // namespace pipec
