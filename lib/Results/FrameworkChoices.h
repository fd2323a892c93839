//===- FrameworkChoices.h - The best schedule for each framework *- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_FRAMEWORKCHOICES_H
#define PIPEC_RESULTS_FRAMEWORKCHOICES_H

#include "Results/Candidates.h"

namespace pipec {

/// How the best schedule that a framework runs gets there.
struct FrameworkChoice {
  Framework framework;
  /// The title of the candidate.
  std::string schedule;
  /// The layout that makes it the best one; empty without layouts.
  std::string layout;
  RunsAs how;
  /// The commands that write it, in order; empty for a schedule of the
  /// framework itself.
  std::vector<std::string> commands;
  /// For such a schedule: the settings that choose it.
  std::string settings;
};

/// Chooses for each framework the first of `candidates` in a row that runs
/// there. `costs` are the options of the command line about costs, without
/// layouts and parts; `limit` is that about memory.
std::vector<FrameworkChoice>
chooseForFrameworks(llvm::ArrayRef<Candidate> candidates,
                    const CandidateOptions &options,
                    llvm::ArrayRef<std::string> costs, llvm::StringRef limit,
                    DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_RESULTS_FRAMEWORKCHOICES_H
