//===- Lint.h - Every finding in one schedule -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_LINT_LINT_H
#define PIPEC_LINT_LINT_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"
#include "Waiting/WaitModel.h"

#include <array>
#include <optional>
#include <vector>

namespace pipec {

/// What `lint` looks for beside the verifier's errors, and how grave each
/// finding is where the grades of the engine do not say otherwise; nothing
/// means that it is not looked for.
struct LintOptions {
  /// What does not end under this model is an error; what does not end under a
  /// stricter one only, a warning.
  WaitModel require = WaitModel::Stream;
  /// The last stage runs its forwards out of micro-batch order: PyTorch then
  /// pairs losses with the wrong micro-batches.
  std::optional<Severity> lossOrder = Severity::Error;
  /// Parameters are gathered and given back unused.
  std::optional<Severity> unusedUnshard = Severity::Warning;
  /// An idle slot stands among transfers: PyTorch refuses the file.
  std::optional<Severity> idleSlot = Severity::Warning;
  /// There is no backward: PyTorch refuses the file.
  std::optional<Severity> forwardOnly = Severity::Note;
  /// No rank has a REDUCE_GRAD: PyTorch divides gradients there, so that they
  /// stay sums over the micro-batches.
  std::optional<Severity> noReduceGrad = Severity::Warning;
  /// In computes with idle slots, a step is in a slot that is not later than
  /// that of a result that it takes.
  std::optional<Severity> slotOrder = Severity::Note;
  /// A rank runs the micro-batches of a stage out of their order.
  std::optional<Severity> microbatchOrder = Severity::Note;
  /// A rank keeps more than the limit of the memory settings.
  std::optional<Severity> memoryLimit = Severity::Error;
};

/// What a schedule can be run with.
struct LintResult {
  /// By model: it ends, and nothing is unmatched or crossed.
  std::array<bool, 4> safe{};
  /// What is wrong with the list itself: the first error of each kind that the
  /// verifier reports, or that the list does not end under the model required.
  /// Findings of the rules above are not among them, whatever their severity.
  std::vector<Diagnostic> faults;
};

/// Runs all levels of the verifier and all models of waiting, and looks for
/// what trains wrongly without an error. Reports every finding; where PyTorch's
/// runtime was seen to do something particular with such a file, a note says
/// what (test/Torch/lint.py looks again). Linear in the steps.
LintResult lint(const Schedule &schedule, const LintOptions &options,
                DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_LINT_LINT_H
