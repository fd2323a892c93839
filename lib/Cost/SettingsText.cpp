//===- SettingsText.cpp - Costs in one line -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/SettingsText.h"

#include "Support/Decimal.h"
#include "Support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pipec {

/// The number of overlaps that the line lists; more are only counted.
static constexpr size_t maxNamed = 8;

std::string overlapText(ArrayRef<StepKind> members) {
  return join(map_range(members, stepKindName), " & ");
}

/// A cost as a decimal if that is exact, otherwise as a fraction.
static std::string exactText(Rational cost) {
  Decimal decimal = toDecimal(cost, /*exactDigits=*/9);
  if (decimal.exact)
    return decimal.text;
  std::string text;
  raw_string_ostream(text) << cost;
  return text;
}

void CostLine::add(StringRef name, StringRef least, StringRef most,
                   bool isAssumed) {
  raw_string_ostream os(line);
  os << (line.empty() ? "" : ", ") << name << (isAssumed ? " ~" : " ") << least;
  if (least != most)
    os << " to " << most;
}

void CostLine::add(StringRef name, Rational least, Rational most,
                   bool isAssumed) {
  if (least == most)
    return add(name, exactText(least), exactText(least), isAssumed);
  add(name, toDecimal(least).text, toDecimal(most).text, isAssumed);
}

void CostLine::remark(StringRef text) { line += (" (" + text + ")").str(); }

void CostLine::add(const CostSettings &costs, Figure figure) {
  std::optional<Rational> least, most;
  std::string places;
  for (const ScopeInfo &scope : allScopes()) {
    size_t count = 0;
    for (const auto &[place, row] : costs.in(scope.scope)) {
      std::optional<Rational> own = row.get(figure);
      if (!own)
        continue;
      ++count;
      least = least ? std::min(*least, *own) : *own;
      most = most ? std::max(*most, *own) : *own;
      if (scope.scope == FigureScope::Nodes)
        places += (places.empty() ? "" : ", ") + std::string("nodes of ") +
                  std::to_string(place.number);
    }
    if (!count || scope.scope == FigureScope::Whole ||
        scope.scope == FigureScope::Nodes)
      continue;
    places += (places.empty() ? "" : ", ") + std::to_string(count) + " " +
              (count == 1 ? scope.one : scope.many).str();
  }
  if (!most || (most->isZero() && infoOf(figure).unit == FigureUnit::Time))
    return;
  add(infoOf(figure).name, *least, *most);
  if (!places.empty())
    remark(places);
}

void CostLine::addOverlaps(const CostSettings &costs, bool factors) {
  auto isShown = [&](const CostSettings::Overlap &overlap) {
    return factors || !overlap.isFactor;
  };
  if (size_t count = count_if(costs.overlaps, isShown); count > maxNamed) {
    line += (line.empty() ? "" : ", ") + std::to_string(count) +
            " overlaps have their own";
    return;
  }
  for (const CostSettings::Overlap &overlap : costs.overlaps) {
    if (!isShown(overlap))
      continue;
    add(overlapText(overlap.members) + (overlap.isFactor ? " factor" : ""),
        overlap.cost, overlap.cost);
  }
}

/// How many stages, ranks, micro-batches and slices have compute costs of their
/// own: `4 stages, 1 rank`.
static std::string ownPlaces(const CostSettings &costs) {
  std::string text;
  for (FigureScope scope :
       {FigureScope::Stage, FigureScope::Rank, FigureScope::Microbatch,
        FigureScope::StageMicrobatch, FigureScope::Slice}) {
    size_t count = count_if(costs.in(scope), [](const auto &entry) {
      return entry.second.hasCompute();
    });
    if (count)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " +
              (count == 1 ? infoOf(scope).one : infoOf(scope).many).str();
  }
  return text;
}

std::string costText(const CostSettings &costs, const CostUse &use) {
  CostLine line;
  AssumedCosts assumed(costs, use);
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W}) {
    std::optional<Rational> least, most;
    for (const CostUse::Entry &entry : use.entries())
      if (entry.kinds >> unsigned(kind) & 1)
        if (auto cost = costs.of(kind, entry.stage, entry.rank, entry.unit)) {
          least = least ? std::min(*least, *cost) : *cost;
          most = most ? std::max(*most, *cost) : *cost;
        }
    if (least)
      line.add(stepKindName(kind), *least, *most, assumed.has(kind));
  }
  if (std::string places = ownPlaces(costs);
      !places.empty() && !line.text().empty())
    line.remark(places);
  line.addOverlaps(costs, /*factors=*/true);
  for (const FigureInfo &info : allFigures())
    if (info.block == FigureBlock::Cost && info.figure > Figure::W)
      line.add(costs, info.figure);
  return line.text();
}

std::string costTitle(const ModelSettings &settings) {
  std::string title = "costs per stage";
  if (settings.costParts)
    title += ", given per part (1/" + std::to_string(settings.costParts) +
             " of the model)";
  return title;
}

void writeCostBasis(const ModelSettings &settings, const AssumedCosts &assumed,
                    json::OStream &json) {
  json.attribute("per", settings.costParts ? "part" : "stage");
  json.attribute("parts", settings.costParts ? json::Value(settings.costParts)
                                             : json::Value(nullptr));
  json.attribute("layout", textOrNull(layoutText(settings.layers)));
  assumed.write(json);
  writeRounding(settings.rounding, json);
}

} // namespace pipec
