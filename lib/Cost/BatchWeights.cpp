//===- BatchWeights.cpp - The micro-batches of one batch ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/BatchWeights.h"

#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

using namespace llvm;

namespace pipec {

LogicalResult BatchWeights::check(unsigned stages, unsigned microbatches,
                                  DiagEngine &diags) const {
  bool good = true;
  auto checkRow = [&](const Row &row, StringRef what) {
    if (row.values.size() == microbatches)
      return;
    good = false;
    (void)diags.report(row.loc, diag::WeightCount,
                       countText(row.values.size(), what),
                       countText(microbatches, "micro-batch", "es"));
  };
  if (perStage && weights.size() != stages) {
    good = false;
    (void)diags.report(loc, diag::WeightCount,
                       countText(weights.size(), "list") + " of weights",
                       countText(stages, "stage"));
  }
  for (const Row &row : weights)
    checkRow(row, "weight");
  if (sizes)
    checkRow(*sizes, "size");
  return success(good);
}

} // namespace pipec
