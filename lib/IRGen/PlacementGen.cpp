//===- PlacementGen.cpp - The placement of stages on ranks ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Lowering.h"

#include "IR/RegularPlacements.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

namespace {
/// A row of AST/Placements.def.
struct NamedPlacement {
  StringLiteral name;
  unsigned chunks;
  unsigned factor;
  uint32_t (*rankOf)(unsigned stage, unsigned ranks, unsigned chunks);
};
} // namespace

static constexpr NamedPlacement namedPlacements[] = {
#define PIPEC_PLACEMENT(Name, Argument, Chunks, Factor, RankOf, Doc)           \
  {Name, Chunks, Factor,                                                       \
   [](unsigned stage, unsigned ranks, unsigned chunks) -> uint32_t {           \
     return RankOf;                                                            \
   }},
#include "AST/Placements.def"
};

/// The row of a name that Sema has checked.
static const NamedPlacement *namedPlacement(StringRef name) {
  return find_if(namedPlacements,
                 [&](const NamedPlacement &row) { return row.name == name; });
}

LogicalResult Lowering::makePlacement(const PlacementStmt *placement) {
  LogicalResult made = placement->stages ? makeSpelledOut(placement)
                       : placement->name.text == "bidirectional"
                           ? makeBidirectional(placement)
                           : makeNamed(placement);
  if (failed(made))
    return failure();
  listChunks();
  return success();
}

/// The number of chunks per rank of a named placement.
FailureOr<unsigned> Lowering::chunksPerRank(const PlacementStmt *placement) {
  const NamedPlacement &named = *namedPlacement(placement->name.text);
  const ParamDecl *param = checked.chunks;
  int64_t chunks = named.chunks;
  SMRange range = placement->name.range;
  if (placement->argument) {
    std::optional<int64_t> argument = evaluate(placement->argument);
    if (!argument)
      return failure();
    chunks = *argument;
    range = placement->argument->range;
    if (chunks > 0 && chunks <= int64_t(maxStages))
      chunks *= named.factor;
  } else if (chunks > 1 && param) {
    chunks = machine->value(param->variable);
  }
  if (chunks < 1 || chunks > int64_t(maxStages / schedule.numRanks))
    return diags.report(range, diag::PlacementOutOfRange, chunks, maxStages);
  if (param && machine->value(param->variable) != chunks)
    return diags
        .report(range, diag::ChunksDiffer, chunks, param->name.text,
                machine->value(param->variable))
        .note(param->name.range, diag::NoteDefinedHere, param->name.text);
  return unsigned(chunks);
}

LogicalResult Lowering::makeNamed(const PlacementStmt *placement) {
  FailureOr<unsigned> chunks = chunksPerRank(placement);
  if (failed(chunks))
    return failure();
  schedule.numStages = schedule.numRanks * *chunks;
  const NamedPlacement &named = *namedPlacement(placement->name.text);
  std::vector<uint32_t> map(schedule.numStages);
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    map[stage] = named.rankOf(stage, schedule.numRanks, *chunks);
  schedule.placement = Placement({std::move(map)});
  return success();
}

LogicalResult Lowering::makeBidirectional(const PlacementStmt *placement) {
  unsigned p = schedule.numRanks;
  SMRange range = placement->name.range;
  if (p % 2 != 0)
    return diags.report(range, diag::OddBidirectional, p, "ranks");
  if (schedule.numMicrobatches % 2 != 0)
    return diags.report(range, diag::OddBidirectional, schedule.numMicrobatches,
                        "micro-batches");
  if (checked.chunks && machine->value(checked.chunks->variable) != 2)
    return diags
        .report(range, diag::ChunksDiffer, 2, checked.chunks->name.text,
                machine->value(checked.chunks->variable))
        .note(checked.chunks->name.range, diag::NoteDefinedHere,
              checked.chunks->name.text);
  schedule.numStages = p;
  std::vector<std::vector<uint32_t>> maps(2, std::vector<uint32_t>(p));
  for (unsigned s = 0; s != p; ++s) {
    maps[0][s] = s;
    maps[1][s] = p - 1 - s;
  }
  schedule.placement = Placement(std::move(maps));
  return success();
}

LogicalResult Lowering::makeSpelledOut(const PlacementStmt *placement) {
  std::optional<int64_t> stages = evaluate(placement->stages);
  if (!stages)
    return failure();
  if (*stages < 1 || *stages > int64_t(maxStages))
    return diags.report(placement->stages->range, diag::SettingOutOfRange,
                        "stages", *stages,
                        "1.." + std::to_string(maxStages + 1));
  std::vector<uint32_t> map(*stages);
  std::vector<unsigned> held(schedule.numRanks);
  for (int64_t s = 0; s != *stages; ++s) {
    machine->setValue(placement->stageVariable, s);
    std::optional<int64_t> rank = evaluate(placement->rank);
    if (!rank)
      return failure();
    if (*rank < 0 || *rank >= int64_t(schedule.numRanks))
      return diags.report(placement->rank->range, diag::StageOnNoRank, s, *rank,
                          schedule.numRanks);
    map[s] = *rank;
    ++held[*rank];
  }
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    if (held[rank] == 0)
      return diags.report(placement->range, diag::RankWithoutStage, rank);
  if (const ParamDecl *param = checked.chunks)
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (held[rank] != machine->value(param->variable))
        return diags
            .report(placement->range, diag::ChunksDiffer, held[rank],
                    param->name.text, machine->value(param->variable))
            .note(param->name.range, diag::NoteDefinedHere, param->name.text);
  schedule.numStages = *stages;
  schedule.placement = Placement({std::move(map)});
  return success();
}

/// The chunks of a rank are numbered in the order of the stages or, if there
/// are two directions, by direction.
void Lowering::listChunks() {
  chunkStages.assign(schedule.numRanks, {});
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    for (unsigned s = 0; s != schedule.numStages; ++s)
      chunkStages[schedule.placement.rankOf(s, d)].push_back(s);
}

} // namespace pipec
