//===- PlanRow.cpp - The rows of a plan -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan/PlanRow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// How the framework runs a candidate, if it does.
static std::optional<StringRef> wayOf(const PlanConsumer &consumer,
                                      const json::Object &candidate) {
  const json::Object *all = candidate.getObject("frameworks");
  const json::Object *one = all ? all->getObject(consumer.framework) : nullptr;
  return one ? one->getString("runs_as") : std::nullopt;
}

/// True if a list separated by blanks has the word.
static bool hasWord(StringRef list, StringRef word) {
  SmallVector<StringRef> words;
  list.split(words, ' ');
  return is_contained(words, word);
}

bool runsIn(const PlanConsumer &consumer, const json::Object &candidate) {
  std::optional<StringRef> way = wayOf(consumer, candidate);
  return candidate.getInteger("copies").value_or(1) == 1 && way &&
         hasWord(consumer.runsAs, *way);
}

bool isBuiltIn(const PlanConsumer &consumer, const json::Object &candidate) {
  if (consumer.builtIn.empty())
    return wayOf(consumer, candidate) == "built-in";
  return hasWord(consumer.builtIn, candidate.getString("name").value_or(""));
}

json::Object rowOf(const json::Object &candidate, unsigned ranks) {
  json::Object row;
  row["schedule"] = candidate.getString("name").value_or("").str();
  const json::Object *params = candidate.getObject("params");
  row["params"] = params ? json::Value(json::Object(*params)) : nullptr;
  row["placement"] = nullptr;
  row["chunks"] = candidate.getInteger("stages").value_or(0) / ranks;
  row["backward"] = nullptr;
  row["layout"] = candidate.get("layout") ? *candidate.get("layout") : nullptr;
  copyFigure(candidate, "makespan", row, "makespan");
  copyFigure(candidate, "peak", row, "peak");
  copyFigure(candidate, "memory", row, "memory");
  row["memory_by"] =
      candidate.get("memory_by") ? *candidate.get("memory_by") : nullptr;
  row["fits"] = candidate.getBoolean("fits").value_or(false);
  return row;
}

CommandWords paramsOf(const json::Object &row) {
  CommandWords words;
  if (const json::Object *params = row.getObject("params"))
    for (const auto &[name, value] : *params)
      words.push_back(name.str() + "=" +
                      std::to_string(value.getAsInteger().value_or(0)));
  llvm::sort(words);
  return words;
}

void readReport(const json::Object &report, json::Object &row) {
  for (StringRef key : {"makespan", "peak"})
    copyFigure(report, key, row, key);
  if (const json::Object *memory = report.getObject("memory"))
    copyFigure(*memory, "total", row, "memory");
}

CommandWords rowWords(const PlanRequest &request, const json::Object &row) {
  CommandWords words = {row.getString("schedule")->str()};
  llvm::append_range(words, request.words(/*isFixed=*/true));
  llvm::append_range(words, paramsOf(row));
  if (request.hasLayers)
    words.push_back("--layout=" + row.getString("layout").value_or("").str());
  if (std::optional<StringRef> by = row.getString("memory_by"))
    words.push_back(("--passes=inject-" + *by).str());
  return words;
}

static double timeOf(const json::Object &row) {
  return figureOf(row, row.getNumber("placed") ? "placed" : "makespan");
}

bool isFaster(const json::Object &a, const json::Object &b) {
  return timeOf(a) < timeOf(b);
}

} // namespace pipec
