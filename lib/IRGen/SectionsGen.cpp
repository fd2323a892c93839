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
      FailureOr<unsigned> number =
          sections.stream(stream, entry.stream.range, diags);
      if (failed(number))
        return failure();
      section.stream = *number;
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
      sections.body.push_back({kindOf(step.letter),
                               uint32_t(sections.find(step.section.text)),
                               step.last});
      places.push_back(step.range);
    }
    return sections.checkBody(places, checked.overlap->range, diags);
  }
  return success();
}

LogicalResult Lowering::makeSectionCost(const SettingEntry &entry) {
  StringRef name = cast<NameExpr>(entry.values[0])->name;
  std::vector<Sections::Section> &sections = schedule.sections.list;
  size_t number = schedule.sections.find(name);
  if (number == sections.size())
    return diags.report(entry.values[0]->range, diag::UnknownSection, name);
  for (const SettingEntry &one : entry.entries) {
    std::optional<Rational> value = exact(one.values[0]);
    if (!value)
      return failure();
    if (value->isNegative())
      return diags.report(one.range, diag::NegativeCost);
    sections[number].setCost(kindOf(one.letters[0]), *value);
  }
  return success();
}

} // namespace pipec
