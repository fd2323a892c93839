//===- FormatParts.cpp - Parts of several formats of frameworks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Frameworks/FrameworkFormats.h"

#include "Frameworks/TargetCheck.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static void writeHead(json::OStream &json, const Schedule &schedule) {
  json.attribute("schedule", json::fixUTF8(schedule.name));
  json.attribute("ranks", schedule.numRanks);
  json.attribute("stages", schedule.numStages);
  json.attribute("microbatches", schedule.numMicrobatches());
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

LogicalResult emitJsonFile(const Schedule &schedule,
                           std::optional<Output> output, StringRef format,
                           raw_ostream &os, DiagEngine &diags,
                           function_ref<void(json::OStream &)> writeMore) {
  if (output && failed(checkOutput(schedule, *output, diags)))
    return failure();
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    if (!format.empty())
      json.attribute("format", format);
    writeHead(json, schedule);
    writeMore(json);
  });
  os << '\n';
  return success();
}

void writeRankLines(json::OStream &json, StringRef key,
                    const Schedule &schedule,
                    function_ref<void(unsigned, raw_ostream &)> writeLine) {
  json.attributeArray(key, [&] {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      json.rawValue([&](raw_ostream &os) { writeLine(rank, os); });
  });
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
