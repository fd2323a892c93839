//===- TerminalText.cpp - Text of users on a terminal ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/TerminalText.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Unicode.h"

using namespace llvm;

namespace pipec {

/// Calls `show` for every character of `text` with its width in columns, which
/// is negative for a character that cannot be shown.
static void
forEachCharacter(StringRef text,
                 function_ref<void(StringRef character, int columns)> show) {
  while (!text.empty()) {
    size_t size = 1;
    while (size != text.size() && isContinuationByte(text[size]))
      ++size;
    StringRef character = text.take_front(size);
    show(character, sys::unicode::columnWidthUTF8(character));
    text = text.drop_front(size);
  }
}

std::string terminalText(StringRef text) {
  std::string shown;
  forEachCharacter(text, [&](StringRef character, int columns) {
    if (character == "\t")
      shown += ' ';
    else if (columns < 0)
      shown += '?';
    else
      shown += character;
  });
  return shown;
}

size_t terminalWidth(StringRef text) {
  size_t width = 0;
  forEachCharacter(text, [&](StringRef, int columns) {
    width += columns > 0 ? columns : 1;
  });
  return width;
}

} // namespace pipec
