//===- FrameworkChoices.h - The best schedule for each framework *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Compare/Candidates.h"

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

/// The options of the command line that the printed commands repeat.
struct CommandCosts {
  /// Those about costs, without layouts and parts.
  std::vector<std::string> options;
  /// The value of that about memory; empty without.
  std::string limit;
};

/// A search command for the model of `options`; `more` are its last words.
/// Without a layout, costs are per part.
std::string searchCommand(const SearchRequest &request,
                          llvm::StringRef placement, llvm::StringRef layout,
                          const CommandCosts &costs,
                          const CandidateOptions &options,
                          llvm::ArrayRef<std::string> more);

/// Chooses for each framework the first of `candidates` in a row that runs
/// there. If one that only pipec's executor runs comes before it, that one is a
/// further choice for the framework.
std::vector<FrameworkChoice>
chooseForFrameworks(llvm::ArrayRef<Candidate> candidates,
                    const CandidateOptions &options, const CommandCosts &costs,
                    DiagEngine &diags);

} // namespace pipec
