//===- Examples.h - Programs to open in the live page --------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace pipec {

/// A program that the page offers.
struct ExampleProgram {
  /// The heading of its part of the menu.
  std::string group;
  /// Without the extension of its file.
  std::string name;
  std::string text;
};

/// The programs of examples/schedules, and those of the pages of the
/// documentation that teach the language, which are complete and without
/// errors: blocks that begin with "```pipe NAME.pipe".
std::vector<ExampleProgram> shippedExamples();

} // namespace pipec
