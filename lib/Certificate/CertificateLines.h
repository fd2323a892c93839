//===- CertificateLines.h - The lines of a certificate ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of words, each with its first word fixed; `//` begins a comment.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Rational.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

namespace pipec {

/// Reads lines. Functions that return false have reported the expected words.
class CertificateLines {
protected:
  CertificateLines(llvm::StringRef text, DiagEngine &diags)
      : rest(text), diags(diags) {}

  /// Takes the next line with words. Returns false at the end.
  bool next() {
    words.clear();
    at = 0;
    while (words.empty() && !rest.empty()) {
      auto [text, others] = rest.split('\n');
      rest = others;
      text = text.split("//").first;
      llvm::SplitString(text, words, " \t\r");
      current = text.trim(" \t\r");
    }
    if (words.empty())
      current = rest;
    return !words.empty();
  }
  /// The same, and reports the end.
  bool line() { return next() ? (at = 1, true) : wrong("another line"); }
  /// Takes the next line; reports another first word than `first`.
  bool line(llvm::StringRef first) {
    if (!next() || words[0] != first)
      return wrong("a line `" + first + "`");
    at = 1;
    return true;
  }
  bool end() { return at == words.size() || wrong("the end of the line"); }
  /// The next word of the line; empty at its end.
  llvm::StringRef peek() const { return at < words.size() ? words[at] : ""; }
  /// Takes the next word if it is `text`.
  bool accept(llvm::StringRef text) { return peek() == text && ++at; }
  bool word(llvm::StringRef text) {
    return accept(text) || wrong("`" + text + "`");
  }
  bool number(int64_t &into, int64_t most = int64_t(1) << 40) {
    if (!peek().getAsInteger(10, into) && into >= 0 && into <= most)
      return ++at;
    return wrong("a number from 0 to " + llvm::Twine(most));
  }
  /// A number that may be negative.
  bool signedNumber(int64_t &into) {
    bool negative = at != words.size() && words[at].consume_front("-");
    if (!number(into))
      return false;
    into = negative ? -into : into;
    return true;
  }
  bool number(unsigned &into, unsigned most) {
    int64_t value = 0;
    if (!number(value, int64_t(most)))
      return false;
    into = unsigned(value);
    return true;
  }
  bool rational(Rational &into, bool zero = false) {
    std::optional<Rational> value = Rational::parse(peek());
    if (!value || value->isNegative() || (value->isZero() && !zero))
      return wrong(zero ? "a number" : "a positive number");
    ++at;
    into = *value;
    return true;
  }
  llvm::SMRange place() const {
    return {llvm::SMLoc::getFromPointer(current.begin()),
            llvm::SMLoc::getFromPointer(current.end())};
  }
  bool wrong(const llvm::Twine &expected) {
    llvm::StringRef found =
        at < words.size() ? words[at] : current.take_back(0);
    llvm::SMRange range = {llvm::SMLoc::getFromPointer(found.begin()),
                           llvm::SMLoc::getFromPointer(found.end())};
    (void)diags.report(range, diag::CertificateSyntax, expected.str());
    return false;
  }

  /// Reports text after the last line.
  bool endOfText() {
    words.clear();
    llvm::StringRef text = rest.trim();
    if (text.empty())
      return true;
    current = text.split('\n').first;
    words.push_back(current);
    at = 0;
    return wrong("the end of the certificate");
  }

  llvm::StringRef rest;
  llvm::StringRef current;
  llvm::SmallVector<llvm::StringRef> words;
  size_t at = 0;
  DiagEngine &diags;
};

} // namespace pipec
