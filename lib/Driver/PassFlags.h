//===- PassFlags.h - Passes on the command line -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Io.h"
#include "Pass/PassManager.h"
#include "Verify/Verifier.h"

namespace pipec {

/// The value of `--verify=compute,placed,...`. `--verify=none` disables all
/// checks. Without the option, all levels that apply to the steps of a schedule
/// are checked.
struct VerifySettings {
  /// Check the levels that apply.
  bool all = true;
  /// Otherwise these levels, even if they do not apply.
  std::vector<VerifyLevel> levels;

  bool any() const { return all || !levels.empty(); }

  /// Reads the values of `--verify`.
  static llvm::FailureOr<VerifySettings> read(const Arguments &args,
                                              DiagEngine &diags);

  /// Verifies `schedule` accordingly; reports the level timed without times.
  llvm::LogicalResult run(const Schedule &schedule, DiagEngine &diags) const;

  /// Warns about properties of a verified schedule that are not errors but that
  /// training loops do not expect; has no effect if all checks are disabled.
  void warn(const Schedule &schedule, DiagEngine &diags) const;
};

/// Passes that are ready to run, and the checks before and after them.
class PassRun {
public:
  /// Reads the options; `passes` is the list or the name of a target. Output
  /// that they request goes to `err`, and the running pass is shown on the
  /// progress line of `session`, which must outlive this object. Reports all
  /// errors.
  static llvm::FailureOr<PassRun> make(const Arguments &args,
                                       llvm::StringRef passes,
                                       llvm::raw_ostream &err,
                                       DiagSession &session);

  /// Verifies `schedule`, runs the passes and verifies the result, as specified
  /// by the options.
  llvm::LogicalResult run(Schedule &schedule, DiagEngine &diags);

  /// True if costs affect the result, or the output during the run.
  bool usesCosts() const { return prints || manager.usesCosts(); }

private:
  PassRun(PassManager manager, VerifySettings check, bool prints,
          Progress &progress)
      : manager(std::move(manager)), check(std::move(check)), prints(prints),
        progress(&progress) {}

  PassManager manager;
  VerifySettings check;
  /// True if schedules are printed before or after passes.
  bool prints;
  Progress *progress;
};

/// Prints the names of the passes and targets, one per line.
void printPassNames(llvm::raw_ostream &os);
/// Prints the passes and targets with their summaries and options, for
/// --help-passes.
void printPassHelp(llvm::raw_ostream &os);

} // namespace pipec
