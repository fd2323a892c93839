//===- Blocked.h - Reporting an order that cannot run -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/DataFlow.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pipec {

/// Reports an order that cannot run. `heads[r]` is the index in the list of
/// rank r of the group that waits, or the size of the list if none does.
/// `missing` returns the input of a step that has not been produced, or null.
/// Adds a note for each rank that waits, up to a limit.
InFlightDiagnostic
reportBlocked(const Schedule &schedule, const DataFlow &flow,
              llvm::ArrayRef<size_t> heads,
              llvm::function_ref<const DataFlow::Port *(Step)> missing,
              DiagEngine &diags);

/// The same after an `OrderWalk` that did not finish.
template <typename Walk>
InFlightDiagnostic reportBlocked(const Schedule &schedule, const Walk &walk,
                                 DiagEngine &diags) {
  std::vector<size_t> heads;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    heads.push_back(walk.group(rank));
  return reportBlocked(
      schedule, walk.flow(), heads,
      [&](Step step) { return walk.missingInput(step); }, diags);
}

} // namespace pipec
