//===- SettingsText.cpp - Costs in one line -------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/SettingsText.h"

#include "Support/Decimal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pipec {

/// The number of overlaps, edges and ranges of stages that the line lists;
/// others are only counted.
static constexpr size_t maxNamed = 8;

/// Prints which stages, ranks or micro-batches have costs of their own: `,
/// stage 3 has its own`, `, stages 0 to 6, 8 have their own`.
static void printOwn(raw_ostream &os, const CostSettings &costs,
                     FigureScope scope) {
  SmallVector<std::pair<unsigned, unsigned>> ranges;
  size_t count = 0;
  for (const auto &[place, row] : costs.in(scope)) {
    ++count;
    unsigned number = place.number;
    if (!ranges.empty() && ranges.back().second + 1 == number)
      ranges.back().second = number;
    else
      ranges.push_back({number, number});
  }
  if (count == 0)
    return;
  if (count == 1) {
    os << ", " << infoOf(scope).one << ' ' << ranges[0].first << " has its own";
    return;
  }
  os << ", ";
  if (ranges.size() > maxNamed) {
    os << count << ' ' << infoOf(scope).many << " have their own";
    return;
  }
  os << infoOf(scope).many << ' ';
  ListSeparator comma;
  for (auto [first, last] : ranges) {
    os << comma << first;
    if (last != first)
      os << " to " << last;
  }
  os << " have their own";
}

/// A cost as a decimal if that is exact, otherwise as a fraction.
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
  os << "p2p = " << exactText(costs.general(Figure::P2P));
  for (auto [figure, cost] : costs.at({}))
    if (figure > Figure::W && figure != Figure::P2P)
      os << ", " << infoOf(figure).name << " = " << exactText(cost);
  for (FigureScope scope :
       {FigureScope::Stage, FigureScope::Rank, FigureScope::Microbatch})
    printOwn(os, costs, scope);
  for (const auto &[nodes, row] : costs.in(FigureScope::Nodes))
    os << ", nodes of " << nodes.number << " have their own";
  auto edges = costs.in(FigureScope::Edge);
  if (auto count = size_t(std::distance(edges.begin(), edges.end()));
      count > maxNamed) {
    os << ", " << count << " edges have their own";
    return text;
  }
  for (const auto &[edge, row] : edges)
    os << ", edge " << edge.number << " -> " << edge.to << " has its own";
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
  if (settings.layers.empty())
    json.attribute("layout", nullptr);
  else
    json.attribute("layout", layoutText(settings.layers));
}

} // namespace pipec
