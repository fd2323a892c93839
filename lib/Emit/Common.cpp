//===- Common.cpp - What several output formats write ---------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/Common.h"

#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

std::string sizesText(const Schedule &schedule) {
  return countText(schedule.numRanks, "rank") + ", " +
         countText(schedule.numStages, "stage") + ", " +
         countText(schedule.numMicrobatches, "micro-batch", "es");
}

std::string overlapText(const Schedule &schedule, ArrayRef<Step> group) {
  std::string text;
  for (Step step : group)
    text += (text.empty() ? "" : " & ") + stepText(schedule, step);
  return text;
}

void writeScheduleHead(json::OStream &json, const Schedule &schedule) {
  json.attribute("schedule", schedule.name);
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
}

} // namespace pipec
