//===- SectionsGen.cpp - Sections and the times of their overlaps ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Lowering.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

LogicalResult Lowering::makeSections(const SectionsStmt *stmt) {
  if (schedule.placement.bidirectional())
    return diags.report(stmt->range, diag::GraphBidirectional, "sections");
  Sections &sections = schedule.sections;
  for (const SectionEntry &entry : stmt->entries) {
    Sections::Section section;
    section.name = entry.name.text.str();
    StringRef stream = entry.stream.text;
    if (!stream.empty() && stream != "compute") {
      if (failed(checkStreamName(stream, entry.stream.range, diags)))
        return failure();
      auto known = find(sections.streams, stream);
      section.stream = known - sections.streams.begin() + 1;
      if (known == sections.streams.end())
        sections.streams.push_back(stream.str());
      if (section.stream == maxStreams)
        return diags.report(entry.stream.range, diag::TooManyStreams,
                            maxStreams - 1);
    }
    sections.list.push_back(std::move(section));
  }
  for (unsigned stage = 0; stage != schedule.numStages; ++stage) {
    machine->setValue(stmt->stageVariable, stage);
    std::optional<int64_t> layers = evaluate(stmt->layers);
    if (!layers)
      return failure();
    if (*layers < 1 || *layers > maxStages)
      return diags.report(stmt->layers->range, diag::SectionLayers, stage,
                          *layers, maxStages);
    sections.layers.push_back(*layers);
  }
  if (checked.overlap) {
    std::vector<SMRange> places;
    for (const BodyStep &step : checked.overlap->steps) {
      auto section = find_if(stmt->entries, [&](const SectionEntry &entry) {
        return entry.name.text == step.section.text;
      });
      sections.body.push_back({kindOf(step.letter),
                               uint32_t(section - stmt->entries.begin()),
                               step.last});
      places.push_back(step.range);
    }
    return sections.checkBody(places, checked.overlap->range, diags);
  }
  return success();
}

LogicalResult Lowering::makeSectionCost(const SettingEntry &entry) {
  StringRef name = cast<NameExpr>(entry.values[0])->name;
  auto section =
      find_if(schedule.sections.list, [&](const Sections::Section &section) {
        return section.name == name;
      });
  if (section == schedule.sections.list.end())
    return diags.report(entry.values[0]->range, diag::UnknownSection, name);
  for (const SettingEntry &one : entry.entries) {
    std::optional<Rational> value = exact(one.values[0]);
    if (!value)
      return failure();
    if (value->isNegative())
      return diags.report(one.range, diag::NegativeCost);
    section->setCost(kindOf(one.letters[0]), *value);
  }
  return success();
}

/// Sets the times of the steps and overlaps of stages with sections that were
/// not given: the times of their sections, which run side by side on their
/// streams. An overlap has one time only if all stages have as many layers.
LogicalResult Lowering::priceSections() {
  const Sections &sections = schedule.sections;
  if (!sections.hasCosts())
    return success();
  CostSettings &costs = schedule.costs;
  auto price = [&](ArrayRef<Sections::Member> members,
                   auto use) -> LogicalResult {
    std::optional<Rational> time = sections.duration(*sections.order(members));
    if (!time)
      return diags.report(checked.sections->range, diag::SectionsOverflow);
    use(*time);
    return success();
  };
  for (auto [kind, figure] :
       {std::pair(StepKind::F, Figure::F), std::pair(StepKind::B, Figure::B),
        std::pair(StepKind::I, Figure::I), std::pair(StepKind::W, Figure::W)}) {
    if (costs.has(figure))
      continue;
    if (all_equal(sections.layers)) {
      if (failed(price({{kind, sections.layers[0]}},
                       [&](Rational time) { costs.set(figure, time); })))
        return failure();
      continue;
    }
    for (unsigned stage = 0; stage != schedule.numStages; ++stage)
      if (failed(price({{kind, sections.layers[stage]}}, [&](Rational time) {
            costs.set(figure, time, {FigureScope::Stage, stage});
          })))
        return failure();
  }
  if (!all_equal(sections.layers))
    return success();
  unsigned layers = sections.layers[0];
  for (StepKind backward : {StepKind::B, StepKind::I})
    for (bool first : {false, true}) {
      SmallVector<StepKind, 2> kinds = {StepKind::F, backward};
      if (first)
        std::swap(kinds[0], kinds[1]);
      if (costs.ofOverlap(kinds))
        continue;
      if (failed(price({{kinds[0], layers}, {kinds[1], layers}},
                       [&](Rational time) { costs.set({kinds, time}); })))
        return failure();
    }
  return success();
}

} // namespace pipec
