//===- Lists.cpp - Schedules from lists without a header ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Import/Lists.h"

#include "Cost/GivenSettings.h"
#include "Cost/LayoutText.h"
#include "IR/DataFlow.h"
#include "IR/RegularPlacements.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace llvm;

namespace pipec {

void ListSizes::noteRank(StageUse &use, Step step, uint32_t rank) {
  if (use.rank == StageUse::nowhere) {
    use.rank = rank;
    use.place = step.source();
  } else if (use.otherRank == StageUse::nowhere) {
    use.otherRank = rank;
    use.otherPlace = step.source();
  } else if (use.otherRank != rank) {
    use.furtherRanks = true;
  }
}

bool ListSizes::isForwardOnly() const {
  return !(kinds & (1u << unsigned(StepKind::B) | 1u << unsigned(StepKind::I) |
                    1u << unsigned(StepKind::W)));
}

LogicalResult ListSizes::checkOneRank(DiagEngine &diags) const {
  const StageUse *twice = nullptr;
  for (const StageUse &use : stages)
    if (use.otherRank != StageUse::nowhere &&
        (!twice || use.otherPlace.offset < twice->otherPlace.offset))
      twice = &use;
  if (!twice)
    return success();
  return diags
      .report(twice->otherPlace, diag::OrderStageTwice, twice - stages.data(),
              twice->otherRank, twice->rank)
      .note(twice->place, diag::NoteOrderOtherRank, twice->rank);
}

LogicalResult ListSizes::completeMap(Schedule &schedule,
                                     std::optional<unsigned> numStages,
                                     DiagEngine &diags) const {
  unsigned numRanks = schedule.numRanks;
  // The first stage that contradicts a placement.
  auto misfit = [&](auto rankOf) {
    return find_if(stages, [&](const StageUse &use) {
      return use.rank != StageUse::nowhere &&
             use.rank != rankOf(&use - stages.data(), numRanks);
    });
  };
  auto inLoop = misfit(rankInLoop), inV = misfit(rankInLegs);
  bool isLoop = inLoop == stages.end();
  if (!isLoop && inV != stages.end()) {
    auto use = std::max(inLoop, inV);
    return diags.report(use->place, diag::PresentPlacement,
                        use - stages.begin(), use->rank, numRanks);
  }
  schedule.numStages = numStages.value_or(
      std::min<size_t>(alignTo(stages.size(), numRanks), maxStages));
  std::vector<uint32_t> map;
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    map.push_back(isLoop ? rankInLoop(stage, numRanks)
                         : rankInLegs(stage, numRanks));
  schedule.placement = Placement({std::move(map)});
  return success();
}

enum { Ranks, Stages, Microbatches };

StepList *OrderLists::begin(std::optional<unsigned> rank, SourceLoc place) {
  unsigned number = rank.value_or(lists.empty() ? 0 : lists.back().rank + 1);
  if (number >= maxRanks) {
    (void)diags.report(place, diag::OrderNumberTooLarge, "rank", number,
                       maxRanks - 1);
    return nullptr;
  }
  lists.push_back({number, place, {}});
  return &lists.back().steps;
}

/// Sets the number of ranks, and moves each list to its rank.
LogicalResult OrderLists::placeLists() {
  ArrayRef<unsigned> present = options.present;
  const std::optional<unsigned> &declared = allSizes[Ranks].declared;
  unsigned highest = 0;
  for (const List &list : lists)
    highest = std::max(highest, list.rank + 1);
  unsigned ranks = declared.value_or(
      !declaredMap.empty()
          ? *max_element(declaredMap) + 1
          : options.ranks.value_or(present.empty() ? highest : 0));
  if (!ranks)
    return diags.report(schedule.source, diag::PresentRanksUnknown);

  if (!present.empty()) {
    for (unsigned rank : present)
      if (rank >= ranks)
        return diags.report(schedule.source, diag::PresentRank, rank, ranks);
    // A file may have an empty list for each of the other ranks.
    bool isWhole = lists.size() == ranks;
    if (!isWhole && lists.size() != present.size())
      return diags.report(schedule.source, diag::PresentListCount, lists.size(),
                          present.size());
    bool inOrder = all_of(enumerate(lists), [](auto list) {
      return list.value().rank == list.index();
    });
    for (auto [i, list] : enumerate(lists))
      if (inOrder && !isWhole)
        list.rank = present[i];
    for (const List &list : lists)
      if (!list.steps.empty() && !is_contained(present, list.rank))
        return diags.report(list.place, diag::PresentListUnnamed, list.rank);
  }
  schedule.numRanks = ranks;
  schedule.ranks.resize(ranks);
  std::vector<bool> known(ranks);
  for (List &list : lists) {
    if (list.rank >= ranks)
      return diags.report(list.place, diag::OrderSizeDiffers, "ranks", ranks,
                          list.rank + 1);
    known[list.rank] = true;
    schedule.ranks[list.rank] = std::move(list.steps);
  }
  std::string given;
  for (const List &list : lists)
    given += (given.empty() ? "" : ",") + std::to_string(list.rank);
  for (unsigned rank = 0; rank != ranks; ++rank)
    if (!known[rank] && (present.empty() || is_contained(present, rank))) {
      const List &last = lists.back();
      InFlightDiagnostic error =
          diags.report(last.place, diag::OrderRankMissing, rank, last.rank);
      if (present.empty())
        error.note(last.place, diag::NotePresentRanks, given);
      return error;
    }
  return success();
}

LogicalResult OrderLists::inferSizes() {
  auto check = [&](unsigned which, unsigned least,
                   unsigned &size) -> LogicalResult {
    size = allSizes[which].declared.value_or(least);
    if (size >= least)
      return success();
    return diags.report(
        which == Stages && !declaredMap.empty() ? mapPlace
                                                : allSizes[which].place,
        diag::OrderSizeDiffers, allSizes[which].key, size, least);
  };
  // Lists of some ranks may lack the last stages of a micro-batch.
  if (!options.present.empty())
    found.numUnits = std::max(found.numUnits, options.microbatches.value_or(0));
  if (!allSizes[Stages].declared && !declaredMap.empty())
    allSizes[Stages].declared = declaredMap.size();
  return success(
      succeeded(check(Microbatches, found.numUnits, schedule.numUnits)) &&
      succeeded(check(Stages, found.stages.size(), schedule.numStages)));
}

LogicalResult OrderLists::inferMap() {
  if (!declaredMap.empty()) {
    if (declaredMap.size() != schedule.numStages)
      return diags.report(mapPlace, diag::OrderSizeDiffers, "stages",
                          schedule.numStages, declaredMap.size());
    unsigned ranks = *max_element(declaredMap) + 1;
    if (ranks > schedule.numRanks)
      return diags.report(mapPlace, diag::OrderSizeDiffers, "ranks",
                          schedule.numRanks, ranks);
    schedule.placement = Placement({std::move(declaredMap)});
    return success();
  }
  for (StageUse &use : found.stages)
    for (uint32_t *rank : {&use.rank, &use.otherRank})
      if (*rank != StageUse::nowhere)
        *rank = lists[*rank].rank;
  if (failed(found.checkOneRank(diags)))
    return failure();
  if (!options.present.empty()) {
    std::optional<unsigned> stages = allSizes[Stages].declared;
    return found.completeMap(schedule, stages ? stages : options.stages, diags);
  }
  std::vector<uint32_t> map;
  found.stages.resize(schedule.numStages);
  for (auto [stage, use] : enumerate(found.stages)) {
    if (use.rank == StageUse::nowhere)
      return diags.report(found.stages.back().place, diag::OrderStageMissing,
                          stage, schedule.numStages - 1);
    map.push_back(use.rank);
  }
  schedule.placement = Placement({std::move(map)});
  return success();
}

bool OrderLists::readSize(LiteralReader &reader, Size &size) {
  size.place = reader.next();
  return reader.number(size.limit + 1, "number of " + size.key.str(),
                       size.declared.emplace());
}

std::optional<bool> OrderLists::readShared(LiteralReader &reader,
                                           StringRef key) {
  for (Size &size : allSizes)
    if (key == size.key)
      return readSize(reader, size);
  if (key == "layout" && reader.atQuote()) {
    StringRef text;
    if (!reader.string(text))
      return false;
    FailureOr<LayerLayout> read = parseLayout(text, diags);
    if (succeeded(read))
      layout = std::move(*read);
    layoutPlace = rangeOf(text);
    return succeeded(read);
  }
  if (key != "stage_to_rank")
    return std::nullopt;
  mapPlace = reader.next();
  declaredMap.clear();
  mapPlaces.clear();
  return reader.expect('[') && reader.elements(']', [&] {
    SourceLoc place = reader.next();
    unsigned rank = 0;
    if (!reader.number(maxRanks, "rank", rank))
      return false;
    if (declaredMap.size() <= maxStages) {
      declaredMap.push_back(rank);
      mapPlaces.push_back(place);
    }
    return true;
  });
}

FailureOr<Schedule> OrderLists::finish(SourceLoc source) {
  schedule.source = source;
  if (found.numUnits == 0)
    return diags.report(source, diag::OrderNoSteps);
  schedule.forwardOnly = found.isForwardOnly();
  if (failed(placeLists()) || failed(inferSizes()) || failed(inferMap()))
    return failure();
  if (layout && failed(setLayout(schedule, *layout, layoutPlace, diags)))
    return failure();
  return std::move(schedule);
}

//===----------------------------------------------------------------------===//
// The stage graph
//===----------------------------------------------------------------------===//

static bool isTransfer(StepKind kind) {
  return isP2P(kind) || isSendWait(kind);
}

/// The edge of a transfer of `step` whose other end is stage `peer`.
static std::pair<unsigned, unsigned> edgeOf(Step step, unsigned peer) {
  return goesUp(step.kind()) ? std::pair(step.stage(), peer)
                             : std::pair(peer, step.stage());
}

LogicalResult ListGraph::infer(const Schedule &schedule, GraphBuilder &builder,
                               DiagEngine &diags) const {
  auto rangeOf = [&](Step step) {
    return diags.sourceFiles().itemAt(step.source());
  };
  const Named &first = named.front();
  builder.replaceChain(rangeOf(schedule.ranks[first.rank][first.index]));
  std::set<std::pair<unsigned, unsigned>> seen;
  for (const Named &one : named) {
    Step step = schedule.ranks[one.rank][one.index];
    auto [from, to] = edgeOf(step, one.peer);
    if (seen.insert({from, to}).second &&
        failed(builder.add(from, to, rangeOf(step))))
      return failure();
  }
  // By stage, a step that transfers data on the edge of the chain to it.
  std::vector<Step> used(schedule.numStages);
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (isTransfer(step.kind()) && step.port() == 0)
        if (unsigned to = step.stage() + goesUp(step.kind());
            to < schedule.numStages)
          used[to] = step;
  for (unsigned to = 1; to < schedule.numStages; ++to) {
    bool within = schedule.placement.rankOf(to - 1, 0) ==
                  schedule.placement.rankOf(to, 0);
    bool isUsed = used[to].kind() != StepKind::Bubble;
    if ((within || isUsed) && seen.insert({to - 1, to}).second &&
        failed(builder.add(to - 1, to, isUsed ? rangeOf(used[to]) : SMRange())))
      return failure();
  }
  return success();
}

LogicalResult ListGraph::setPorts(Schedule &schedule, DiagEngine &diags) const {
  const DataFlow flow(schedule);
  auto refuse = [&](Step step, unsigned peer) {
    auto [from, to] = edgeOf(step, peer);
    return diags.report(step.source(), diag::ListNoEdge,
                        stepKindName(step.kind()), step.stage(), from, to);
  };
  if (!flow.isChain())
    for (StepList &list : schedule.ranks)
      for (Step &step : list) {
        if (!isTransfer(step.kind()) || step.port() != 0)
          continue;
        unsigned to = step.stage() + goesUp(step.kind());
        if (auto port = flow.portOfChain(step.kind(), step.stage()))
          step.setPort(*port);
        else if (to != 0 && to != schedule.numStages)
          return refuse(step, goesUp(step.kind()) ? to : to - 1);
        // Otherwise the verifier reports that the stage has no neighbour.
      }
  for (const Named &one : named) {
    Step &step = schedule.ranks[one.rank][one.index];
    std::optional<unsigned> port =
        flow.portTo(step.kind(), step.stage(), one.peer);
    if (!port)
      return refuse(step, one.peer);
    step.setPort(*port);
  }
  return success();
}

LogicalResult ListGraph::apply(Schedule &schedule, const ListOptions &options,
                               DiagEngine &diags) const {
  const GivenGraph &given = options.graph;
  if (named.empty() && given.empty())
    return success();
  if (schedule.placement.bidirectional())
    return diags.report(schedule.source, diag::GraphBidirectional,
                        !given.empty()
                            ? given.replaces() ? "--graph" : "--connect"
                            : "a stage that a transfer names");
  if (given.empty() && !options.present.empty())
    return diags.report(schedule.source, diag::ListGraphUnknown);
  GraphBuilder builder(schedule.numStages, diags);
  if (failed(given.empty() ? infer(schedule, builder, diags)
                           : builder.add(given)))
    return failure();
  FailureOr<StageGraph> made = builder.finish();
  if (failed(made))
    return failure();
  schedule.graph = std::move(*made);
  return setPorts(schedule, diags);
}

} // namespace pipec
