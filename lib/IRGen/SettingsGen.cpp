//===- SettingsGen.cpp - Costs, memory, FSDP and expectations -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/GivenSettings.h"
#include "Cost/LayoutText.h"
#include "IRGen/Lowering.h"
#include "Support/Diagnostics/LoweringDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

bool isAllStages(const Expr *expr) {
  const auto *name = dyn_cast<NameExpr>(expr);
  return name && !name->variable && name->name == "all";
}

//===----------------------------------------------------------------------===//
// Costs and memory
//===----------------------------------------------------------------------===//

static SmallVector<StepKind, 2> membersOf(const SettingEntry &entry) {
  SmallVector<StepKind, 2> members;
  for (Letter letter : entry.letters)
    members.push_back(kindOf(letter));
  return members;
}

LogicalResult Lowering::makeCosts() {
  ArrayRef<SettingEntry> entries;
  if (checked.cost)
    entries = checked.cost->entries;
  for (const SettingEntry &entry : entries)
    if (entry.hasText() && failed(makeLayout(entry.text)))
      return failure();
  if (failed(makeFigures(entries, FigureBlock::Cost, schedule.costs)))
    return failure();
  if (failed(giveSections(schedule, options.given, diags)))
    return failure();
  return applyCosts(schedule, options.given, diags);
}

LogicalResult Lowering::makeMemory() {
  if (checked.memory &&
      failed(makeFigures(checked.memory->entries, FigureBlock::Memory,
                         schedule.memory)))
    return failure();
  return applyMemory(schedule, options.given, diags);
}

LogicalResult Lowering::makeLayout(StringRef text) {
  FailureOr<LayerLayout> layout = parseLayout(text, diags);
  if (failed(layout))
    return failure();
  SMRange range(SMLoc::getFromPointer(text.begin()),
                SMLoc::getFromPointer(text.end()));
  return setLayout(schedule, *layout, range, diags);
}

LogicalResult Lowering::makeShare(const SettingEntry &entry) {
  auto ranks = smallNumber(entry.values[0], "share", 1, maxRanks);
  if (!ranks)
    return failure();
  schedule.costs.shares.push_back({unsigned(*ranks), {}});
  for (const SettingEntry &stream : entry.entries)
    if (failed(schedule.costs.addShared(stream.word.text, stream.range, diags)))
      return failure();
  if (entry.entries.empty())
    return diags.report(entry.range, diag::ShareWithout, "streams");
  return success();
}

/// Evaluates the entries of a block or scope. Each entry sees the costs set by
/// the previous ones.
LogicalResult Lowering::makeFigures(ArrayRef<SettingEntry> entries,
                                    FigureBlock block, FigureSet &figures,
                                    Place place) {
  for (const SettingEntry &entry : entries) {
    if (entry.hasText())
      continue;
    if (block == FigureBlock::Cost && entry.isScope &&
        entry.word.text == "share") {
      if (failed(makeShare(entry)))
        return failure();
      continue;
    }
    if (block == FigureBlock::Cost && entry.isScope &&
        entry.word.text == "section") {
      if (failed(makeSectionCost(entry)))
        return failure();
      continue;
    }
    if (entry.isScope && entry.letters.empty()) {
      std::optional<int64_t> begin = 0, end = 1;
      if (entry.isLoop() &&
          (!(begin = evaluate(entry.begin)) || !(end = evaluate(entry.end))))
        return failure();
      for (int64_t value = *begin; value < *end; ++value) {
        if (entry.isLoop())
          machine->setValue(entry.loopVariable, value);
        FailureOr<Place> inner = placeOf(entry, place);
        if (failed(inner) ||
            failed(makeFigures(entry.entries, block, figures, *inner)))
          return failure();
      }
      continue;
    }
    // `F & B { factor = 0.9 }` and `B { during = 1 }` have at most one entry in
    // their braces.
    for (const SettingEntry &one : entry.isScope
                                       ? ArrayRef<SettingEntry>(entry.entries)
                                       : ArrayRef(entry)) {
      std::optional<Rational> value = exact(one.values[0]);
      if (!value)
        return failure();
      bool isOverlap = entry.letters.size() > 1;
      const FigureInfo &info =
          isOverlap ? infoOf(Figure::Factor)
                    : *findFigure(block, place.scope,
                                  leftSide(entry.letters, entry.word),
                                  entry.isScope ? one.word.text : "");
      if (info.refuses(*value) && info.unit == FigureUnit::Size)
        return diags.report(one.range, diag::NegativeSize);
      if (info.refuses(*value))
        return diags.report(one.range, diag::NegativeCost);
      if (isOverlap)
        schedule.costs.set({membersOf(entry), *value, entry.isScope});
      else
        figures.set(info.figure, *value, place);
    }
  }
  return success();
}

/// The place given by the word and the numbers of a scope in `outer`.
FailureOr<Place> Lowering::placeOf(const SettingEntry &entry, Place outer) {
  if (outer.scope == FigureScope::Stage) {
    auto number =
        smallNumber(entry.values[0], infoOf(FigureScope::Microbatch).word, 0,
                    int64_t(schedule.numMicrobatches()) - 1);
    if (!number)
      return failure();
    return Place{FigureScope::StageMicrobatch, outer.number, *number};
  }
  const ScopeInfo &scope =
      *find_if(allScopes(), [&](const ScopeInfo &candidate) {
        return candidate.word == entry.word.text;
      });
  bool isNodes = scope.scope == FigureScope::Nodes;
  int64_t low = isNodes ? 1 : 0;
  int64_t high =
      isNodes ? maxRanks : int64_t(countOf(scope.scope, schedule.sizes())) - 1;
  Place place{scope.scope};
  for (unsigned i = 0; i != scope.numbers; ++i) {
    auto number = smallNumber(entry.values[i], scope.word, low, high);
    if (!number)
      return failure();
    (i == 0 ? place.number : place.to) = *number;
  }
  if (scope.numbers == 2 && place.number == place.to)
    return diags.report(entry.range, diag::EdgeInsideRank, place.number);
  return place;
}

//===----------------------------------------------------------------------===//
// FSDP
//===----------------------------------------------------------------------===//

std::optional<unsigned> Lowering::smallNumber(const Expr *expr, StringRef name,
                                              int64_t low, int64_t high) {
  std::optional<int64_t> value = evaluate(expr);
  if (!value)
    return std::nullopt;
  if (*value >= low && *value <= high)
    return unsigned(*value);
  (void)diags.report(expr->range, diag::SettingOutOfRange, name, *value,
                     std::to_string(low) + ".." + std::to_string(high + 1));
  return std::nullopt;
}

LogicalResult Lowering::makeFsdp() {
  if (!checked.fsdp)
    return success();
  FsdpSettings &fsdp = schedule.fsdp.emplace();
  for (const SettingEntry &entry : checked.fsdp->entries) {
    if (entry.word.text == "stages") {
      if (isAllStages(entry.values[0]))
        continue;
      std::vector<unsigned> stages;
      for (const Expr *value : entry.values) {
        auto stage = smallNumber(value, "stages", 0, schedule.numStages - 1);
        if (!stage)
          return failure();
        stages.push_back(*stage);
      }
      llvm::sort(stages);
      stages.erase(llvm::unique(stages), stages.end());
      fsdp.stages = std::move(stages);
      continue;
    }
    bool active = entry.word.text == "max_active";
    constexpr int64_t high = std::numeric_limits<int32_t>::max();
    auto number =
        smallNumber(entry.values[0], entry.word.text, active ? 1 : 0, high);
    if (!number)
      return failure();
    (active ? fsdp.maxActive : fsdp.prefetch) = *number;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

/// Evaluates the clauses about every rank for one, or all others.
LogicalResult Lowering::makeExpectations(std::optional<unsigned> rank) {
  if (!options.expectations)
    return success();
  for (const ExpectStmt *expect : checked.expects) {
    if (expect->ofEveryRank() != rank.has_value())
      continue;
    if (expect->condition) {
      std::optional<Rational> holds = exact(expect->condition);
      if (!holds)
        return failure();
      if (holds->isZero())
        continue;
    }
    std::optional<Rational> value = exact(expect->value);
    if (!value)
      return failure();
    std::optional<unsigned> of = rank;
    if (expect->rank && !of) {
      of = smallNumber(expect->rank, "rank", 0, schedule.numRanks - 1);
      if (!of)
        return failure();
    }
    schedule.expectations.push_back(
        {*parseMetric(expect->metric.text),
         *parseRelation(spelling(expect->relation)), of, *value,
         diags.sourceFiles().compress(expect->range.Start)});
  }
  return success();
}

} // namespace pipec
