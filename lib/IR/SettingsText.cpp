//===- SettingsText.cpp - Costs in one line -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/SettingsText.h"

#include "IR/SettingWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace pipec {

std::string costText(const CostSettings &costs) {
  std::string text;
  raw_string_ostream os(text);
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
    if (std::optional<Rational> cost = costs.of(kind, maxStages))
      os << stepKindName(kind) << " = " << *cost << ", ";
  for (const CostSettings::Overlap &overlap : costs.overlaps) {
    ListSeparator between(" & ");
    for (StepKind member : overlap.members)
      os << between << stepKindName(member);
    os << (overlap.isFactor ? " factor = " : " = ") << overlap.cost << ", ";
  }
  os << "p2p = " << costs.p2p.value_or(Rational(0));
  for (const SettingWord<CostSettings> &word : settingWords<CostSettings>())
    if (word.name.size() > 1 && word.name != "p2p")
      if (const auto *cost = findSetting(costs, word.name); *cost)
        os << ", " << word.name << " = " << **cost;
  for (const auto &[stage, row] : costs.stages)
    os << ", stage " << stage << " has its own";
  std::set<unsigned> ranks;
  for (const auto &[rank, row] : costs.ranks)
    ranks.insert(rank);
  for (const auto &[rank, factor] : costs.rankFactors)
    ranks.insert(rank);
  for (unsigned rank : ranks)
    os << ", rank " << rank << " has its own";
  for (const auto &[microbatch, factor] : costs.microbatchFactors)
    os << ", micro-batch " << microbatch << " has its own";
  if (costs.nodes)
    os << ", nodes of " << costs.nodes->size << " have their own";
  for (const auto &[ends, edge] : costs.edges)
    os << ", edge " << ends.first << " -> " << ends.second << " has its own";
  return text;
}

std::string costTitle(const Schedule &schedule) {
  std::string title = "costs per stage";
  if (schedule.costParts)
    title += ", given per part (1/" + std::to_string(schedule.costParts) +
             " of the model)";
  return title;
}

void writeCostBasis(const Schedule &schedule, json::OStream &json) {
  json.attribute("per", schedule.costParts ? "part" : "stage");
  if (schedule.costParts)
    json.attribute("parts", schedule.costParts);
  else
    json.attribute("parts", nullptr);
}

} // namespace pipec
