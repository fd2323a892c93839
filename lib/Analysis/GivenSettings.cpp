//===- GivenSettings.cpp - Costs from outside a schedule ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/GivenSettings.h"

#include "Analysis/ModelParts.h"

using namespace llvm;

namespace pipec {

CostSettings GivenSettings::allCosts() const {
  CostSettings all;
  for (const CostSettings &over : costs)
    all.merge(over);
  return all;
}

MemorySettings GivenSettings::allMemory() const {
  MemorySettings all;
  for (const MemorySettings &over : memory)
    all.merge(over);
  return all;
}

LogicalResult checkKeys(const GivenSettings &given, ModelSizes sizes,
                        DiagEngine &diags) {
  for (const GivenSettings::Key &key : given.keys) {
    StringRef what;
    unsigned size = sizes.ranks;
    switch (key.kind) {
    case GivenSettings::Key::Kind::Stage:
      what = given.perPart() ? "part" : "stage";
      size = given.perPart() ? given.numParts(sizes.ranks) : sizes.stages;
      break;
    case GivenSettings::Key::Kind::Rank:
      what = "rank";
      break;
    case GivenSettings::Key::Kind::Microbatch:
      what = "microbatch";
      size = sizes.microbatches;
      break;
    case GivenSettings::Key::Kind::Edge:
      what = "edge";
      break;
    }
    if (key.number >= size)
      return diags.report(key.source, diag::SettingOutOfRange, what, key.number,
                          "0.." + std::to_string(size));
  }
  return success();
}

/// Says that settings of the schedule itself are not used.
static void warnUnused(const Schedule &schedule, StringRef block,
                       DiagEngine &diags) {
  (void)diags.report(schedule.source, diag::OwnCostsUnused, block,
                     schedule.name);
}

LogicalResult applyCosts(Schedule &schedule, const GivenSettings &given,
                         DiagEngine &diags) {
  if (failed(checkKeys(given,
                       {schedule.numRanks, schedule.numStages,
                        schedule.numMicrobatches},
                       diags)))
    return failure();
  if (!given.perPart()) {
    for (const CostSettings &over : given.costs)
      schedule.costs.merge(over);
    return success();
  }
  if (!(schedule.costs == CostSettings()))
    warnUnused(schedule, "cost", diags);
  schedule.costParts = given.numParts(schedule.numRanks);
  auto spread =
      spreadCosts(given.allCosts(), schedule.costParts, schedule.numStages);
  if (!spread)
    return diags.report(schedule.source, diag::TimesTooLarge);
  schedule.costs = std::move(*spread);
  return success();
}

LogicalResult applyMemory(Schedule &schedule, const GivenSettings &given,
                          DiagEngine &diags) {
  if (!given.perPart()) {
    for (const MemorySettings &over : given.memory)
      schedule.memory.merge(over);
    return success();
  }
  MemorySettings all = given.allMemory();
  if (given.keepOwnSizes && all.empty())
    return success();
  if (!schedule.memory.empty())
    warnUnused(schedule, "memory", diags);
  auto spread = spreadMemory(all, given.numParts(schedule.numRanks),
                             schedule.numStages);
  if (!spread)
    return diags.report(schedule.source, diag::MemoryTooLarge);
  schedule.memory = std::move(*spread);
  return success();
}

} // namespace pipec
