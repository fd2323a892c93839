//===- JsonScanner.cpp - JSON that is read once ---------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibrate/JsonScanner.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

void JsonScanner::setFault(const char *at, const char *text) {
  if (!fault) {
    fault = text;
    where = at;
  }
  rest = StringRef();
}

void JsonScanner::members(char open, char close, function_ref<void()> member) {
  if (rest.empty() || rest.front() != open)
    return fail(open == '{' ? "expected an object" : "expected a list");
  rest = rest.drop_front();
  skipSpace();
  if (rest.starts_with(StringRef(&close, 1))) {
    rest = rest.drop_front();
    return skipSpace();
  }
  while (!fault) {
    member();
    if (fault)
      return;
    if (rest.empty())
      return fail("unexpected end of file");
    char next = rest.front();
    if (next != close && next != ',')
      return fail(open == '{' ? "expected `,` or `}` after a member"
                              : "expected `,` or `]` after a value");
    rest = rest.drop_front();
    skipSpace();
    if (next == close)
      return;
  }
}

void JsonScanner::object(function_ref<void(StringRef)> member) {
  members('{', '}', [&] {
    StringRef start = rest;
    skipString();
    if (fault)
      return;
    StringRef key = start.drop_back(rest.size()).drop_front().drop_back();
    skipSpace();
    if (!rest.consume_front(":"))
      return fail("expected `:` after a key");
    skipSpace();
    member(key);
    skipSpace();
  });
}

void JsonScanner::list(function_ref<void()> item) {
  members('[', ']', [&] {
    item();
    skipSpace();
  });
}

StringRef JsonScanner::value() {
  StringRef start = rest;
  skipValue(0);
  if (fault)
    return {};
  StringRef text = start.drop_back(rest.size());
  skipSpace();
  return text;
}

void JsonScanner::end() {
  skipSpace();
  if (!fault && !rest.empty())
    fail("text after the end of the value");
}

void JsonScanner::skipString() {
  if (!rest.starts_with("\""))
    return fail("expected a string");
  for (size_t i = 1; i < rest.size(); ++i) {
    unsigned char c = rest[i];
    if (c == '"') {
      rest = rest.drop_front(i + 1);
      return;
    }
    if (c == '\\')
      ++i;
    else if (c < 0x20)
      return setFault(rest.data() + i, "control character in a string");
  }
  fail("the string does not end");
}

void JsonScanner::skipNumber() {
  StringRef digits = rest;
  digits.consume_front("-");
  auto skipDigits = [&] {
    size_t size = digits.size();
    digits = digits.drop_while(isDigit);
    return digits.size() != size;
  };
  bool good = skipDigits();
  if (good && digits.consume_front("."))
    good = skipDigits();
  if (good && (digits.consume_front("e") || digits.consume_front("E"))) {
    if (!digits.consume_front("+"))
      digits.consume_front("-");
    good = skipDigits();
  }
  if (!good)
    return fail("expected a value");
  rest = digits;
}

void JsonScanner::skipValue(unsigned depth) {
  if (fault)
    return;
  if (rest.empty())
    return fail("unexpected end of file");
  if (depth == maxDepth)
    return fail("objects and lists nest too deep");
  switch (rest.front()) {
  case '{':
    return members('{', '}', [&] {
      skipString();
      skipSpace();
      if (fault)
        return;
      if (!rest.consume_front(":"))
        return fail("expected `:` after a key");
      skipSpace();
      skipValue(depth + 1);
      skipSpace();
    });
  case '[':
    return members('[', ']', [&] {
      skipValue(depth + 1);
      skipSpace();
    });
  case '"':
    return skipString();
  case 't':
  case 'f':
  case 'n':
    if (!rest.consume_front("true") && !rest.consume_front("false") &&
        !rest.consume_front("null"))
      fail("expected a value");
    return;
  default:
    return skipNumber();
  }
}

std::string decodeJsonString(StringRef text) {
  if (text.size() < 2 || text.front() != '"')
    return text.str();
  StringRef inside = text.drop_front().drop_back();
  if (!inside.contains('\\'))
    return inside.str();
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    consumeError(value.takeError());
    return inside.str();
  }
  std::optional<StringRef> string = value->getAsString();
  return string ? string->str() : inside.str();
}

} // namespace pipec
