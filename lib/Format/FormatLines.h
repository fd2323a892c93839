//===- FormatLines.h - Lines of a formatted program -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace pipec::ast {

/// The maximum number of columns of a line of code; comments may be longer.
inline constexpr size_t formatWidth = 100;

/// The part of a line before an element that consecutive lines align: `let far`
/// before `=`, `warmup` and `{ repeat w` before a brace.
struct LineHead {
  /// Only heads of the same kind are aligned.
  unsigned kind;
  std::string text;
};

/// A line of output.
struct FormatLine {
  unsigned indent = 0;
  /// The line after its heads. A line that is a comment consists of the body.
  std::string body = {};
  llvm::SmallVector<LineHead, 2> heads = {};
  /// The comment after the code, or empty.
  std::string comment = {};
  bool blankAbove = false;

  /// The number of columns of the code without padding and indentation.
  size_t width() const;
};

/// Aligns the lines as defined in docs/LangRef.md under "Canonical form", and
/// writes them.
void printLines(std::vector<FormatLine> lines, llvm::raw_ostream &os);

} // namespace pipec::ast
