//===- FormatLines.h - Lines of a formatted program -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FORMAT_FORMATLINES_H
#define PIPEC_FORMAT_FORMATLINES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace pipec::ast {

/// The columns that a line of code may take; comments may be longer.
inline constexpr size_t formatWidth = 100;

/// The part of a line in front of something that neighbouring lines align:
/// `let far` in front of `=`, `warmup` and `{ repeat w` in front of a brace.
struct LineHead {
  /// Only heads of one kind align with each other.
  unsigned kind;
  std::string text;
};

/// A line of output.
struct FormatLine {
  unsigned indent = 0;
  llvm::SmallVector<LineHead, 2> heads;
  /// What follows the heads; a line that is a comment is all body.
  std::string body;
  /// The comment behind the code, or empty.
  std::string comment;
  bool blankAbove = false;

  /// Columns of the code without padding, the indentation left out.
  size_t width() const;
};

/// Aligns the lines as docs/LangRef.md defines it under "Canonical form", and
/// writes them.
void printLines(std::vector<FormatLine> lines, llvm::raw_ostream &os);

} // namespace pipec::ast

#endif // PIPEC_FORMAT_FORMATLINES_H
