//===- InsertTies.cpp - Adding sums of tied gradients ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   tie 0 2, stages 0 and 2 on ranks 0 and 2
//
//   B s0 m1                   B s0 m1
//   SEND_B s1 m1         ->   REDUCE_TIED t0
//                             SEND_B s1 m1
//
// The groups come in ascending order on every rank, after those that are there
// already, so all orders agree. A step is inserted after the last step of its
// rank that changes the gradients of a member, or at the end of the list.
//
// Needs: nothing. Ensures: level tied, if the list had it or has no
// REDUCE_TIED. Cost: linear in the steps; the lists of ranks with tied stages
// are copied.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class InsertTies : public Pass {
public:
  explicit InsertTies(const InsertTiesOptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &) override {
    if (schedule.ties.empty() || schedule.forwardOnly)
      return success();
    std::vector<bool> there(schedule.ties.size());
    for (const StepList &list : schedule.ranks)
      for (Step step : list)
        if (isTied(step.kind()))
          there[step.stage()] = true;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      insert(schedule, rank, there);
    return success();
  }

private:
  /// Adds the groups that are not `there` to the list of a rank.
  void insert(Schedule &schedule, unsigned rank,
              const std::vector<bool> &there) const {
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
      else if (isTied(kind))
        after = i + 1;
    }
    std::vector<AddedStep> added;
    for (unsigned group : groups) {
      for (unsigned stage : schedule.ties[group])
        after = std::max(after, ready[stage]);
      if (options.place == TiePlace::Last)
        after = list.size();
      Step like = after == 0 ? Step() : list[after - 1];
      added.push_back({after, Step(StepKind::ReduceTied, group, 0, like.phase(),
                                   like.source())});
    }
    insertSteps(schedule, rank, added);
  }

  InsertTiesOptions options;
};

} // namespace

std::unique_ptr<Pass> makeInsertTies(const InsertTiesOptions &options) {
  return std::make_unique<InsertTies>(options);
}

} // namespace pipec
