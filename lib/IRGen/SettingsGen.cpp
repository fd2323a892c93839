//===- SettingsGen.cpp - Costs, memory, FSDP and expectations -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IRGen/Lowering.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

static StepKind kindOf(Letter letter) { return StepKind(unsigned(letter)); }

bool isAllStages(const Expr *expr) {
  const auto *name = dyn_cast<NameExpr>(expr);
  return name && !name->variable && name->name == "all";
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

LogicalResult applyCosts(Schedule &schedule, ArrayRef<CostSettings> costs,
                         DiagEngine &diags) {
  for (const CostSettings &over : costs) {
    // Known only now: a profile may be for a model with more stages.
    for (const auto &[stage, row] : over.stages)
      if (stage >= schedule.numStages)
        return diags.report(DiagLoc(), diag::SettingOutOfRange, "stage", stage,
                            "0.." + std::to_string(schedule.numStages));
    schedule.costs.merge(over);
  }
  return success();
}

LogicalResult Lowering::makeCosts() {
  if (checked.cost)
    for (const SettingEntry &entry : checked.cost->entries)
      if (failed(makeCostEntry(entry)))
        return failure();
  return applyCosts(schedule, options.costs, diags);
}

/// An entry sees the costs of those above it.
LogicalResult Lowering::makeCostEntry(const SettingEntry &entry) {
  RationalEval eval(*machine, schedule.costs, diags);
  CostSettings &costs = schedule.costs;
  if (entry.isStage) {
    std::optional<unsigned> stage =
        smallNumber(entry.values[0], "stage", 0, schedule.numStages - 1);
    if (!stage)
      return failure();
    for (const SettingEntry &inner : entry.entries) {
      std::optional<Rational> value = eval.evaluate(inner.values[0]);
      if (!value)
        return failure();
      if (value->isNegative())
        return diags.report(inner.range, diag::NegativeCost);
      costs.stages[*stage].of[unsigned(inner.letters[0])] = *value;
    }
    return success();
  }
  std::optional<Rational> value = eval.evaluate(entry.values[0]);
  if (!value)
    return failure();
  if (value->isNegative())
    return diags.report(entry.range, diag::NegativeCost);
  if (entry.letters.empty()) {
    costs.p2p = *value;
  } else if (entry.letters.size() == 1) {
    costs.all.of[unsigned(entry.letters[0])] = *value;
  } else {
    SmallVector<StepKind, 2> members;
    for (Letter letter : entry.letters)
      members.push_back(kindOf(letter));
    costs.overlaps.push_back({std::move(members), *value});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory and FSDP
//===----------------------------------------------------------------------===//

LogicalResult Lowering::makeMemory() {
  if (!checked.memory)
    return success();
  RationalEval eval(*machine, schedule.costs, diags);
  for (const SettingEntry &entry : checked.memory->entries) {
    std::optional<Rational> value = eval.evaluate(entry.values[0]);
    if (!value)
      return failure();
    if (entry.letters.empty())
      schedule.memory.limit = *value;
    else
      schedule.memory.all.of[unsigned(entry.letters[0])] = *value;
  }
  return success();
}

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

static Expectation::Relation relationOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::EQ:
    return Expectation::Relation::EQ;
  case BinaryOp::NE:
    return Expectation::Relation::NE;
  case BinaryOp::LT:
    return Expectation::Relation::LT;
  case BinaryOp::LE:
    return Expectation::Relation::LE;
  case BinaryOp::GT:
    return Expectation::Relation::GT;
  case BinaryOp::GE:
    return Expectation::Relation::GE;
  default:
    llvm_unreachable("not a relation of the grammar");
  }
}

/// Evaluates the clauses of one rank, or those of the whole schedule.
LogicalResult Lowering::makeExpectations(std::optional<unsigned> rank) {
  RationalEval eval(*machine, schedule.costs, diags);
  for (const ExpectStmt *expect : checked.expects) {
    if (expect->ofRank != rank.has_value())
      continue;
    if (expect->condition) {
      std::optional<Rational> holds = eval.evaluate(expect->condition);
      if (!holds)
        return failure();
      if (holds->isZero())
        continue;
    }
    std::optional<Rational> value = eval.evaluate(expect->value);
    if (!value)
      return failure();
    Expectation expectation;
    expectation.metric = *parseMetric(expect->metric.text);
    expectation.relation = relationOf(expect->relation);
    expectation.rank = rank;
    expectation.value = *value;
    expectation.source = diags.sourceFiles().compress(expect->range.Start);
    schedule.expectations.push_back(expectation);
  }
  return success();
}

} // namespace pipec
