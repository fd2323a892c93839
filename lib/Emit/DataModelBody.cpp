//===- DataModelBody.cpp - Families and steps as data ---------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"

#include <cstdlib>

using namespace llvm;

namespace pipec {

/// The names of the loop variables around a step, outermost first.
static constexpr StringLiteral loopVariables = "ijk";
static_assert(loopVariables.size() == maxLoopDepth);

DataValue DataModel::familyField(const DataNode &object,
                                 DataField field) const {
  bool isFamily = DataType(object.type) == DataType::Family;
  uint32_t number = isFamily ? object.index : object.a;
  const RankFamily &family = families().families[number];
  switch (field) {
  case DataField::Family_name:
    return DataValue::of(StringRef(family.name));
  case DataField::Family_typeName:
    return DataValue::of(StringRef(families().typeNames[number]));
  case DataField::Family_hasRows:
    return DataValue::of(!family.columns.empty());
  case DataField::Family_columns:
    return DataValue::list(
        listOf(DataType::Column, family.columns.size(), number));
  case DataField::Family_rows:
    return DataValue::list(listOf(DataType::Row, family.ranks.size(), number));
  case DataField::Family_body:
    return DataValue::list(
        listOf(DataType::Node, families().bodies[number].numRoots, number, 0));
  case DataField::Column_name:
  case DataField::Value_name:
    return DataValue::of(StringRef(family.columnNames[object.index]));
  case DataField::Row_rank:
    return DataValue::of(int64_t(family.ranks[object.index]));
  case DataField::Row_values:
    return DataValue::list(
        listOf(DataType::Value, family.columns.size(), number, object.index));
  case DataField::Value_value:
    return DataValue::of(family.columns[object.index][object.b]);
  case DataField::Family_last:
  case DataField::Column_last:
  case DataField::Row_last:
  case DataField::Value_last:
    return DataValue::of(object.isLast());
  default:
    llvm_unreachable("a field of another object");
  }
}

/// A field of a loop or a group.
DataValue DataModel::bodyField(const DataNode &object, DataField field) const {
  const FamilyBody &body = families().bodies[object.a];
  const BodyNode &node = body.nodes[object.b];
  const RankFamily &family = families().families[object.a];
  bool isGroup = node.sort == BodyNode::Group;
  auto isCompute = [&] {
    const LoopTree &tree = families().trees[family.ranks.front()];
    return pipec::isCompute(tree.steps[body.nodes[node.begin].begin].kind());
  };
  switch (field) {
  case DataField::Loop_isLoop:
  case DataField::Group_isLoop:
    return DataValue::of(!isGroup);
  case DataField::Loop_isStep:
  case DataField::Group_isStep:
  case DataField::Loop_isOverlap:
  case DataField::Loop_isBatch:
    return DataValue::of(false);
  case DataField::Group_isOverlap:
    return DataValue::of(isCompute());
  case DataField::Group_isBatch:
    return DataValue::of(!isCompute());
  case DataField::Loop_variable:
    return DataValue::of(loopVariables.substr(node.depth, 1));
  case DataField::Loop_count:
    return DataValue::of(family.numbers[node.number].value);
  case DataField::Loop_countColumn: {
    int column = family.numbers[node.number].column;
    return column < 0 ? DataValue::null()
                      : DataValue::of(StringRef(family.columnNames[column]));
  }
  case DataField::Loop_stride:
    return DataValue::of(int64_t(node.growth));
  case DataField::Loop_body:
    return DataValue::list(
        listOf(DataType::Node, node.size, object.a, node.begin));
  case DataField::Group_steps:
    return DataValue::list(
        listOf(DataType::Node, node.size, object.a, node.begin));
  case DataField::Loop_line:
  case DataField::Group_line:
    return node.line == BodyNode::noLine ? DataValue::null()
                                         : DataValue::of(int64_t(node.line));
  case DataField::Loop_startsLine:
  case DataField::Group_startsLine:
    return DataValue::of(node.startsLine);
  case DataField::Loop_phase:
  case DataField::Group_phase:
    return phaseName(node.phase, /*forComment=*/false);
  case DataField::Loop_phaseText:
  case DataField::Group_phaseText:
    return phaseName(node.phase, /*forComment=*/true);
  case DataField::Loop_startsPhase:
  case DataField::Group_startsPhase:
    return DataValue::of(node.startsPhase &&
                         node.phase < schedule.phases.size());
  case DataField::Loop_last:
  case DataField::Group_last:
    return DataValue::of(object.isLast());
  default:
    llvm_unreachable("a field of another object");
  }
}

Step DataModel::stepOf(const DataNode &object) const {
  if (object.a == noFamily)
    return stepsOf(object.b)[object.index];
  const RankFamily &family = families().families[object.a];
  const BodyNode &node = families().bodies[object.a].nodes[object.b];
  return families().trees[family.ranks.front()].steps[node.begin];
}

DataValue DataModel::stepField(const DataNode &object, DataField field) const {
  // A step of a body, or of the plain list of a rank.
  const BodyNode *node = nullptr;
  const RankFamily *family = nullptr;
  Step step;
  const Step *before = nullptr;
  if (object.a != noFamily) {
    node = &families().bodies[object.a].nodes[object.b];
    family = &families().families[object.a];
    step = families().trees[family->ranks.front()].steps[node->begin];
  } else {
    ArrayRef<Step> list = stepsOf(object.b);
    step = list[object.index];
    if (object.index != 0)
      before = &list[object.index - 1];
  }
  auto columnOf = [&](unsigned number) {
    int column = family ? family->numbers[node->number + number].column : -1;
    return column < 0 ? DataValue::null()
                      : DataValue::of(StringRef(family->columnNames[column]));
  };
  bool forMicrobatch = hasMicrobatch(step.kind());
  switch (field) {
#define PIPEC_STEP(Id, Text)                                                   \
  case DataField::Step_is##Id:                                                 \
    return DataValue::of(step.kind() == StepKind::Id);
#define PIPEC_OTHER(Id, Text)
#include "Support/Steps.def"
  case DataField::Step_isLoop:
  case DataField::Step_isOverlap:
  case DataField::Step_isBatch:
    return DataValue::of(false);
  case DataField::Step_isStep:
    return DataValue::of(true);
  case DataField::Step_kind:
    return DataValue::of(stepKindName(step.kind()));
  case DataField::Step_stage:
    return DataValue::of(int64_t(step.stage()));
  case DataField::Step_stageColumn:
    return columnOf(0);
  case DataField::Step_hasMicrobatch:
    return DataValue::of(forMicrobatch);
  case DataField::Step_microbatch:
    return forMicrobatch ? DataValue::of(int64_t(step.microbatch()))
                         : DataValue::null();
  case DataField::Step_microbatchColumn:
    return forMicrobatch ? columnOf(1) : DataValue::null();
  case DataField::Step_stride:
    if (!node || node->depth == 0 || !forMicrobatch)
      return DataValue::of(int64_t(0));
    return DataValue::of(
        int64_t(families().bodies[object.a].nodes[node->parent].growth));
  case DataField::Step_terms: {
    uint32_t where = family ? object.b : step.microbatch();
    DataNode list = listOf(DataType::Term, 0, object.a, where);
    list.size = forMicrobatch ? termsOf(list).size() : 0;
    return DataValue::list(list);
  }
  case DataField::Step_hasPeer:
    return DataValue::of(isP2P(step.kind()) && flow.transfer(step));
  case DataField::Step_peer:
    if (const DataFlow::Port *port =
            isP2P(step.kind()) ? flow.transfer(step) : nullptr)
      return DataValue::of(int64_t(port->rank));
    return DataValue::null();
  case DataField::Step_hasOther:
    return DataValue::of(flow.otherStage(step).has_value());
  case DataField::Step_other:
    if (std::optional<unsigned> other = flow.otherStage(step))
      return DataValue::of(int64_t(*other));
    return DataValue::null();
  case DataField::Step_otherColumn:
    return flow.otherStage(step) ? columnOf(2) : DataValue::null();
  case DataField::Step_joined:
    return DataValue::of(step.joined());
  case DataField::Step_line:
    return DataValue::of(int64_t(node ? node->line : lines(step)));
  case DataField::Step_startsLine:
    return DataValue::of(node ? node->startsLine
                              : lines(step) != (before ? lines(*before) : 0));
  case DataField::Step_phase:
    return phaseName(step.phase(), /*forComment=*/false);
  case DataField::Step_phaseText:
    return phaseName(step.phase(), /*forComment=*/true);
  case DataField::Step_startsPhase: {
    bool starts =
        node ? node->startsPhase : !before || before->phase() != step.phase();
    return DataValue::of(starts && step.phase() < schedule.phases.size());
  }
  case DataField::Step_last:
    return DataValue::of(object.isLast());
  default:
    llvm_unreachable("a field of another object");
  }
}

/// The micro-batch of a step: `3`, `i + 3`, `4 * i + j + n.first`, `7 - i`.
SmallVector<DataModel::Term, 4>
DataModel::termsOf(const DataNode &object) const {
  if (object.a == noFamily)
    return {{.number = int64_t(object.b)}};
  const FamilyBody &body = families().bodies[object.a];
  const BodyNode &node = body.nodes[object.b];
  FamilyNumber base = families().families[object.a].numbers[node.number + 1];
  SmallVector<Term, 4> rising, falling;
  uint32_t at = node.parent;
  for (unsigned depth = node.depth; depth-- != 0; at = body.nodes[at].parent) {
    int64_t growth = body.nodes[at].growth;
    (growth < 0 ? falling : rising)
        .push_back({.minus = growth < 0,
                    .loop = int(depth),
                    .factor = std::abs(growth)});
  }
  SmallVector<Term, 4> terms(rising.rbegin(), rising.rend());
  if (terms.empty() || base.column >= 0 || base.value != 0)
    terms.push_back({.column = base.column, .number = base.value});
  terms.append(falling.rbegin(), falling.rend());
  return terms;
}

DataValue DataModel::termField(const DataNode &object, DataField field) const {
  Term term = termsOf(object)[object.index];
  bool isNumber = term.loop < 0 && term.column < 0;
  switch (field) {
  case DataField::Term_isPlus:
    return DataValue::of(object.index != 0 && !term.minus);
  case DataField::Term_isMinus:
    return DataValue::of(term.minus);
  case DataField::Term_factor:
    return term.factor == 1 ? DataValue::null() : DataValue::of(term.factor);
  case DataField::Term_variable:
    return term.loop < 0 ? DataValue::null()
                         : DataValue::of(loopVariables.substr(term.loop, 1));
  case DataField::Term_column:
    return term.column < 0
               ? DataValue::null()
               : DataValue::of(StringRef(
                     families().families[object.a].columnNames[term.column]));
  case DataField::Term_isNumber:
    return DataValue::of(isNumber);
  case DataField::Term_number:
    return isNumber ? DataValue::of(term.number) : DataValue::null();
  case DataField::Term_last:
    return DataValue::of(object.isLast());
  default:
    llvm_unreachable("a field of another object");
  }
}

} // namespace pipec
