//===- FormatParts.cpp - What several formats of frameworks have ----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

void writeScheduleHead(json::OStream &json, const Schedule &schedule) {
  json.attribute("schedule", json::fixUTF8(schedule.name));
  json.attribute("ranks", schedule.numRanks);
  json.attribute("stages", schedule.numStages);
  json.attribute("microbatches", schedule.numMicrobatches);
  json.attributeBegin("stage_to_rank");
  json.rawValue([&](raw_ostream &os) {
    ListSeparator comma(",");
    os << '[';
    for (uint32_t rank : schedule.placement.map(0))
      os << comma << rank;
    os << ']';
  });
  json.attributeEnd();
  if (!schedule.layers.empty())
    json.attribute("layout", layoutText(schedule.layers));
}

DiagLoc placeOfLayer(const Schedule &schedule, unsigned stage, size_t layer) {
  // The places of the layers of each stage, and of the `|` after them.
  size_t number = layer;
  for (const std::string &before : ArrayRef(schedule.layers).take_front(stage))
    number += before.size() + 1;
  if (number < schedule.layerPlaces.size())
    return schedule.layerPlaces[number];
  return DiagLoc();
}

StringRef overlapName(Step first, Step second) {
  if (first.kind() == StepKind::F && second.kind() == StepKind::B)
    return "OVERLAP_F_B";
  if (first.kind() == StepKind::B && second.kind() == StepKind::F)
    return "OVERLAP_B_F";
  return {};
}

} // namespace pipec
