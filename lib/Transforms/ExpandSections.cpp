//===- ExpandSections.cpp - Sections as stages ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stage s becomes L * K stages, one for each of the K sections of its L layers:
// section k of layer l has the number (L' + l) * K + k, where L' is the number
// of layers of the stages before s. All of them are on the rank of s.
//
//===----------------------------------------------------------------------===//

#include "Cost/LayerCosts.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class Expander {
public:
  Expander(Schedule &schedule, DiagEngine &diags)
      : before(std::move(schedule)), sections(before.sections),
        schedule(schedule), diags(diags) {
    schedule = Schedule(before);
    schedule.ranks.resize(before.numRanks);
    for (unsigned layers : sections.layers)
      firstLayer.push_back(firstLayer.back() + layers);
    for (const Sections::Section &section : sections.list)
      numCompute += section.stream == 0;
  }

  LogicalResult run();

private:
  uint64_t numStages() const {
    return uint64_t(firstLayer.back()) * sections.list.size();
  }
  unsigned stageOf(unsigned stage, unsigned layer, unsigned section) const {
    return (firstLayer[stage] + layer) * sections.list.size() + section;
  }
  /// Calls `visit(stage, section, newStage)` for all sections of all layers.
  template <typename Visitor> void forEachSection(Visitor visit) const {
    for (unsigned stage = 0; stage != before.numStages; ++stage)
      for (unsigned layer = 0; layer != sections.layers[stage]; ++layer)
        for (unsigned k = 0; k != sections.list.size(); ++k)
          visit(stage, k, stageOf(stage, layer, k));
  }

  void expandHeader();
  LogicalResult expandList(unsigned rank);
  void expandCosts();
  void expandMemory();
  void setShare(FigureSet &figures, Figure figure,
                std::optional<Rational> whole, unsigned stage, unsigned section,
                unsigned newStage);
  void setTimes(unsigned stage, unsigned section, unsigned newStage);

  const Schedule before;
  const Sections &sections;
  Schedule &schedule;
  DiagEngine &diags;
  /// By stage, the number of layers of the stages before it; and of all.
  std::vector<unsigned> firstLayer = {0};
  unsigned numCompute = 0;
  bool fits = true;
};

} // namespace

LogicalResult Expander::run() {
  if (numStages() > maxStages)
    return diags.report(schedule.source, diag::SectionsTooMany, numStages(),
                        maxStages);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    if (failed(expandList(rank)))
      return failure();
  expandHeader();
  expandCosts();
  expandMemory();
  if (!fits)
    return diags.report(schedule.source, diag::SectionsOverflow);
  return success();
}

void Expander::expandHeader() {
  schedule.numStages = numStages();
  std::vector<uint32_t> map(schedule.numStages);
  schedule.streams.names = sections.streams;
  if (!sections.streams.empty())
    schedule.streams.ofStage.resize(schedule.numStages);
  forEachSection([&](unsigned stage, unsigned section, unsigned newStage) {
    map[newStage] = before.placement.rankOf(stage, 0);
    if (!sections.streams.empty())
      schedule.streams.ofStage[newStage] = sections.list[section].stream;
  });
  schedule.placement = Placement({std::move(map)});
  schedule.graph = StageGraph();
  schedule.layers.clear();
  schedule.layerPlaces = {};
  schedule.times.clear();
  if (schedule.fsdp && schedule.fsdp->reduced) {
    schedule.fsdp->reduced->clear();
    forEachSection([&](unsigned stage, unsigned, unsigned newStage) {
      if (before.fsdp->reduces(stage))
        schedule.fsdp->reduced->push_back(newStage);
    });
  }
  schedule.sections = {};
}

LogicalResult Expander::expandList(unsigned rank) {
  const StepList &list = before.ranks[rank];
  StepList result;
  for (size_t begin = 0, end; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    Step first = list[begin];
    if (!hasStage(first.kind())) {
      result.push_back(first);
      continue;
    }
    unsigned stage = first.stage();
    if (!computesUnit(first.kind())) {
      for (unsigned layer = 0; layer != sections.layers[stage]; ++layer)
        for (unsigned k = 0; k != sections.list.size(); ++k)
          result.push_back(Step(first.kind(), stageOf(stage, layer, k),
                                first.unit(), first.phase(), first.source()));
      continue;
    }
    SmallVector<Sections::Member, 2> members;
    for (size_t i = begin; i != end; ++i)
      members.push_back({list[i].kind(), sections.layers[list[i].stage()]});
    auto order = sections.order(members);
    if (!order)
      return diags.report(first.source(), diag::SectionsNoBody,
                          stepKindName(list[begin].kind()),
                          stepKindName(list[begin + 1].kind()));
    for (const SectionStep &step : *order) {
      const Step &from = list[begin + step.member];
      result.push_back(Step(step.kind,
                            stageOf(from.stage(), step.layer, step.section),
                            from.unit(), from.phase(), from.source()));
    }
  }
  schedule.ranks[rank] = std::move(result);
  return success();
}

/// Gives a section its share of a figure of its stage: equal ones to those on
/// `compute`, nothing to the others.
void Expander::setShare(FigureSet &figures, Figure figure,
                        std::optional<Rational> whole, unsigned stage,
                        unsigned section, unsigned newStage) {
  std::optional<Rational> share = Rational(0);
  if (sections.list[section].stream == 0 || numCompute == 0) {
    int64_t parts = int64_t(sections.layers[stage]) *
                    (numCompute ? numCompute : sections.list.size());
    share = whole ? Rational::div(*whole, Rational(parts)) : std::nullopt;
  }
  fits &= share.has_value();
  if (share)
    figures.set(figure, *share, {FigureScope::Stage, newStage});
}

/// Sets the times of F, B, I and W of a section.
void Expander::setTimes(unsigned stage, unsigned section, unsigned newStage) {
  Place place{FigureScope::Stage, newStage};
  bool split = sections.isSplit(section);
  const auto &own = sections.list[section].costs;
  auto set = [&](Figure figure, const std::optional<Rational> &given) {
    if (sections.hasCosts())
      return schedule.costs.set(figure, given.value_or(Rational(0)), place);
    ComputeCost whole = before.costs.compute(figure, stage);
    setShare(schedule.costs, figure, whole.cost, stage, section, newStage);
    if (whole.isAssumed())
      schedule.costs.assumedSums[place][unsigned(figure)] = whole.rule;
  };
  set(Figure::F, own[0]);
  set(split ? Figure::I : Figure::B, own[1]);
  if (split)
    set(Figure::W, own[2]);
}

void Expander::expandCosts() {
  if (!sections.hasCosts())
    (void)diags.report(schedule.source, diag::SectionCosts);
  else if (auto without = sections.withoutCost(before.forwardOnly))
    (void)diags.report(schedule.source, diag::SectionCost,
                       stepKindName(without->kind),
                       sections.list[without->section].name);
  schedule.costs = {};
  copyKept(before.costs, schedule.costs);
  schedule.costs.shares = before.costs.shares;
  forEachSection([&](unsigned stage, unsigned section, unsigned newStage) {
    setTimes(stage, section, newStage);
    for (const FigureInfo &info : allFigures())
      if (info.block == FigureBlock::Cost && info.isDivided() &&
          info.figure > Figure::W && before.costs.has(info.figure))
        setShare(schedule.costs, info.figure,
                 before.costs.of(info.figure, stage), stage, section, newStage);
  });
}

void Expander::expandMemory() {
  schedule.memory = {};
  copyKept(before.memory, schedule.memory);
  for (const FigureInfo &info : allFigures()) {
    if (info.block != FigureBlock::Memory || !info.isIn(FigureScope::Stage) ||
        (info.figure != Figure::LiveF && !before.memory.has(info.figure)))
      continue;
    forEachSection([&](unsigned stage, unsigned section, unsigned newStage) {
      std::optional<Rational> whole = before.memory.of(info.figure, stage);
      if (whole && info.isDivided())
        setShare(schedule.memory, info.figure, whole, stage, section, newStage);
      else if (whole)
        schedule.memory.set(info.figure, *whole,
                            {FigureScope::Stage, newStage});
    });
  }
}

LogicalResult runExpandSections(Schedule &schedule,
                                const ExpandSectionsOptions &,
                                DiagEngine &diags) {
  if (schedule.sections.empty())
    return diags.report(schedule.source, diag::PassNeedsSections,
                        schedule.name);
  if (failed(checkNone(schedule, {Stream::Link, Stream::Tied},
                       "expand-sections", diags)))
    return failure();
  // Figures of single ranks, micro-batches and slices would hold for every
  // section.
  for (const FigureSet *figures : {(const FigureSet *)&schedule.costs,
                                   (const FigureSet *)&schedule.memory})
    for (FigureScope scope : {FigureScope::Rank, FigureScope::Microbatch,
                              FigureScope::StageMicrobatch, FigureScope::Slice})
      for (const auto &[place, row] : figures->in(scope))
        for (auto [figure, value] : row)
          if (infoOf(figure).isDivided() ||
              scope == FigureScope::StageMicrobatch)
            return diags.report(schedule.source, diag::SectionsScope,
                                infoOf(figure).name, placeText(place));
  return Expander(schedule, diags).run();
}

} // namespace pipec
