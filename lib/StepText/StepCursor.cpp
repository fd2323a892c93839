//===- StepCursor.cpp - Reading words and numbers of step IR --------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepText/StepCursor.h"

#include "Support/Diagnostics/StepTextDiags.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <cstring>

using namespace llvm;

namespace pipec {

/// The maximum length of a quoted word in messages.
static constexpr size_t quotedAtMost = 40;

void StepsCursor::skipLine() {
  const void *newline = std::memchr(p, '\n', end - p);
  p = newline ? static_cast<const char *>(newline) : end;
}

void StepsCursor::skipLines() {
  while (p != end) {
    if (*p == ' ' || *p == '\t' || *p == '\n' ||
        (*p == '\r' && p + 1 != end && p[1] == '\n'))
      ++p;
    else if (*p == '/' && p[1] == '/')
      skipLine();
    else
      return;
  }
}

bool StepsCursor::endLine() {
  skipBlanks();
  if (!atLineEnd()) {
    expected("the end of the line");
    return false;
  }
  skipLine();
  if (p != end)
    ++p;
  return true;
}

bool StepsCursor::consume(StringRef text) {
  skipBlanks();
  if (!StringRef(p, end - p).starts_with(text) ||
      (isWordByte(text.back()) && isWordByte(p[text.size()])))
    return false;
  p += text.size();
  return true;
}

bool StepsCursor::expect(StringRef text) {
  if (consume(text))
    return true;
  expected("`" + text + "`");
  return false;
}

bool StepsCursor::number(uint64_t &value, StringRef what) {
  skipBlanks();
  const char *begin = p;
  uint64_t sum = 0;
  bool fits = true;
  for (; *p >= '0' && *p <= '9'; ++p) {
    uint64_t digit = *p - '0';
    fits &= sum <= (UINT64_MAX - digit) / 10;
    sum = sum * 10 + digit;
  }
  if (p == begin || isWordByte(*p)) {
    p = begin;
    expected(what);
    return false;
  }
  if (!fits) {
    (void)diags.report(rangeOf(since(begin)), diag::StepsNumberTooLarge,
                       since(begin).take_front(quotedAtMost));
    return false;
  }
  value = sum;
  return true;
}

bool StepsCursor::integer(int64_t &value) {
  skipBlanks();
  const char *begin = p;
  bool negative = consume('-');
  const char *digits = p;
  while (isDigit(*p))
    ++p;
  if (p == digits || isWordByte(*p)) {
    p = begin;
    expected("an integer");
    return false;
  }
  StringRef text(negative ? digits - 1 : digits, p - digits + negative);
  if (text.getAsInteger(10, value)) {
    (void)diags.report(rangeOf(since(begin)), diag::StepsNumberTooLarge,
                       since(begin).take_front(quotedAtMost));
    return false;
  }
  return true;
}

bool StepsCursor::rational(Rational &value) {
  skipBlanks();
  // Integers of up to eighteen digits need no reduction.
  const char *begin = p;
  int64_t sum = 0;
  for (; *p >= '0' && *p <= '9' && p - begin < 18; ++p)
    sum = sum * 10 + (*p - '0');
  if (p != begin && !isWordByte(*p) && *p != '/' && *p != '.') {
    value = Rational(sum);
    return true;
  }
  p = begin;
  return slowRational(value);
}

bool StepsCursor::slowRational(Rational &value) {
  const char *begin = p;
  if (*p == '-')
    ++p;
  while (isWordByte(*p) || *p == '.' ||
         (*p == '/' && p[1] != '/')) // unless it begins a comment
    ++p;
  StringRef text = since(begin);
  if (text.empty() || text == "-") {
    p = begin;
    expected("a number");
    return false;
  }
  std::optional<Rational> parsed = Rational::parse(text);
  if (!parsed) {
    (void)diags.report(rangeOf(text), diag::StepsBadRational,
                       text.take_front(quotedAtMost));
    return false;
  }
  value = *parsed;
  return true;
}

bool StepsCursor::name(std::string &text, StringRef what) {
  skipBlanks();
  const char *begin = p;
  if (*p != '"') {
    StringRef plain = word();
    if (plain.empty() || isDigit(plain.front())) {
      p = begin;
      expected(what);
      return false;
    }
    text = plain.str();
    return true;
  }
  text.clear();
  for (++p; *p != '"'; ++p) {
    char c = *p;
    if (c == '\\' && (p[1] == '"' || p[1] == '\\')) {
      c = *++p;
    } else if (c == '\\' && isHexDigit(p[1]) && isHexDigit(p[2])) {
      c = char(hexDigitValue(p[1]) * 16 + hexDigitValue(p[2]));
      p += 2;
    } else if (c == '\\' || !isPrint(c)) {
      expected(c == '\\' ? "`\\\"`, `\\\\` or `\\` and two hexadecimal digits"
                         : "a printable ASCII character or `\"`");
      return false;
    }
    text.push_back(c);
  }
  ++p;
  return true;
}

void StepsCursor::expected(const Twine &what) {
  skipBlanks();
  const char *begin = p;
  std::string found;
  if (p == end) {
    found = "the end of the file";
  } else if (atLineEnd()) {
    found = "the end of the line";
  } else if (isWordByte(*p)) {
    const char *wordEnd = p;
    while (isWordByte(*wordEnd))
      ++wordEnd;
    StringRef text(p, wordEnd - p);
    found = ("`" + text.take_front(quotedAtMost) + "`").str();
    (void)diags.report(rangeOf(text), diag::StepsExpected, what.str(), found);
    return;
  } else if (isPrint(*p)) {
    found = ("`" + Twine(*p) + "`").str();
  } else {
    found = "the byte 0x" + toHex(StringRef(p, 1));
  }
  (void)diags.report(SMLoc::getFromPointer(begin), diag::StepsExpected,
                     what.str(), found);
}

} // namespace pipec
