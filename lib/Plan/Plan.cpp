//===- Plan.cpp - The text and the JSON of a plan -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan/Plan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pipec {

void Plan::print(const PlanRequest &request, json::OStream &json) const {
  auto row = [&](StringRef key, const std::optional<json::Object> &of) {
    json.attributeBegin(key);
    json.value(of ? json::Value(json::Object(*of)) : json::Value(nullptr));
    json.attributeEnd();
  };
  json.attribute("for", request.consumer->key);
  json.attribute("ranks", request.ranks);
  json.attribute("microbatches", request.microbatches);
  json.attribute("transfers", request.isPlaced());
  json.attributeArray("assumptions", [&] {
    for (const std::string &text : request.assumptions)
      json.value(text);
  });
  row("now", now);
  row("best", best);
  row("built_in", builtIn);
  json.attribute("alternatives", json::Value(json::Array(alternatives)));
  json.attribute("searched", searched);
  json.attributeArray("files", [&] {
    for (const std::string &name : files)
      json.value(name);
  });
  if (!digests.empty())
    json.attribute("digests", json::Value(json::Object(digests)));
}

void Plan::printText(const PlanRequest &request, raw_ostream &os) const {
  auto text = [](const json::Object &row, StringRef key) {
    const json::Value *value = row.get(key);
    if (!value || value->kind() == json::Value::Null)
      return std::string();
    if (auto word = value->getAsString())
      return word->str();
    return roundedText(figureOf(row, key));
  };
  for (const auto &[title, row] :
       {std::pair<StringRef, const std::optional<json::Object> &>("now", now),
        {"best", best},
        {"built-in", builtIn}}) {
    if (!row)
      continue;
    os << left_justify(title, 10) << left_justify(text(*row, "schedule"), 24)
       << " makespan " << text(*row, "makespan");
    if (title != "now" && now && figureOf(*now, "makespan") != 0)
      os << formatv(" ({0:P1})",
                    figureOf(*row, "makespan") / figureOf(*now, "makespan") -
                        1);
    if (std::string placed = text(*row, "placed");
        !placed.empty() && placed != text(*row, "makespan"))
      os << ", " << placed << " with one transfer at a time per rank";
    if (const json::Object *drawn = row->getObject("jitter"))
      os << format(", 95 %% of runs within %.6g", figureOf(*drawn, "p95"));
    os << ", memory " << request.memoryText(*row);
    if (std::string by = text(*row, "memory_by"); !by.empty())
      os << " by " << by;
    if (!row->getBoolean("fits").value_or(true))
      os << " (above the limit)";
    for (StringRef key : {"placement", "chunks", "backward", "layout"})
      if (std::string value = text(*row, key); !value.empty())
        os << ", " << key << ' ' << value;
    os << '\n';
  }
  if (best && !text(*best, "bound").empty())
    os << "no schedule of what was searched has less than "
       << text(*best, "bound") << '\n';
  for (const std::string &one : request.assumptions)
    os << "assumed: " << one << '\n';
  os << "files: " << request.folder << ": " << join(files, " ") << '\n';
}

} // namespace pipec
