//===- ProgramOrder.cpp - What a page asks to be compiled -----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/ProgramOrder.h"

#include "Serve/ImportNames.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// The maximum number of characters of costs and other short texts.
static constexpr size_t maxShort = 4000;
static constexpr int64_t maxEffort = 60;
/// The maximum number of steps, iterations and calls of a program.
static constexpr StringLiteral maxSteps = "1048576";

static bool isName(StringRef text) {
  return !text.empty() && text.size() <= 100 && !isDigit(text[0]) &&
         all_of(text, isWordByte);
}

namespace {

/// The members of an order; the first that has the wrong type is the error.
class OrderReader {
public:
  explicit OrderReader(const json::Object &body) : body(body) {}

  void text(StringRef key, std::string &into, size_t most) {
    const json::Value *value = body.get(key);
    if (!value || value->getAsNull())
      return;
    auto string = value->getAsString();
    if (string && string->size() > most && error.empty())
      error = ("`" + key + "` has " + Twine(string->size()) +
               " bytes, and the page takes " + Twine(most))
                  .str();
    if (!string || string->size() > most || string->contains('\0'))
      return fail(key);
    into = string->str();
  }
  void number(StringRef key, int64_t &into, int64_t most) {
    const json::Value *value = body.get(key);
    if (!value || value->getAsNull())
      return;
    auto number = value->getAsInteger();
    if (!number || *number < 1 || *number > most)
      return fail(key);
    into = *number;
  }
  void sizes(std::vector<std::pair<std::string, std::string>> &into) {
    const json::Value *value = body.get("sizes");
    if (!value || value->getAsNull())
      return;
    const json::Object *members = value->getAsObject();
    if (!members || members->size() > 100)
      return fail("sizes");
    for (const auto &[key, size] : *members) {
      auto number = size.getAsInteger();
      if (!number || !isName(key))
        return fail("sizes");
      into.emplace_back(key.str(), std::to_string(*number));
    }
    llvm::sort(into); // independent of hashing
  }
  void fail(StringRef key) {
    if (error.empty())
      error = ("`" + key + "` has a value that is not allowed").str();
  }

  std::string error;

private:
  const json::Object &body;
};

} // namespace

std::string ProgramOrder::read(const json::Object &body) {
  OrderReader reader(body);
  reader.text("program", program, maxProgramBytes);
  reader.text("schedule", schedule, 100);
  reader.sizes(sizes);
  reader.text("costs", costs, maxShort);
  reader.text("profile", profile, maxProfileBytes);
  reader.number("parts", parts, 1 << 20);
  reader.text("memoryLimit", memoryLimit, 100);
  reader.text("target", target, 100);
  reader.text("withName", withName, 100);
  reader.text("withSteps", withSteps, size_t(1) << 19);
  reader.number("ranks", ranks, 1 << 12);
  reader.number("microbatches", microbatches, 1 << 16);
  reader.number("chunks", chunks, 1 << 8);
  reader.number("effort", effort, maxEffort);
  reader.text("placement", placement, 10);
  reader.text("backward", backward, 20);
  reader.text("tab", tab, 64);
  reader.number("serial", serial, 1 << 30);
  if (!schedule.empty() && !isName(schedule))
    reader.fail("schedule");
  if (!placement.empty() && placement != "loop" && placement != "v")
    reader.fail("placement");
  if (!reader.error.empty())
    return reader.error;
  for (const std::string &import : importNames(program))
    if (leavesFolder(import))
      return "import of `" + import.substr(0, 100) +
             "`: the page imports only from the folder of the file, from those "
             "of -I and from the library";
  return "";
}

/// Adds the arguments about costs, of which --cost overrides the profile.
static void addCosts(const ProgramOrder &order, const OrderPaths &paths,
                     std::vector<std::string> &arguments) {
  if (!order.profile.empty())
    arguments.push_back("--cost-profile=" + paths.profile);
  if (!order.costs.empty())
    arguments.push_back("--cost=" + order.costs);
}

/// Adds the arguments about the program, its sizes and its costs.
static void addProgram(const ProgramOrder &order, const OrderPaths &paths,
                       std::vector<std::string> &arguments) {
  llvm::append_values(arguments, "-", "--max-steps=" + maxSteps.str());
  if (!order.schedule.empty())
    arguments.push_back("--schedule=" + order.schedule);
  for (const auto &[name, size] : order.sizes)
    arguments.push_back("-D" + name + "=" + size);
  arguments.push_back("--diagnostics-format=json");
  addCosts(order, paths, arguments);
}

std::vector<std::string> ProgramOrder::checking(const OrderPaths &paths) const {
  std::vector<std::string> arguments{"check", "--input=pipe"};
  addProgram(*this, paths, arguments);
  return arguments;
}

std::vector<std::string> ProgramOrder::lowering(const OrderPaths &paths) const {
  std::vector<std::string> arguments;
  addProgram(*this, paths, arguments);
  // The format is that of all inputs.
  if (withSteps.empty())
    arguments.push_back("--input=pipe");
  if (!target.empty())
    arguments.push_back("--target=" + target);
  return arguments;
}

std::vector<std::string>
ProgramOrder::withSecond(const OrderPaths &paths) const {
  if (!withSteps.empty())
    return {"--with=" + paths.steps};
  if (!withName.empty())
    return {"--with=" + withFile};
  return {};
}

std::vector<std::string>
ProgramOrder::modelArguments(const OrderPaths &paths) const {
  std::vector<std::string> arguments{"--ranks=" + std::to_string(ranks),
                                     "--microbatches=" +
                                         std::to_string(microbatches),
                                     "--diagnostics-format=json"};
  if (chunks)
    arguments.push_back("--chunks=" + std::to_string(chunks));
  addCosts(*this, paths, arguments);
  if (parts)
    arguments.push_back("--parts=" + std::to_string(parts));
  if (!memoryLimit.empty())
    arguments.push_back("--memory-limit=" + memoryLimit);
  return arguments;
}

} // namespace pipec
