//===- StepCursor.h - Reading words and numbers of step IR ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions for words, numbers and names that the header and the steps
// share. They work on the bytes of the file, which end in a NUL, and allocate
// memory only to report an error or to store a name.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"
#include "Support/Rational.h"

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace pipec {

/// True for letters, digits and `_`.
inline constexpr std::array<bool, 256> wordBytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c)
    table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c)
    table[c] = table[c - 'A' + 'a'] = true;
  table['_'] = true;
  return table;
}();

/// A position in the text. Functions that read return nothing (or false) after
/// they have reported an error.
class StepsCursor {
public:
  StepsCursor(llvm::StringRef text, DiagEngine &diags)
      : p(text.begin()), end(text.end()), diags(diags) {}

  static bool isWordByte(char c) { return wordBytes[uint8_t(c)]; }

  bool atEnd() const { return p == end; }
  const char *here() const { return p; }
  llvm::SMLoc loc() const { return llvm::SMLoc::getFromPointer(p); }
  static llvm::SMRange rangeOf(llvm::StringRef text) {
    return {llvm::SMLoc::getFromPointer(text.begin()),
            llvm::SMLoc::getFromPointer(text.end())};
  }
  /// The text from `begin` to the current position.
  llvm::StringRef since(const char *begin) const {
    return {begin, size_t(p - begin)};
  }

  /// Skips blanks, but not line breaks.
  void skipBlanks() {
    while (*p == ' ' || *p == '\t')
      ++p;
  }
  /// True at a line break, a comment and the end of the text.
  bool atLineEnd() const {
    return *p == '\n' || (*p == '\r' && p + 1 != end && p[1] == '\n') ||
           p == end || (*p == '/' && p[1] == '/');
  }
  /// Skips the rest of the line.
  void skipLine();
  /// Skips blanks, comments and empty lines.
  void skipLines();
  /// Skips the line break; reports other text before it.
  bool endLine();

  /// Skips blanks and `c` if `c` follows them.
  bool consume(char c) {
    skipBlanks();
    if (*p != c || p == end)
      return false;
    ++p;
    return true;
  }
  /// The same for a word or an operator; a word must end with `text`.
  bool consume(llvm::StringRef text);
  /// The same, but reports an error if something else follows.
  bool expect(llvm::StringRef text);

  /// Skips and returns the word at this position, which may be empty.
  llvm::StringRef word() {
    skipBlanks();
    const char *begin = p;
    while (isWordByte(*p))
      ++p;
    return since(begin);
  }
  /// The word that `word` would return.
  llvm::StringRef peekWord() {
    const char *begin = p;
    llvm::StringRef text = word();
    p = begin;
    return text;
  }

  /// Reads a decimal number, which messages call `what`.
  bool number(uint64_t &value, llvm::StringRef what);
  /// Reads an integer with an optional sign.
  bool integer(int64_t &value);
  /// Reads `7`, `-7/2` or `2.5`.
  bool rational(Rational &value);
  /// Reads a word that does not begin with a digit, or quoted text.
  bool name(std::string &text, llvm::StringRef what);

  /// Reports that `what` was expected here, and returns false.
  bool expected(const llvm::Twine &what);
  /// Reads a fraction or a decimal number that is too long for the fast path.
  bool slowRational(Rational &value);

  DiagEngine &diagnostics() { return diags; }

protected:
  /// Reports an error about `text`, and returns false.
  template <typename Kind, typename... Args>
  bool fail(llvm::StringRef text, Kind kind, Args &&...args) {
    (void)diags.report(rangeOf(text), kind, std::forward<Args>(args)...);
    return false;
  }

  const char *p;
  const char *end;
  DiagEngine &diags;
};

} // namespace pipec
