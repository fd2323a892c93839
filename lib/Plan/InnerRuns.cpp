//===- InnerRuns.cpp - Commands that run in this process ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan/InnerRuns.h"

#include "Support/DiagPrinter.h"
#include "Support/Json.h"

#include "llvm/Support/Format.h"

#include <limits>

using namespace llvm;

namespace pipec {

int InnerRuns::call(const CommandWords &words, std::string &printed) {
  std::vector<const char *> arguments = {program.c_str()};
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  if (isJson)
    arguments.push_back("--diagnostics-format=json");
  messages.clear();
  raw_string_ostream out(printed), own(messages);
  return main(arguments, out, own);
}

std::string InnerRuns::firstError() const {
  if (!isJson)
    return StringRef(messages).split("error: ").second.split('\n').first.str();
  return firstErrorIn(messages);
}

LogicalResult InnerRuns::tryToWrite(const CommandWords &words) {
  std::string printed;
  return success(call(words, printed) == 0);
}

LogicalResult InnerRuns::write(const CommandWords &words) {
  LogicalResult result = tryToWrite(words);
  if (failed(result))
    err << messages;
  return result;
}

FailureOr<json::Object> InnerRuns::tryToAsk(CommandWords words) {
  words.push_back("--format=json");
  std::string printed;
  int status = call(words, printed);
  std::optional<json::Object> object = parseJsonObject(printed);
  if (object && (status == 0 || words.front() == "compare"))
    return std::move(*object);
  return failure();
}

FailureOr<json::Object> InnerRuns::ask(CommandWords words) {
  FailureOr<json::Object> object = tryToAsk(std::move(words));
  if (failed(object))
    err << messages;
  return object;
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

void copyFigure(const json::Object &from, StringRef key, json::Object &to,
                StringRef as) {
  if (const json::Value *value = from.get(key))
    to[as] = *value;
  else
    to[as] = nullptr;
  if (const json::Value *exact = from.get((key + "_exact").str()))
    to[(as + "_exact").str()] = *exact;
}

double figureOf(const json::Object &object, StringRef key) {
  return object.getNumber(key).value_or(
      std::numeric_limits<double>::infinity());
}

std::string roundedText(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.12g", value);
  return text;
}

} // namespace pipec
