//===- UnitColumns.cpp - Units with figures of their own ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/UnitColumns.h"

#include "Support/Diagnostics/AnalysisDiags.h"

#include <set>

using namespace llvm;

namespace pipec {

/// The numbers below `size` of a scope, or of micro-batches of stages, that
/// have a figure up to `last`. Fills `column` with the place of each number in
/// the result; all others share an empty one.
static std::vector<std::optional<unsigned>>
findOwn(const FigureSet &figures, FigureScope scope, Figure last, unsigned size,
        std::vector<uint32_t> &column) {
  std::set<unsigned> numbers;
  for (const auto &[place, row] : figures.in(scope))
    if (place.number < size && row.begin()->first <= last)
      numbers.insert(place.number);
  if (scope == FigureScope::Microbatch)
    for (const auto &[place, row] : figures.in(FigureScope::StageMicrobatch))
      if (place.to < size && row.begin()->first <= last)
        numbers.insert(place.to);
  std::vector<std::optional<unsigned>> own(numbers.begin(), numbers.end());
  if (own.empty())
    return {std::nullopt};
  column.assign(size, uint32_t(own.size()));
  for (auto [i, number] : enumerate(own))
    column[*number] = uint32_t(i);
  if (own.size() != size)
    own.push_back(std::nullopt);
  return own;
}

UnitColumns::UnitColumns(const FigureSet &figures, const ModelSettings &model,
                         Figure last)
    : numSlices(model.numSlices) {
  std::vector<uint32_t> ofBatch;
  auto microbatches = findOwn(figures, FigureScope::Microbatch, last,
                              model.numMicrobatches(), ofBatch);
  auto slices = findOwn(figures, FigureScope::Slice, last, numSlices, ofSlice);
  ownSlices = unsigned(slices.size());
  for (unsigned i = 0; i != ofBatch.size(); ++i)
    ofMicrobatch.push_back(ofBatch[*model.placeOf(i * numSlices).microbatch]);
  for (std::optional<unsigned> microbatch : microbatches)
    for (std::optional<unsigned> slice : slices)
      columns.push_back({microbatch, slice});
}

UnitColumns UnitColumns::ofCosts(const ModelSettings &model) {
  return UnitColumns(model.costs, model, Figure::R);
}

UnitColumns UnitColumns::ofMemory(const ModelSettings &model) {
  return UnitColumns(model.memory, model, Figure::DuringW);
}

/// The first cost or size of a micro-batch that is not a factor, or with
/// `stages` is one for a stage.
static std::optional<std::pair<Place, Figure>>
firstMicrobatchFigure(const ModelSettings &model, bool stages) {
  for (const FigureSet *figures :
       {(const FigureSet *)&model.costs, (const FigureSet *)&model.memory})
    for (const auto &[place, row] : figures->in(FigureScope::Microbatch))
      for (auto [figure, value] : row)
        if (figure != Figure::Factor)
          return std::pair(place, figure);
  for (const auto &[place, row] : model.costs.in(FigureScope::StageMicrobatch))
    for (auto [figure, value] : row)
      if (figure != Figure::Factor || stages)
        return std::pair(place, figure);
  return std::nullopt;
}

bool hasMicrobatchFigures(const ModelSettings &model) {
  return firstMicrobatchFigure(model, /*stages=*/true).has_value();
}

LogicalResult refuseMicrobatchFigures(const ModelSettings &model,
                                      StringRef what, DiagEngine &diags,
                                      bool takesStages) {
  auto first = firstMicrobatchFigure(model, !takesStages);
  if (!first)
    return success();
  auto [place, figure] = *first;
  bool isCost = infoOf(figure).block == FigureBlock::Cost;
  return diags.report(model.source, diag::MicrobatchFigures, what,
                      figureText(figure, place),
                      figure == Figure::Factor ? "factor of one stage"
                      : isCost                 ? "cost"
                                               : "size");
}

} // namespace pipec
