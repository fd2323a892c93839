//===- Lint.h - All checks of one schedule ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Frameworks/TorchVersions.h"
#include "IR/PresentRanks.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"
#include "Waiting/WaitModel.h"

#include <optional>
#include <vector>

namespace pipec {

/// What `lint` looks for in addition to errors of the verifier: a field per row
/// of LintRules.def with the severity of the findings, unless the grades of the
/// engine change it. Nothing disables the rule.
struct LintOptions {
  /// A deadlock under this model is an error, and one only under another of the
  /// first four models is a warning.
  WaitModel require = WaitModel::Stream;
  /// The ranks whose lists the schedule has. If some are absent, what can be
  /// judged without them is.
  PresentRanks present;
  /// Whether notes describe the effect of findings in PyTorch.
  bool forPyTorch = true;
#define PIPEC_LINT_RULE(Field, Kind, Default)                                  \
  std::optional<Severity> Field = Severity::Default;
#include "Lint/LintRules.def"

  /// Options for a framework other than PyTorch: without the rules about
  /// PyTorch's loader and training.
  static LintOptions withoutPyTorch();
};

/// The result of the checks.
struct LintResult {
  /// By model: true if the schedule finishes, and all transfers match and name
  /// the same tensors. If ranks are absent, transfers with them are not
  /// considered.
  WaitOutcomes safe;
  /// The errors of the list itself: the first error of each kind that the
  /// verifier reports, or that the list does not finish under the required
  /// model. Findings of the rules above are not included, whatever their
  /// severity.
  std::vector<Diagnostic> faults;
  /// For a schedule with transfers that finishes: the number of communicators
  /// with which it does, and whether no smaller one is possible
  /// (`neededCommunicators`); the smallest number of buffers per directed edge.
  std::optional<unsigned> communicators, buffers;
  bool fewest = false;
  /// The number of transfers of present ranks with absent ones.
  size_t unjudgedTransfers = 0;
};

/// Runs all levels of the verifier and all communication models, and looks for
/// schedules that train incorrectly without an error. Reports every finding. If
/// the effect of a finding on PyTorch's runtime is known, a note describes it
/// (test/Torch/lint.py verifies these effects). Linear in the steps.
LintResult lint(const Schedule &schedule, const LintOptions &options,
                DiagEngine &diags);

//===----------------------------------------------------------------------===//
// Verdicts about PyTorch
//===----------------------------------------------------------------------===//

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
