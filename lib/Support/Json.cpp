//===- Json.cpp - JSON that is read in place ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
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

} // namespace pipec
