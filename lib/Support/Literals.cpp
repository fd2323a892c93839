//===- Literals.cpp - JSON and literals of Python -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Literals.h"

#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace pipec {

StringRef LiteralReader::wordHere() const {
  const char *c = p;
  while (c != end && (isWordByte(*c) || *c == '.'))
    ++c;
  return {p, size_t(c - p)};
}

bool LiteralReader::atWord(StringRef text) {
  return at(text.front()) && wordHere() == text;
}

bool LiteralReader::consumeWord(StringRef text) {
  bool is = atWord(text);
  p += is ? text.size() : 0;
  return is;
}

bool LiteralReader::expect(char c) {
  return consume(c) || expected("`" + Twine(c) + "`");
}

bool LiteralReader::string(StringRef &text) {
  if (!atQuote())
    return expected("a string");
  char quote = *p++;
  const char *first = p;
  for (; p != end && *p != quote && *p != '\n'; ++p)
    if (*p == '\\' && p + 1 != end)
      ++p;
  text = since(first);
  return expect(quote);
}

bool LiteralReader::name(StringRef what, StringRef &text) {
  if (atQuote())
    return string(text);
  text = wordHere();
  p += text.size();
  return !text.empty() || expected(what);
}

bool LiteralReader::number(unsigned limit, StringRef what, unsigned &value) {
  skipBlanks();
  StringRef digits = wordHere();
  uint64_t sum = 0;
  bool good = !digits.empty();
  for (char c : digits) {
    good &= isDigit(c);
    if (sum < limit)
      sum = sum * 10 + (c - '0');
  }
  if (!good)
    return expected("a " + what);
  p += digits.size();
  value = unsigned(sum);
  return sum < limit || error(digits, diag::OrderNumberTooLarge, what,
                              shortened(digits), limit - 1);
}

/// The length of the value at the beginning of `text`, without blanks after it.
static size_t valueLength(StringRef text) {
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

size_t LiteralReader::itemLength(StringRef rest) {
  return valueLength(rest.take_until([](char c) { return c == '\n'; }));
}

StringRef LiteralReader::skipValue() {
  skipBlanks();
  const char *first = p;
  p += valueLength({p, size_t(end - p)});
  return since(first);
}

bool LiteralReader::expected(const Twine &what) {
  skipBlanks();
  StringRef found = wordHere();
  if (found.empty())
    found = {p, size_t(p != end)};
  std::string text = found.empty()       ? "the end of the file"
                     : isPrint(found[0]) ? "`" + shortened(found) + "`"
                                         : "the byte 0x" + toHex(found);
  return error(found, diag::OrderExpected, what.str(), text);
}

bool LiteralReader::elements(char close, function_ref<bool()> element) {
  bool good = true;
  while (!consume(close)) {
    if (diags.atErrorLimit())
      return false;
    const char *first = p;
    if (!element()) {
      good = false;
      rewind(first);
      skipValue();
      // The end of the file was reported.
      if (atEnd())
        return false;
    }
    if (consume(','))
      continue;
    return consume(close) ? good : expected("`,` or `" + Twine(close) + "`");
  }
  return good;
}

bool LiteralReader::members(StringRef what,
                            function_ref<bool(StringRef)> member) {
  StringSet<> known;
  return elements('}', [&] {
    skipBlanks();
    const char *first = p;
    StringRef key;
    if (!name(what, key))
      return false;
    if (!known.insert(key).second)
      return error(since(first), diag::OrderKeyTwice, shortened(key));
    return expect(':') && member(key);
  });
}

} // namespace pipec
