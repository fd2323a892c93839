//===- StageUse.cpp - The placement of partial lists ----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import/StageUse.h"

#include "IR/RegularPlacements.h"
#include "IR/Step.h"
#include "Support/Diagnostics/ImportDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace pipec {

FailureOr<std::vector<uint32_t>> completeMap(ArrayRef<StageUse> uses,
                                             unsigned numRanks,
                                             std::optional<unsigned> numStages,
                                             DiagEngine &diags) {
  // The first stage that contradicts a placement.
  auto misfit = [&](auto rankOf) {
    return find_if(uses, [&](const StageUse &use) {
      return use.rank != StageUse::nowhere &&
             use.rank != rankOf(&use - uses.data(), numRanks);
    });
  };
  const StageUse *inLoop = misfit(rankInLoop);
  const StageUse *inV = misfit(rankInLegs);
  if (inLoop != uses.end() && inV != uses.end()) {
    const StageUse *use = std::max(inLoop, inV);
    return diags.report(use->place, diag::PresentPlacement, use - uses.data(),
                        use->rank, numRanks);
  }
  size_t stages = numStages.value_or(
      std::min<size_t>(alignTo(uses.size(), numRanks), maxStages));
  std::vector<uint32_t> map(stages);
  for (unsigned stage = 0; stage != stages; ++stage)
    map[stage] = inLoop == uses.end() ? rankInLoop(stage, numRanks)
                                      : rankInLegs(stage, numRanks);
  return map;
}

} // namespace pipec
