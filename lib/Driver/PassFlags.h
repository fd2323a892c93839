//===- PassFlags.h - Passes on the command line -----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_PASSFLAGS_H
#define PIPEC_DRIVER_PASSFLAGS_H

#include "Driver/Io.h"
#include "Driver/VerifySettings.h"
#include "Pass/PassManager.h"

namespace pipec {

/// The list of passes that the command line asks for: that of --target, or that
/// of --passes, or `otherwise`. Reports when both are given.
llvm::FailureOr<llvm::StringRef> choosePasses(const Arguments &args,
                                              llvm::StringRef otherwise,
                                              DiagEngine &diags);

/// Passes that are ready to run, and what is checked before and after them.
class PassRun {
public:
  /// Reads the options; `passes` is the list or the name of a target. What they
  /// ask to be printed goes to `err`, and what runs is said to the progress of
  /// `session`, which must outlive this. Reports every mistake.
  static llvm::FailureOr<PassRun> make(const Arguments &args,
                                       llvm::StringRef passes,
                                       llvm::raw_ostream &err,
                                       DiagSession &session);

  /// Verifies `schedule`, runs the passes and verifies the result, as asked.
  llvm::LogicalResult run(Schedule &schedule, DiagEngine &diags);

  /// True when costs have an effect on the result, or on what is printed on
  /// the way.
  bool usesCosts() const { return prints || manager.usesCosts(); }

private:
  PassRun(PassManager manager, VerifySettings check, bool prints,
          Progress &progress)
      : manager(std::move(manager)), check(std::move(check)), prints(prints),
        progress(&progress) {}

  PassManager manager;
  VerifySettings check;
  /// Schedules are printed before or after passes.
  bool prints;
  Progress *progress;
};

/// Prints the names of the passes and targets, one a line.
void printPassNames(llvm::raw_ostream &os);
/// Prints the passes and targets with their summaries and options, for
/// --help-passes.
void printPassHelp(llvm::raw_ostream &os);

} // namespace pipec

#endif // PIPEC_DRIVER_PASSFLAGS_H
