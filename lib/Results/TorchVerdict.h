//===- TorchVerdict.h - Which PyTorch takes a schedule ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_TORCHVERDICT_H
#define PIPEC_RESULTS_TORCHVERDICT_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"
#include "Target/TorchVersions.h"

#include <vector>

namespace pipec {

/// The format of PyTorch's `_load_csv` that fits the steps of `schedule`:
/// `compute_only` for a list of computes, to which PyTorch adds all other
/// steps, else `compute_comms`.
llvm::StringRef torchFormat(const Schedule &schedule);

/// Reports why the PyTorch of `version` does not load the CSV of `schedule`, in
/// the format that fits, or trains wrongly with it. Takes a schedule in which
/// lint finds no fault. Linear in the steps.
llvm::LogicalResult checkForTorch(const Schedule &schedule,
                                  const TorchVersion &version,
                                  DiagEngine &diags);

/// The same as a list; reports nothing.
std::vector<Diagnostic> reasonsAgainst(const Schedule &schedule,
                                       const TorchVersion &version,
                                       SourceFiles &files);

} // namespace pipec

#endif // PIPEC_RESULTS_TORCHVERDICT_H
