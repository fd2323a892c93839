//===- RunAnswer.cpp - What a run of the compiler says --------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/RunAnswer.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// The maximum number of errors that a page shows, and of other messages.
static constexpr size_t maxMessages = 500;

/// The maximum nesting depth of a request or of an output of the compiler.
static constexpr unsigned maxDepth = 64;

std::optional<json::Object> readObject(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxDepth)
        return std::nullopt;
    } else if (c == ']' || c == '}') {
      depth -= depth != 0;
    }
  }
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  json::Object *object = value->getAsObject();
  return object ? std::optional(std::move(*object)) : std::nullopt;
}

static json::Object message(const Twine &text, StringRef severity = "error") {
  return json::Object{{"severity", severity}, {"message", text.str()}};
}

json::Array messagesOf(const ChildResult &result, std::chrono::seconds time) {
  json::Array all;
  SmallVector<StringRef> lines;
  StringRef(result.messages).split(lines, '\n', -1, /*KeepEmpty=*/false);
  size_t errors = 0, others = 0;
  for (StringRef line : lines) {
    std::optional<json::Object> object = readObject(line);
    if (!object)
      object = message(json::fixUTF8(line));
    if (++(object->getString("severity") == "error" ? errors : others) <=
        maxMessages)
      all.push_back(std::move(*object));
  }
  if (size_t more = errors + others - all.size())
    all.push_back(message(Twine(more) + " more messages", "warning"));
  using End = ChildResult::End;
  if (result.end == End::TimeOut)
    all.push_back(message("the compiler was ended after " +
                          Twine(time.count()) + " seconds"));
  if (result.end == End::TooMuchOutput)
    all.push_back(message("the output is larger than this page shows"));
  if (result.end == End::Crashed)
    all.push_back(message("the compiler could not be run, or crashed"));
  return all;
}

std::optional<json::Object> readReport(const ChildResult &result) {
  std::optional<json::Object> report = readObject(result.output);
  if (!report)
    return report;
  for (json::Object *one : {&*report, report->getObject("with")})
    for (StringRef list : {"critical_path", "gaps"})
      if (one)
        one->erase(list);
  return report;
}

static void showNames(json::Value &value, const ShownNames &names) {
  if (json::Object *object = value.getAsObject())
    return showNames(*object, names);
  if (json::Array *array = value.getAsArray()) {
    for (json::Value &element : *array)
      showNames(element, names);
    return;
  }
  std::optional<StringRef> old = value.getAsString();
  if (!old)
    return;
  std::string text = old->str();
  for (const auto &[path, name] : names)
    for (size_t at = 0; (at = text.find(path, at)) != std::string::npos;
         at += name.size())
      text.replace(at, path.size(), name);
  if (text != *old)
    value = std::move(text);
}

void showNames(json::Object &object, const ShownNames &names) {
  for (auto &[key, value] : object)
    showNames(value, names);
}

} // namespace pipec
