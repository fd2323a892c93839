//===- CsvText.cpp - The text of the cells of a CSV -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Import/CsvText.h"

using namespace llvm;

namespace pipec {

size_t countSeparators(StringRef line) {
  constexpr size_t block = 128;
  size_t count = 0;
  while (!line.empty()) {
    StringRef part = line.take_front(block);
    uint8_t sum = 0;
    for (char c : part)
      sum += uint8_t(c == ',') + uint8_t(c == ';');
    count += sum;
    line = line.drop_front(part.size());
  }
  return count;
}

/// The characters that Python's `strip` removes: those in ASCII, and the others
/// in UTF-8.
static constexpr StringLiteral blanks = " \t\v\f\r\x1c\x1d\x1e\x1f";
static constexpr StringLiteral wideBlanks[] = {
    // U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F
    // and U+3000
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80",
    "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84",
    "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88",
    "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8", "\xE2\x80\xA9",
    "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80",
};

/// `text` without the blanks at its beginning (`front`) or end.
template <bool front> static StringRef trimmed(StringRef text) {
  auto mayBeBlank = [](unsigned char c) { return c <= ' ' || c >= 0x80; };
  while (!text.empty() && mayBeBlank(front ? text.front() : text.back())) {
    StringRef rest = front ? text.ltrim(blanks) : text.rtrim(blanks);
    for (StringRef blank : wideBlanks)
      (void)(front ? rest.consume_front(blank) : rest.consume_back(blank));
    if (rest.size() == text.size())
      break;
    text = rest;
  }
  return text;
}

StringRef trimmedFront(StringRef text) { return trimmed<true>(text); }

StringRef cellTextOf(StringRef cell) {
  if (cell.starts_with("\"")) {
    StringRef inner = trimmed<false>(cell).drop_front();
    if (inner.consume_back("\"") && !inner.contains('"'))
      cell = inner;
  }
  return trimmed<false>(trimmed<true>(cell));
}

size_t csvCellLength(StringRef rest) {
  StringRef cell =
      rest.take_until([](char c) { return StringRef(",\r\n").contains(c); });
  cell = trimmed<false>(cell);
  // The closing quote of a quoted cell.
  if (!cell.starts_with("\""))
    cell.consume_back("\"");
  return cell.size();
}

} // namespace pipec
