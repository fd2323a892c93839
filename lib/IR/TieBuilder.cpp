//===- TieBuilder.cpp - Groups of tied stages from their members ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/TieBuilder.h"

#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LogicalResult TieBuilder::add(ArrayRef<int64_t> stages, SMRange where) {
  std::vector<unsigned> group;
  for (int64_t stage : stages) {
    if (stage < 0 || stage >= int64_t(numStages))
      return diags.report(where, diag::TieStageOutOfRange, stage,
                          countText(numStages, "stage"));
    if (is_contained(group, stage))
      return diags.report(where, diag::TieStageTwice, stage);
    group.push_back(unsigned(stage));
  }
  if (group.size() < 2)
    return diags.report(where, diag::TieOfOne, group.front());
  sort(group);
  if (auto same = find(groups, group); same != groups.end())
    return diags.report(where, diag::TieTwice)
        .note(ranges[same - groups.begin()], diag::NotePrevious);
  // The number of a group has the place of a stage in steps.
  if (groups.size() == numStages)
    return diags.report(where, diag::TooManyTies, numStages);
  groups.push_back(std::move(group));
  ranges.push_back(where);
  return success();
}

std::vector<std::vector<unsigned>> tiesOfLists(const Schedule &schedule) {
  std::vector<std::vector<unsigned>> groups;
  std::vector<size_t> last(schedule.numStages);
  for (const auto &[rank, list] : enumerate(schedule.ranks)) {
    if (none_of(list, [](Step step) { return step.stream() == Stream::Tied; }))
      continue;
    for (const auto &[index, step] : enumerate(list))
      if (makesWeightGradient(step.kind()))
        last[step.stage()] = index;
    for (const auto &[index, step] : enumerate(list)) {
      if (step.stream() != Stream::Tied)
        continue;
      if (step.stage() >= groups.size())
        groups.resize(step.stage() + 1);
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        if (schedule.placement.rankOf(stage, 0) == rank &&
            last[stage] < index && !is_contained(groups[step.stage()], stage))
          groups[step.stage()].push_back(stage);
    }
  }
  for (std::vector<unsigned> &group : groups)
    sort(group);
  return groups;
}

} // namespace pipec
