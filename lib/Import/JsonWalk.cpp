//===- JsonWalk.cpp - JSON with positions and spellings -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import/JsonWalk.h"

#include "Support/Diagnostics/ImportDiags.h"

#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

/// The string at the beginning of `text`, with its quotes; all of `text` if the
/// string does not end.
static StringRef stringAt(StringRef text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"')
      return text.take_front(i + 1);
    if (text[i] == '\\')
      ++i;
  }
  return text;
}

/// Reports the first bracket that is nested too deeply. The text need not be
/// JSON.
static LogicalResult checkDepth(StringRef text, DiagEngine &diags) {
  unsigned depth = 0;
  for (size_t i = 0; i != text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      i += stringAt(text.drop_front(i)).size() - 1;
    } else if (c == '{' || c == '[') {
      if (++depth > maxJsonDepth)
        return diags.report(SMLoc::getFromPointer(text.data() + i),
                            diag::ProfileTooDeep, maxJsonDepth);
    } else if ((c == '}' || c == ']') && depth != 0) {
      --depth;
    }
  }
  return success();
}

LogicalResult checkJson(StringRef text, DiagEngine &diags) {
  if (failed(checkDepth(text, diags)))
    return failure();
  Expected<json::Value> parsed = json::parse(text);
  if (parsed)
    return success();
  // "[line:column, byte=offset]: message"
  std::string whole = toString(parsed.takeError());
  auto [head, message] = StringRef(whole).split("]: ");
  size_t offset = 0;
  if (head.split("byte=").second.getAsInteger(10, offset))
    offset = 0;
  return diags.report(
      SMLoc::getFromPointer(text.data() + std::min(offset, text.size())),
      diag::ProfileSyntax, (message.empty() ? head : message).lower());
}

bool JsonWalk::atObject() {
  skipSpace();
  return rest.starts_with("{");
}

StringRef JsonWalk::takeValue() {
  skipSpace();
  StringRef start = rest;
  unsigned depth = 0;
  do {
    char c = rest.front();
    size_t size = 1;
    if (c == '"')
      size = stringAt(rest).size();
    else if (c == '{' || c == '[')
      ++depth;
    else if (c == '}' || c == ']')
      --depth;
    else if (depth == 0)
      size = rest.find_first_of(",}] \t\r\n");
    rest = rest.drop_front(std::min(size, rest.size()));
  } while (depth != 0);
  return start.drop_back(rest.size());
}

void JsonWalk::takeObject(function_ref<void(StringRef)> member) {
  skipSpace();
  assert(rest.starts_with("{") && "not an object");
  do {
    rest = rest.drop_front(); // the brace or a comma
    skipSpace();
    if (rest.starts_with("}"))
      break;
    StringRef key = takeValue().drop_front().drop_back();
    skipSpace();
    rest = rest.drop_front(); // the colon
    member(key);
    skipSpace();
  } while (rest.starts_with(","));
  rest = rest.drop_front();
}

} // namespace pipec
