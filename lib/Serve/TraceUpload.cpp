//===- TraceUpload.cpp - Traces that a page sends -------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/TraceUpload.h"

#include "Serve/RunAnswer.h"

using namespace llvm;

namespace pipec {

/// The maximum number of traces, of bytes in the line about them, and of
/// characters in a name.
static constexpr size_t maxTraces = 4096;
static constexpr size_t maxLine = size_t(1) << 20;
static constexpr size_t maxName = 1000;

std::string TraceUpload::read(StringRef body) {
  auto [line, contents] = body.split('\n');
  if (line.size() > maxLine)
    return "the line about the traces is too long";
  std::optional<json::Object> head = readObject(line);
  if (!head)
    return "the first line is not an object of JSON";
  const json::Array *list = head->getArray("traces");
  if (!list || list->empty() || list->size() > maxTraces)
    return "`traces` is not a list of 1 to " + std::to_string(maxTraces) +
           " traces";
  for (const json::Value &element : *list) {
    const json::Object *trace = element.getAsObject();
    if (!trace)
      return "an element of `traces` is not an object";
    std::optional<StringRef> name = trace->getString("name");
    std::optional<int64_t> size = trace->getInteger("size");
    if (!name || name->empty() || name->size() > maxName)
      return "the `name` of a trace has a value that is not allowed";
    if (!size || *size < 0 || uint64_t(*size) > contents.size())
      return "the `size` of a trace is not that of its contents";
    files.push_back({name->str(), contents.take_front(*size)});
    contents = contents.drop_front(*size);
  }
  if (!contents.empty())
    return "there are more contents than those of the traces";
  return "";
}

} // namespace pipec
