//===- Json.cpp - JSON and literals that are read in place ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Json.h"

#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// JsonReader
//===----------------------------------------------------------------------===//

void JsonReader::setFault(const char *at, const char *text, bool isTooDeep) {
  if (!first.text)
    first = {at, text, isTooDeep};
  p = end;
}

void JsonReader::elements(char open, function_ref<void()> element) {
  // In ASCII, both closing brackets are two characters after the opening ones.
  char close = char(open + 2);
  if (!consume(open))
    return fail(open == '{' ? "expected an object" : "expected a list");
  if (consume(close))
    return;
  do
    element();
  while (consume(','));
  if (!consume(close))
    fail(p == end      ? "unexpected end of file"
         : open == '{' ? "expected `,` or `}` after a member"
                       : "expected `,` or `]` after a value");
}

StringRef JsonReader::readKey() {
  skipBlanks();
  const char *begin = p;
  skipString();
  StringRef text = since(begin);
  if (!consume(':'))
    fail("expected `:` after a key");
  return hasFault() ? StringRef() : text.drop_front().drop_back();
}

void JsonReader::object(function_ref<void(StringRef)> member) {
  elements('{', [&] {
    if (StringRef key = readKey(); !hasFault())
      member(key);
  });
}

void JsonReader::list(function_ref<void()> item) { elements('[', item); }

StringRef JsonReader::value() {
  skipBlanks();
  const char *begin = p;
  skipValue(0);
  return hasFault() ? StringRef() : since(begin);
}

void JsonReader::finish() {
  if (!atEnd())
    fail("text after the end of the value");
}

void JsonReader::skipString() {
  if (!at('"'))
    return fail("expected a string");
  for (const char *c = p + 1; c < end; ++c) {
    if (*c == '"') {
      p = c + 1;
      return;
    }
    if (*c == '\\')
      ++c;
    else if (static_cast<unsigned char>(*c) < 0x20)
      return setFault(c, "control character in a string");
  }
  fail("the string does not end");
}

void JsonReader::skipNumber() {
  const char *c = p;
  auto skip = [&](StringRef characters) {
    bool is = c != end && characters.contains(*c);
    c += is;
    return is;
  };
  auto skipDigits = [&] {
    const char *begin = c;
    while (c != end && isDigit(*c))
      ++c;
    return c != begin;
  };
  skip("-");
  bool good = skip("0") || skipDigits();
  if (good && skip("."))
    good = skipDigits();
  if (good && skip("eE")) {
    skip("+-");
    good = skipDigits();
  }
  if (!good || (c != end && isDigit(*c)))
    return fail("expected a value");
  p = c;
}

void JsonReader::skipValue(unsigned depth) {
  if (atEnd())
    return fail("unexpected end of file");
  char open = *p;
  switch (open) {
  case '{':
  case '[':
    if (depth == maxDepth)
      return setFault(p, "objects and lists nest too deep", /*isTooDeep=*/true);
    return elements(open, [&] {
      if (open == '{')
        (void)readKey();
      if (!hasFault())
        skipValue(depth + 1);
    });
  case '"':
    return skipString();
  case 't':
  case 'f':
  case 'n':
    for (StringRef word : {"true", "false", "null"})
      if (StringRef(p, end - p).starts_with(word)) {
        p += word.size();
        return;
      }
    return fail("expected a value");
  default:
    return skipNumber();
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string decodeJsonString(StringRef text) {
  if (text.size() < 2 || text.front() != '"')
    return text.str();
  StringRef inside = text.drop_front().drop_back();
  if (!inside.contains('\\'))
    return inside.str();
  Expected<json::Value> value = json::parse(text);
  if (value)
    return value->getAsString().value_or(inside).str();
  consumeError(value.takeError());
  return inside.str();
}

std::optional<int64_t> scaledJsonNumber(StringRef text, unsigned places) {
  bool negative = text.consume_front("-");
  int exponent = 0;
  if (size_t at = text.find_first_of("eE"); at != StringRef::npos) {
    StringRef digits = text.drop_front(at + 1);
    digits.consume_front("+");
    // No number that is spelled with so many zeros fits either.
    constexpr int most = 1000;
    if (digits.getAsInteger(10, exponent) || std::abs(exponent) > most)
      return std::nullopt;
    text = text.take_front(at);
  }
  auto [whole, fraction] = text.split('.');
  if (whole.empty() || !all_of(whole, isDigit) || !all_of(fraction, isDigit))
    return std::nullopt;
  int64_t kept = int64_t(whole.size()) + exponent + places, value = 0;
  for (int64_t i = 0; i < kept; ++i) {
    size_t place = size_t(i);
    StringRef part = place < whole.size() ? whole : fraction;
    place -= place < whole.size() ? 0 : whole.size();
    int64_t digit = place < part.size() ? part[place] - '0' : 0;
    if (MulOverflow<int64_t>(value, 10, value) ||
        AddOverflow(value, digit, value))
      return std::nullopt;
  }
  return negative ? -value : value;
}

Expected<json::Value> parseJson(StringRef text, unsigned depth) {
  JsonReader reader(text, depth);
  (void)reader.value();
  reader.finish();
  if (!reader.hasFault())
    return json::parse(text);
  const JsonReader::Fault &fault = reader.fault();
  StringRef before = text.take_front(fault.at - text.begin());
  size_t line = before.rfind('\n');
  return createStringError("[%zu:%zu]: %s", before.count('\n') + 1,
                           before.size() - (line + 1) + 1, fault.text);
}

std::optional<json::Object> parseJsonObject(StringRef text) {
  if (std::optional<json::Value> value = expectedToOptional(parseJson(text)))
    if (json::Object *object = value->getAsObject())
      return std::move(*object);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// LiteralReader
//===----------------------------------------------------------------------===//

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
