//===- SettingsGen.cpp - Costs, memory, FSDP and expectations -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/SettingWords.h"
#include "IRGen/LetterKind.h"
#include "IRGen/Lowering.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

bool isAllStages(const Expr *expr) {
  const auto *name = dyn_cast<NameExpr>(expr);
  return name && !name->variable && name->name == "all";
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static std::string nameOf(const SettingEntry &entry) {
  return entry.letters.empty() ? entry.word.text.str()
                               : letterName(entry.letters[0]).str();
}

static SmallVector<StepKind, 2> membersOf(const SettingEntry &entry) {
  SmallVector<StepKind, 2> members;
  for (Letter letter : entry.letters)
    members.push_back(kindOf(letter));
  return members;
}

LogicalResult Lowering::makeCosts() {
  if (checked.cost)
    for (const SettingEntry &entry : checked.cost->entries)
      if (failed(makeCostEntry(entry)))
        return failure();
  return applyCosts(schedule, options.given, diags);
}

/// The value of an entry, which sees the costs of those above it.
std::optional<Rational> Lowering::costValue(const SettingEntry &entry) {
  RationalEval eval(*machine, schedule.costs, diags);
  std::optional<Rational> value = eval.evaluate(entry.values[0]);
  if (!value || !value->isNegative())
    return value;
  (void)diags.report(entry.range, diag::NegativeCost);
  return std::nullopt;
}

LogicalResult Lowering::makeCostEntry(const SettingEntry &entry) {
  if (entry.isScope)
    return makeCostScope(entry);
  std::optional<Rational> value = costValue(entry);
  if (!value)
    return failure();
  if (entry.letters.size() > 1)
    schedule.costs.set({membersOf(entry), *value});
  else
    *findSetting(schedule.costs, nameOf(entry)) = *value;
  return success();
}

LogicalResult Lowering::makeCostScope(const SettingEntry &scope) {
  CostSettings &costs = schedule.costs;
  /// Puts each inner value to its word.
  auto fill = [&](auto place) {
    for (const SettingEntry &entry : scope.entries) {
      std::optional<Rational> value = costValue(entry);
      if (!value)
        return failure();
      place(nameOf(entry), *value);
    }
    return success();
  };
  if (!scope.letters.empty())
    return fill([&](StringRef, Rational value) {
      costs.set({membersOf(scope), value, /*isFactor=*/true});
    });

  StringRef word = scope.word.text;
  unsigned low = word == "nodes" ? 1 : 0;
  unsigned size = word == "stage"        ? schedule.numStages
                  : word == "microbatch" ? schedule.numMicrobatches
                  : word == "nodes"      ? maxRanks + 1
                                         : schedule.numRanks;
  SmallVector<unsigned, 2> numbers;
  for (const Expr *expr : scope.values) {
    auto number = smallNumber(expr, word, low, int64_t(size) - 1);
    if (!number)
      return failure();
    numbers.push_back(*number);
  }
  auto fillIn = [&](auto &settings) {
    return fill([&](StringRef name, Rational value) {
      *findSetting(settings, name) = value;
    });
  };
  if (word == "stage")
    return fillIn(costs.stages[numbers[0]]);
  if (word == "microbatch")
    return fill([&](StringRef, Rational value) {
      costs.microbatchFactors[numbers[0]] = value;
    });
  if (word == "rank")
    return fill([&](StringRef name, Rational value) {
      if (name == "factor")
        costs.rankFactors[numbers[0]] = value;
      else
        *findSetting(costs.ranks[numbers[0]], name) = value;
    });
  if (word == "nodes") {
    if (!costs.nodes || costs.nodes->size != numbers[0])
      costs.nodes = CostSettings::Nodes{numbers[0], {}};
    return fillIn(costs.nodes->edge);
  }
  if (numbers[0] == numbers[1])
    return diags.report(scope.range, diag::EdgeInsideRank, numbers[0]);
  return fillIn(costs.edges[{numbers[0], numbers[1]}]);
}

//===----------------------------------------------------------------------===//
// Memory and FSDP
//===----------------------------------------------------------------------===//

LogicalResult Lowering::makeMemory() {
  if (checked.memory)
    for (const SettingEntry &entry : checked.memory->entries) {
      if (!entry.isScope) {
        if (failed(makeMemoryEntry(entry, schedule.memory)))
          return failure();
        continue;
      }
      auto stage = smallNumber(entry.values[0], "stage", 0,
                               int64_t(schedule.numStages) - 1);
      if (!stage)
        return failure();
      for (const SettingEntry &inner : entry.entries)
        if (failed(makeMemoryEntry(inner, schedule.memory.stages[*stage])))
          return failure();
    }
  return applyMemory(schedule, options.given, diags);
}

template <typename Settings>
LogicalResult Lowering::makeMemoryEntry(const SettingEntry &entry,
                                        Settings &settings) {
  RationalEval eval(*machine, schedule.costs, diags);
  std::optional<Rational> value = eval.evaluate(entry.values[0]);
  if (!value)
    return failure();
  std::string name = nameOf(entry);
  if (isMemorySize(name) && value->isNegative())
    return diags.report(entry.range, diag::NegativeSize);
  *findSetting(settings, name) = *value;
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
