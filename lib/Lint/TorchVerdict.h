//===- TorchVerdict.h - Schedules that PyTorch accepts ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Frameworks/TorchVersions.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// The format of PyTorch's `_load_csv` for the steps of `schedule`:
/// `compute_only` for a list of computes, to which PyTorch adds all other
/// steps, otherwise `compute_comms`.
llvm::StringRef torchFormat(const Schedule &schedule);

/// Reports why PyTorch `version` does not load the CSV of `schedule` in that
/// format, or trains incorrectly with it. The schedule must have no faults
/// according to lint. Linear in the steps.
llvm::LogicalResult checkForTorch(const Schedule &schedule,
                                  const TorchVersion &version,
                                  DiagEngine &diags);

/// The errors that `check` reports to an engine of its own. They are not errors
/// of the run.
std::vector<Diagnostic> errorsOf(SourceFiles &files,
                                 llvm::function_ref<void(DiagEngine &)> check);

} // namespace pipec
