//===- StepCursor.h - A place in step IR text -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reading of words, numbers and names that the header and the steps share.
// Everything works on the bytes of the file, which end in a NUL; nothing is
// allocated unless an error is reported or a name is kept.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_STEPTEXT_STEPCURSOR_H
#define PIPEC_STEPTEXT_STEPCURSOR_H

#include "Support/DiagEngine.h"
#include "Support/Rational.h"

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace pipec {

/// Letters, digits and `_`, by byte.
inline constexpr std::array<bool, 256> wordBytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c)
    table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c)
    table[c] = table[c - 'A' + 'a'] = true;
  table['_'] = true;
  return table;
}();

/// Moves through the text; the readers return nothing (or false) after they
/// reported what they found instead.
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
  /// What was passed since `begin`.
  llvm::StringRef since(const char *begin) const {
    return {begin, size_t(p - begin)};
  }

  /// Passes blanks, not line ends.
  void skipBlanks() {
    while (*p == ' ' || *p == '\t')
      ++p;
  }
  /// True at a line end, at a comment and at the end of the text.
  bool atLineEnd() const {
    return *p == '\n' || (*p == '\r' && p + 1 != end && p[1] == '\n') ||
           p == end || (*p == '/' && p[1] == '/');
  }
  /// Passes the rest of the line, whatever it is.
  void skipLine();
  /// Passes blanks, comments and empty lines.
  void skipLines();
  /// Passes the line end; reports what stands before it.
  bool endLine();

  /// Passes `c` and the blanks before it if it is next.
  bool consume(char c) {
    skipBlanks();
    if (*p != c || p == end)
      return false;
    ++p;
    return true;
  }
  /// The same for a word or an operator; a word must end where `text` does.
  bool consume(llvm::StringRef text);
  /// The same, and reports what is there instead.
  bool expect(llvm::StringRef text);

  /// The word at this place; may be empty.
  llvm::StringRef word() {
    skipBlanks();
    const char *begin = p;
    while (isWordByte(*p))
      ++p;
    return since(begin);
  }
  /// The word that `word` would give, without passing it.
  llvm::StringRef peekWord() {
    const char *begin = p;
    llvm::StringRef text = word();
    p = begin;
    return text;
  }

  /// A decimal number; `what` names it in the message.
  bool number(uint64_t &value, llvm::StringRef what);
  /// An integer with an optional sign.
  bool integer(int64_t &value);
  /// `7`, `-7/2`, `2.5`.
  bool rational(Rational &value);
  /// A word that starts with no digit, or any text in quotes.
  bool name(std::string &text, llvm::StringRef what);

  /// Reports that `what` was expected here.
  void expected(const llvm::Twine &what);
  /// A fraction or a decimal number longer than fits the fast road.
  bool slowRational(Rational &value);

  DiagEngine &diagnostics() { return diags; }

protected:
  const char *p;
  const char *end;
  DiagEngine &diags;
};

} // namespace pipec

#endif // PIPEC_STEPTEXT_STEPCURSOR_H
