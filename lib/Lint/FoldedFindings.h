//===- FoldedFindings.h - Findings, one per statement -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/DiagEngine.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace pipec {

/// Collects the findings in a program, whose statements create steps on many
/// ranks. Findings of one kind and severity at one place become one, the first
/// of them, whose message is followed by the ranks. Its size is limited by that
/// of the program.
class FoldedFindings {
public:
  void add(const Diagnostic &finding);
  /// The findings, in the order of the first of each.
  std::vector<Diagnostic> take();

private:
  /// Kind, severity, the place, and the message if it does not name a step.
  using Key =
      std::tuple<diag::Id, Severity, const char *, const char *, std::string>;
  struct Folded {
    Diagnostic first;
    size_t count = 0;
    std::set<unsigned> ranks;
  };

  std::map<Key, size_t> numbers;
  std::vector<Folded> all;
};

} // namespace pipec
