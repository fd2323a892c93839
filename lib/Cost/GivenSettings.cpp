//===- GivenSettings.cpp - Costs from outside a schedule ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/GivenSettings.h"

#include "Cost/ModelParts.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"

using namespace llvm;

namespace pipec {

LogicalResult checkKeys(const GivenSettings &given, ModelSizes sizes,
                        DiagEngine &diags) {
  for (const GivenSettings::Key &key : given.keys) {
    bool part = key.scope == FigureScope::Stage && given.perPart();
    StringRef what = part ? "part" : infoOf(key.scope).word;
    unsigned size =
        part ? given.numParts(sizes.ranks) : countOf(key.scope, sizes);
    if (key.number >= size)
      return diags.report(key.source, diag::SettingOutOfRange, what, key.number,
                          "0.." + std::to_string(size));
  }
  return success();
}

/// Warns that settings of the schedule itself are not used.
static void warnUnused(const ModelSettings &settings, StringRef block,
                       DiagEngine &diags) {
  (void)diags.report(settings.source, diag::OwnCostsUnused, block,
                     settings.name);
}

LogicalResult applyCosts(ModelSettings &settings, const GivenSettings &given,
                         DiagEngine &diags) {
  if (failed(checkKeys(given, settings.sizes(), diags)))
    return failure();
  if (!given.perPart()) {
    for (const CostSettings &over : given.costs)
      settings.costs.merge(over);
    return success();
  }
  if (!(settings.costs == CostSettings()))
    warnUnused(settings, "cost", diags);
  settings.costParts = given.numParts(settings.numRanks);
  auto spread =
      spreadCosts(given.allCosts(), settings.costParts, settings.numStages);
  if (!spread)
    return diags.report(settings.source, diag::TimesTooLarge);
  settings.costs = std::move(*spread);
  return success();
}

LogicalResult applyMemory(ModelSettings &settings, const GivenSettings &given,
                          DiagEngine &diags) {
  if (!given.perPart()) {
    for (const MemorySettings &over : given.memory)
      settings.memory.merge(over);
    return success();
  }
  MemorySettings all = given.allMemory();
  if (given.keepOwnSizes && all.empty())
    return success();
  if (!settings.memory.empty())
    warnUnused(settings, "memory", diags);
  auto spread =
      spreadMemory(all, given.numParts(settings.numRanks), settings.numStages);
  if (!spread)
    return diags.report(settings.source, diag::MemoryTooLarge);
  settings.memory = std::move(*spread);
  return success();
}

} // namespace pipec
