//===- Words.h - Text of messages, for terminals and references -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pipec {

/// The most similar word among `candidates`, or the first of several; empty if
/// none is similar enough: at most a third of the letters may differ (inserted,
/// missing or exchanged), and at least one must match. If half or more differ,
/// as in short words, the first letters must be equal. Case is ignored.
llvm::StringRef nearestWord(llvm::StringRef word,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// All candidates that are as similar as that one, in their order.
std::vector<llvm::StringRef>
nearestWords(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);

/// True for the bytes of names: letters, digits and `_`.
inline bool isWordByte(char c) { return llvm::isAlnum(c) || c == '_'; }

/// The text, cut after 60 bytes if it has more than 80, for messages that quote
/// user input.
std::string shortened(llvm::StringRef text);

/// `word` as an argument on the command line of a shell, in quotes if it needs
/// them.
std::string shellWord(llvm::StringRef word);

/// `4 ranks`, `1 micro-batch`.
std::string countText(uint64_t number, llvm::StringRef noun,
                      llvm::StringRef plural = "s");

/// A number of bytes in the largest of GiB, MiB and KiB that it reaches,
/// `1.50 GiB`; below them `12 B`.
std::string bytesText(double size);

/// `0, 3, 7`.
std::string listText(llvm::ArrayRef<unsigned> numbers);

/// A path as a reference of RFC 3986: a `file:` URI if the path is absolute,
/// else a relative reference.
std::string uriOfPath(llvm::StringRef path);

/// The path of a `file:` URI. Any other URI is returned as it is: the name of a
/// text that has no file.
std::string pathOfUri(llvm::StringRef uri);

//===----------------------------------------------------------------------===//
// Text of users on a terminal
//
// Names, file names, comments and source lines may contain any bytes, including
// terminal escape sequences. These functions replace such bytes before text is
// shown.
//===----------------------------------------------------------------------===//

/// True for a byte of a character of UTF-8 after its first one.
inline bool isContinuationByte(char c) { return (c & 0xC0) == 0x80; }

/// `text` with each tab replaced by a space, and each other control character,
/// unprintable character and byte that is not UTF-8 by a `?`.
std::string terminalText(llvm::StringRef text);

/// The width of `terminalText(text)` in columns.
size_t terminalWidth(llvm::StringRef text);

} // namespace pipec
