//===- Schedule.cpp - A schedule as lists of steps ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/Schedule.h"

#include "Cost/UnitColumns.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

uint64_t Schedule::orderDigest() const {
  uint64_t digest = 0;
  auto add = [&](uint64_t word) {
    digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
    digest ^= digest >> 29;
  };
  for (const StepList &list : ranks) {
    add(~uint64_t(0));
    for (Step step : list)
      if (isCompute(step.kind()) || isP2P(step.kind()))
        add(uint64_t(step.unit()) << 36 | uint64_t(step.stage()) << 20 |
            uint64_t(step.port()) << 8 | uint64_t(step.kind()) << 1 |
            uint64_t(step.joined()));
  }
  return digest;
}

size_t Schedule::numSteps() const {
  size_t count = 0;
  for (const StepList &list : ranks)
    count += list.size();
  return count;
}

bool Schedule::has(uint32_t kinds) const {
  return any_of(ranks, [&](const StepList &list) {
    for (const Step &step : list)
      if (kinds >> unsigned(step.kind()) & 1)
        return true;
    return false;
  });
}

bool Schedule::holdsTied(unsigned rank, unsigned group) const {
  return any_of(ties[group], [&](unsigned stage) {
    return placement.rankOf(stage, 0) == rank;
  });
}

std::vector<unsigned> Schedule::tiedRanks(unsigned group) const {
  std::vector<unsigned> holders;
  for (unsigned stage : ties[group])
    holders.push_back(placement.rankOf(stage, 0));
  llvm::sort(holders);
  holders.erase(llvm::unique(holders), holders.end());
  return holders;
}

CostUse Schedule::costUse() const {
  CostUse use;
  unsigned split = directionSplit();
  std::vector<uint8_t> kinds(size_t(numStages) * placement.numDirections());
  for (const StepList &list : ranks)
    for (Step step : list)
      if (isCompute(step.kind()))
        kinds[step.stage() + (step.unit() >= split ? numStages : 0)] |=
            uint8_t(1u << unsigned(step.kind()));
  UnitColumns columns = UnitColumns::ofCosts(*this);
  for (unsigned d = 0; d != placement.numDirections(); ++d)
    for (unsigned stage = 0; stage != numStages; ++stage)
      for (UnitPlace unit : columns.places())
        use.add({stage, placement.rankOf(stage, d),
                 kinds[size_t(d) * numStages + stage], unit});
  return use;
}

LogicalResult setSlices(ModelSettings &schedule, unsigned slices,
                        SourceLoc place, DiagEngine &diags) {
  schedule.numSlices = slices;
  if (schedule.numUnits % slices == 0)
    return success();
  return diags.report(place, diag::SlicesUneven, schedule.name,
                      countText(schedule.numUnits, "micro-batch", "es"),
                      slices);
}

void warnOfCosts(ArrayRef<const Schedule *> schedules, DiagEngine &diags) {
  const Schedule *withRounding = nullptr, *withAssumed = nullptr;
  AssumedCosts assumed;
  for (const Schedule *schedule : schedules) {
    if (!withRounding && schedule->rounding.any())
      withRounding = schedule;
    AssumedCosts own = schedule->assumedCosts();
    if (!withAssumed && !own.empty())
      withAssumed = schedule;
    assumed.add(own);
  }
  auto locOf = [&](const Schedule &schedule) -> DiagLoc {
    return diags.sourceFiles().itemAt(schedule.source);
  };
  if (withRounding)
    warnOfRounding(withRounding->rounding, locOf(*withRounding), diags);
  if (withAssumed)
    warnOfAssumed(assumed, locOf(*withAssumed), diags);
}

unsigned Schedule::phaseIndex(StringRef phase) {
  auto it = find(phases, phase);
  if (it != phases.end())
    return it - phases.begin();
  phases.push_back(phase.str());
  return phases.size() - 1;
}

} // namespace pipec
