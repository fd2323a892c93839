//===- CsvHeader.cpp - Inferring the header of a CSV ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Import/Lists.h"

#include "IR/StepPlaces.h"
#include "IR/TieBuilder.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

LogicalResult CsvHeader::infer(Schedule &schedule, StringRef text,
                               const ListOptions &options,
                               DiagEngine &diags) const {
  if (numUnits == 0)
    return diags.report(schedule.source, diag::CsvNoMicrobatches);
  schedule.numRanks = schedule.ranks.size();
  schedule.numStages = stages.size();
  schedule.numUnits = numUnits;
  schedule.forwardOnly = isForwardOnly();
  if (!options.present.empty())
    schedule.numUnits = std::max(numUnits, options.microbatches.value_or(0));
  LogicalResult result =
      setSlices(schedule, options.slices, highestMicrobatch, diags);
  if (failed(result))
    return result;
  if (!options.present.empty()) {
    result = checkOneRank(diags);
    if (succeeded(result))
      result = completeMap(schedule, options.stages, diags);
  } else {
    if (options.stages && *options.stages != schedule.numStages)
      result =
          diags.report(stages.back().place, diag::CsvOtherStages,
                       countText(schedule.numStages, "stage"), *options.stages);
    if (options.microbatches && *options.microbatches != schedule.numUnits)
      result = diags.report(highestMicrobatch, diag::CsvOtherMicrobatches,
                            countText(schedule.numUnits, "micro-batch", "es"),
                            *options.microbatches);
    if (succeeded(result))
      result = inferMap(schedule, text, diags);
  }
  return failed(result) ? result : inferTies(schedule, text, options, diags);
}

//===----------------------------------------------------------------------===//
// Cells in messages
//===----------------------------------------------------------------------===//

/// The row and column of a position in the text, from 1. Counts them on each
/// call.
static std::pair<unsigned, unsigned> rowColumn(StringRef text,
                                               const char *place) {
  unsigned row = 1 + std::count(text.begin(), place, '\n');
  const char *begin = place;
  while (begin != text.begin() && begin[-1] != '\n')
    --begin;
  return {row, 1 + std::count(begin, place, ',')};
}

/// The cell that begins at `place`.
static SMRange cellAt(StringRef text, const char *place) {
  StringRef cell = StringRef(place, text.end() - place).take_until([](char c) {
    return c == ',' || c == '\n' || c == '\r';
  });
  return rangeOf(cell);
}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

/// Reports steps of a bidirectional file that are not on the rank of their
/// direction.
static LogicalResult checkDirections(const Schedule &schedule, StringRef text,
                                     DiagEngine &diags) {
  LogicalResult result = success();
  for (auto [rank, steps] : enumerate(schedule.ranks)) {
    unsigned column = 1;
    for (Step step : steps) {
      if (hasUnit(step.kind())) {
        unsigned belongs = schedule.rankOf(step.stage(), step.unit());
        if (belongs != rank)
          result = diags.report(
              cellAt(text,
                     diags.sourceFiles().expand(step.source()).getPointer()),
              diag::CsvWrongDirection, rank + 1, column,
              stepText(schedule, step), rank, schedule.numUnits, belongs);
        if (diags.atErrorLimit())
          return failure();
      }
      column += !step.joined();
    }
  }
  return result;
}

LogicalResult CsvHeader::inferMap(Schedule &schedule, StringRef text,
                                  DiagEngine &diags) const {
  unsigned numRanks = schedule.numRanks;
  std::vector<uint32_t> map(stages.size());
  const StageUse *twice = nullptr;
  bool mirrored = stages.size() == numRanks;
  for (auto [stage, use] : enumerate(stages)) {
    if (use.rank == StageUse::nowhere)
      return diags.report(stages.back().place, diag::CsvStageMissing, stage,
                          stages.size() - 1);
    map[stage] = use.rank;
    if (use.otherRank != StageUse::nowhere && !twice)
      twice = &use;
    uint32_t mirror = numRanks - 1 - stage;
    uint32_t low = std::min<uint32_t>(stage, mirror);
    uint32_t high = std::max<uint32_t>(stage, mirror);
    if (low == high)
      mirrored &= use.rank == low && use.otherRank == StageUse::nowhere;
    else
      mirrored &= use.rank == low && use.otherRank == high;
    mirrored &= !use.furtherRanks;
  }
  if (!twice) {
    schedule.placement = Placement({std::move(map)});
    return success();
  }
  if (!mirrored) {
    const SourceFiles &files = diags.sourceFiles();
    const char *here = files.expand(twice->otherPlace).getPointer();
    auto [row, column] = rowColumn(text, here);
    auto [otherRow, otherColumn] =
        rowColumn(text, files.expand(twice->place).getPointer());
    return diags
        .report(cellAt(text, here), diag::CsvStageTwice, row, column,
                twice - stages.data(), twice->otherRank, twice->rank)
        .note(twice->place, diag::NoteCsvOtherRank, otherRow, otherColumn,
              twice->rank);
  }
  std::vector<uint32_t> mirror(stages.size());
  for (unsigned stage = 0; stage != stages.size(); ++stage) {
    map[stage] = stage;
    mirror[stage] = numRanks - 1 - stage;
  }
  schedule.placement = Placement({std::move(map), std::move(mirror)});
  return checkDirections(schedule, text, diags);
}

/// Sets the groups of tied stages: the given groups, else the groups of the
/// lists, since a file names the ranks of a group and not its stages.
LogicalResult CsvHeader::inferTies(Schedule &schedule, StringRef text,
                                   const ListOptions &options,
                                   DiagEngine &diags) const {
  if (tied.empty() && !options.ties)
    return success();
  auto cellOf = [&](unsigned group) {
    return cellAt(text, diags.sourceFiles().expand(tied[group]).getPointer());
  };
  if (schedule.placement.bidirectional())
    return options.ties
               ? diags.report(DiagLoc(), diag::GraphBidirectional, "--tie")
               : diags.report(cellOf(tied.size() - 1), diag::GraphBidirectional,
                              "REDUCE_TIED");
  TieBuilder ties(schedule.numStages, diags);
  if (options.ties) {
    for (const std::vector<int64_t> &group : *options.ties)
      if (failed(ties.add(group, SMRange())))
        return failure();
    if (tied.size() > options.ties->size())
      return diags.report(cellOf(tied.size() - 1), diag::CsvTiedNotGiven,
                          tied.size() - 1,
                          countText(options.ties->size(), "group"));
    schedule.ties = ties.take();
    return success();
  }
  for (unsigned group = 0; group != tied.size(); ++group)
    if (!tied[group].isValid())
      return diags.report(cellOf(tied.size() - 1), diag::CsvTiedGap, group,
                          tied.size() - 1);
  for (const auto &[group, stages] : enumerate(tiesOfLists(schedule)))
    if (failed(
            stages.empty()
                ? diags.report(cellOf(group), diag::CsvTiedNoStage, group)
                : ties.add(std::vector<int64_t>(stages.begin(), stages.end()),
                           cellOf(group))))
      return failure();
  schedule.ties = ties.take();
  return success();
}

} // namespace pipec
