//===- OffsetMap.h - Code points to bytes -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/TerminalText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pipec {

/// Maps code points, which ANTLR counts, to bytes, which `SourceMgr` counts.
/// Stores nothing if the text is all ASCII.
class OffsetMap {
public:
  /// `text` must be valid UTF-8.
  explicit OffsetMap(llvm::StringRef text) : text(text) {
    if (llvm::all_of(text, [](char c) { return (c & 0x80) == 0; }))
      return;
    for (size_t i = 0; i != text.size(); ++i)
      if (!isContinuationByte(text[i]))
        offsets.push_back(i);
    offsets.push_back(text.size());
  }

  /// The byte offset of the code point with this index, which may be one past
  /// the last.
  size_t byteOffset(size_t codePoint) const {
    if (offsets.empty())
      return std::min(codePoint, text.size());
    return offsets[std::min(codePoint, offsets.size() - 1)];
  }
  /// The position of a code point in the text.
  llvm::SMLoc loc(size_t codePoint) const {
    return llvm::SMLoc::getFromPointer(text.data() + byteOffset(codePoint));
  }

private:
  llvm::StringRef text;
  /// The byte offset of every code point and of the end; empty for ASCII.
  std::vector<uint32_t> offsets;
};

} // namespace pipec
