//===- InnerRuns.cpp - Commands that run in this process ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan/InnerRuns.h"

using namespace llvm;

namespace pipec {

int InnerRuns::call(const CommandWords &words, std::string &printed) {
  std::vector<const char *> arguments = {program.c_str()};
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  messages.clear();
  raw_string_ostream out(printed), own(messages);
  return main(arguments, out, own);
}

LogicalResult InnerRuns::write(const CommandWords &words) {
  std::string printed;
  if (call(words, printed) == 0)
    return success();
  err << messages;
  return failure();
}

FailureOr<json::Object> InnerRuns::tryToAsk(CommandWords words) {
  words.push_back("--format=json");
  std::string printed;
  int status = call(words, printed);
  Expected<json::Value> value = json::parse(printed);
  if (value && (status == 0 || words.front() == "compare"))
    if (json::Object *object = value->getAsObject())
      return std::move(*object);
  if (!value)
    consumeError(value.takeError());
  return failure();
}

FailureOr<json::Object> InnerRuns::ask(CommandWords words) {
  FailureOr<json::Object> object = tryToAsk(std::move(words));
  if (failed(object))
    err << messages;
  return object;
}

} // namespace pipec
