//===- OrderCursor.cpp - Reading orders of other frameworks ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import/OrderCursor.h"

#include "Import/JsonWalk.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static bool isNameByte(char c) { return isWordByte(c) || c == '.'; }

void OrderCursor::skipBlanks() {
  while (p != end && isSpace(*p))
    ++p;
}

bool OrderCursor::atWord(StringRef text, bool prefix) {
  skipBlanks();
  StringRef rest(p, end - p);
  return rest.starts_with(text) && (prefix || rest.size() == text.size() ||
                                    !isNameByte(rest[text.size()]));
}

bool OrderCursor::consumeWord(StringRef text) {
  if (!atWord(text))
    return false;
  p += text.size();
  return true;
}

bool OrderCursor::expect(char c) {
  if (consume(c))
    return true;
  expected("`" + Twine(c) + "`");
  return false;
}

StringRef OrderCursor::word() {
  skipBlanks();
  const char *begin = p;
  while (p != end && isNameByte(*p))
    ++p;
  return since(begin);
}

bool OrderCursor::string(StringRef &text) {
  if (!atQuote()) {
    expected("a string");
    return false;
  }
  char quote = *p++;
  const char *begin = p;
  for (; p != end && *p != quote && *p != '\n'; ++p)
    if (*p == '\\' && p + 1 != end)
      ++p;
  text = since(begin);
  return expect(quote);
}

bool OrderCursor::number(unsigned limit, StringRef what, unsigned &value) {
  skipBlanks();
  const char *begin = p;
  uint64_t sum = 0;
  for (; p != end && isDigit(*p); ++p)
    if (sum < limit)
      sum = sum * 10 + (*p - '0');
  StringRef digits = since(begin);
  if (digits.empty() || (p != end && isNameByte(*p))) {
    p = begin;
    expected("a " + what);
    return false;
  }
  if (sum >= limit) {
    (void)diags.report(rangeOf(digits), diag::OrderNumberTooLarge, what,
                       shortened(digits), limit - 1);
    return false;
  }
  value = sum;
  return true;
}

size_t OrderCursor::valueLength(StringRef text) {
  size_t depth = 0, i = 0;
  for (; i != text.size(); ++i) {
    char c = text[i];
    if (c == '"' || c == '\'') {
      size_t close = i + 1;
      while (close < text.size() && text[close] != c && text[close] != '\n')
        close += text[close] == '\\' ? 2 : 1;
      i = std::min(close, text.size() - 1);
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == ']' || c == '}' || c == ')')) {
      break;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    }
  }
  return text.take_front(i).rtrim().size();
}

void OrderCursor::skipValue() {
  p += valueLength({p, size_t(end - p)});
  skipBlanks();
}

void OrderCursor::expected(const Twine &what) {
  skipBlanks();
  StringRef found(p, 0);
  std::string text = "the end of the file";
  if (p != end) {
    found = StringRef(p, end - p).take_while(isNameByte);
    if (found.empty())
      found = {p, 1};
    text = isPrint(found[0]) ? "`" + shortened(found) + "`"
                             : "the byte 0x" + toHex(found);
  }
  (void)diags.report(rangeOf(found), diag::OrderExpected, what.str(), text);
}

bool OrderCursor::readElements(char close, function_ref<bool()> element) {
  bool good = true;
  while (!consume(close)) {
    if (diags.atErrorLimit())
      return false;
    const char *begin = p;
    if (!element()) {
      good = false;
      rewind(begin);
      skipValue();
      // The end of the file was reported.
      if (atEnd())
        return false;
    }
    if (consume(','))
      continue;
    if (consume(close))
      return good;
    expected("`,` or `" + Twine(close) + "`");
    return false;
  }
  return good;
}

} // namespace pipec
