//===- SourceLoc.h - A source position in four bytes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>

namespace pipec {

/// A position in any file of a run, in four bytes: all files share one
/// numbering of bytes, and 0 means "no position". Steps store their source in
/// this form; `SourceFiles` converts it to an `SMLoc` and back.
struct SourceLoc {
  uint32_t offset = 0;
  bool isValid() const { return offset != 0; }
  friend bool operator==(SourceLoc, SourceLoc) = default;
};

} // namespace pipec
