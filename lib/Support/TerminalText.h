//===- TerminalText.h - Text of users on a terminal -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, file names, comments and source lines may contain any bytes, including
// terminal escape sequences. These functions replace such bytes before text is
// shown.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec {

/// True for a byte of a character of UTF-8 after its first one.
inline bool isContinuationByte(char c) { return (c & 0xC0) == 0x80; }

/// `text` with each tab replaced by a space, and each other control character,
/// unprintable character and byte that is not UTF-8 by a `?`.
std::string terminalText(llvm::StringRef text);

/// The width of `terminalText(text)` in columns.
size_t terminalWidth(llvm::StringRef text);

} // namespace pipec
