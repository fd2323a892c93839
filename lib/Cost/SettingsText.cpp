//===- SettingsText.cpp - Costs in one line -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/SettingsText.h"

#include "Cost/SettingWords.h"
#include "Support/Decimal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace pipec {

/// Overlaps, edges and ranges of stages that the line names; more are counted.
static constexpr size_t maxNamed = 8;

/// Says which stages, ranks or micro-batches have costs of their own:
/// `, stage 3 has its own`, `, stages 0 to 6, 8 have their own`.
static void printOwn(raw_ostream &os, const std::set<unsigned> &numbers,
                     StringRef singular, StringRef plural) {
  if (numbers.empty())
    return;
  if (numbers.size() == 1) {
    os << ", " << singular << ' ' << *numbers.begin() << " has its own";
    return;
  }
  SmallVector<std::pair<unsigned, unsigned>> ranges;
  for (unsigned number : numbers) {
    if (!ranges.empty() && ranges.back().second + 1 == number)
      ranges.back().second = number;
    else
      ranges.push_back({number, number});
  }
  os << ", ";
  if (ranges.size() > maxNamed) {
    os << numbers.size() << ' ' << plural << " have their own";
    return;
  }
  os << plural << ' ';
  ListSeparator comma;
  for (auto [first, last] : ranges) {
    os << comma << first;
    if (last != first)
      os << " to " << last;
  }
  os << " have their own";
}

/// A cost as a decimal where that is exact, else as a fraction.
static std::string exactText(Rational cost) {
  Decimal decimal = toDecimal(cost);
  if (decimal.exact)
    return decimal.text;
  std::string text;
  raw_string_ostream(text) << cost;
  return text;
}

std::string costText(const CostSettings &costs) {
  std::string text;
  raw_string_ostream os(text);
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
    if (std::optional<Rational> cost = costs.of(kind, anyStage))
      os << stepKindName(kind) << " = " << exactText(*cost) << ", ";
  ArrayRef<CostSettings::Overlap> named = costs.overlaps;
  if (named.size() > maxNamed) {
    os << named.size() << " overlaps have their own, ";
    named = {};
  }
  for (const CostSettings::Overlap &overlap : named) {
    ListSeparator between(" & ");
    for (StepKind member : overlap.members)
      os << between << stepKindName(member);
    os << (overlap.isFactor ? " factor = " : " = ") << exactText(overlap.cost)
       << ", ";
  }
  os << "p2p = " << exactText(costs.p2p.value_or(Rational(0)));
  for (const SettingWord<CostSettings> &word : settingWords<CostSettings>())
    if (word.name.size() > 1 && word.name != "p2p")
      if (const auto *cost = findSetting(costs, word.name); *cost)
        os << ", " << word.name << " = " << exactText(**cost);
  std::set<unsigned> stages, ranks, microbatches;
  for (const auto &[stage, row] : costs.stages)
    stages.insert(stage);
  for (const auto &[rank, row] : costs.ranks)
    ranks.insert(rank);
  for (const auto &[rank, factor] : costs.rankFactors)
    ranks.insert(rank);
  for (const auto &[microbatch, factor] : costs.microbatchFactors)
    microbatches.insert(microbatch);
  printOwn(os, stages, "stage", "stages");
  printOwn(os, ranks, "rank", "ranks");
  printOwn(os, microbatches, "micro-batch", "micro-batches");
  if (costs.nodes)
    os << ", nodes of " << costs.nodes->size << " have their own";
  if (costs.edges.size() > maxNamed) {
    os << ", " << costs.edges.size() << " edges have their own";
    return text;
  }
  for (const auto &[ends, edge] : costs.edges)
    os << ", edge " << ends.first << " -> " << ends.second << " has its own";
  return text;
}

std::string costTitle(const ModelSettings &settings) {
  std::string title = "costs per stage";
  if (settings.costParts)
    title += ", given per part (1/" + std::to_string(settings.costParts) +
             " of the model)";
  return title;
}

void writeCostBasis(const ModelSettings &settings, json::OStream &json) {
  json.attribute("per", settings.costParts ? "part" : "stage");
  if (settings.costParts)
    json.attribute("parts", settings.costParts);
  else
    json.attribute("parts", nullptr);
}

} // namespace pipec
