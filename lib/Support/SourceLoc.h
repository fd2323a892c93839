//===- SourceLoc.h - A source position in four bytes ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_SOURCELOC_H
#define PIPEC_SUPPORT_SOURCELOC_H

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

#endif // PIPEC_SUPPORT_SOURCELOC_H
