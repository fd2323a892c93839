//===- StepCursor.cpp - Reading words and numbers of step IR --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
  if (!atLineEnd())
    return expected("the end of the line");
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
  return expected("`" + text + "`");
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
    return expected(what);
  }
  if (!fits)
    return fail(since(begin), diag::StepsNumberTooLarge,
                since(begin).take_front(quotedAtMost));
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
    return expected("an integer");
  }
  StringRef text(negative ? digits - 1 : digits, p - digits + negative);
  if (text.getAsInteger(10, value))
    return fail(since(begin), diag::StepsNumberTooLarge,
                since(begin).take_front(quotedAtMost));
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
    return expected("a number");
  }
  std::optional<Rational> parsed = Rational::parse(text);
  if (!parsed)
    return fail(text, diag::StepsBadRational, text.take_front(quotedAtMost));
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
      return expected(what);
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
    } else if (c == '\\') {
      return expected("`\\\"`, `\\\\` or `\\` and two hexadecimal digits");
    } else if (!isPrint(c)) {
      return expected("a printable ASCII character or `\"`");
    }
    text.push_back(c);
  }
  ++p;
  return true;
}

bool StepsCursor::expected(const Twine &what) {
  skipBlanks();
  StringRef rest(p, end - p), place(p, 0);
  std::string found;
  if (p == end) {
    found = "the end of the file";
  } else if (atLineEnd()) {
    found = "the end of the line";
  } else if (isWordByte(*p)) {
    place = rest.take_while(isWordByte);
    found = ("`" + place.take_front(quotedAtMost) + "`").str();
  } else if (isPrint(*p)) {
    found = ("`" + Twine(*p) + "`").str();
  } else {
    found = "the byte 0x" + toHex(StringRef(p, 1));
  }
  return fail(place, diag::StepsExpected, what.str(), found);
}

} // namespace pipec
