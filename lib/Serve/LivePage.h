//===- LivePage.h - The live page ----------------------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/DiagEngine.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// The initial contents of the live page, and its choices.
struct LiveFacts {
  /// The name of the file, for the title.
  std::string name;
  std::string program;
  /// Names and summaries of the schedules of the library, of the targets, and
  /// of the forms of backwards of a search.
  std::vector<std::pair<std::string, std::string>> library, targets, backwards;
  /// The targets with a pass that uses costs.
  std::vector<std::string> timedTargets;
};

/// The page, complete: it loads nothing but from the server's requests.
llvm::FailureOr<std::string> livePage(const LiveFacts &facts,
                                      DiagEngine &diags);

} // namespace pipec
