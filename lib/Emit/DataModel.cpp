//===- DataModel.cpp - A schedule as data for templates -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"

#include "Emit/CppNames.h"
#include "Support/Words.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace llvm;

namespace pipec {

namespace {

struct FieldInfo {
  DataType object;
  StringLiteral name;
};

constexpr FieldInfo fields[] = {
#define PIPEC_DATA_FIELD(Object, Name, Type, Meaning) {DataType::Object, #Name},
#include "Emit/DataModel.def"
};

constexpr unsigned numTypes = unsigned(DataType::Node);
constexpr uint16_t noField = ~0;

/// The fields of a step in `flags`, which depend on the step alone. The fields
/// of kinds come first, in the order of StepKind.
constexpr DataField flagFields[] = {
#define PIPEC_STEP(Id, Text) DataField::Step_is##Id,
#define PIPEC_OTHER(Id, Text)
#include "Support/Steps.def"
    DataField::Step_hasMicrobatch,
    DataField::Step_joined,
    DataField::Step_last,
};
constexpr unsigned numKindFlags = std::size(flagFields) - 3;
static_assert(numKindFlags == unsigned(StepKind::Bubble) &&
              std::size(flagFields) <= 64);

/// The names of all fields without duplicates, and the field of each name in
/// each object.
struct NameTable {
  StringMap<unsigned> numbers;
  std::vector<StringRef> names;
  std::vector<std::array<uint16_t, numTypes>> fieldOf;
  /// By name, its bit in the flags of a step.
  std::vector<std::optional<unsigned>> flagBits;

  NameTable() {
    for (auto [i, field] : enumerate(fields)) {
      auto [it, isNew] = numbers.try_emplace(field.name, names.size());
      if (isNew) {
        names.push_back(field.name);
        fieldOf.emplace_back().fill(noField);
      }
      fieldOf[it->second][unsigned(field.object)] = i;
    }
    flagBits.resize(names.size());
    for (auto [bit, field] : enumerate(flagFields))
      flagBits[numbers.lookup(fields[unsigned(field)].name)] = bit;
  }
};

const NameTable &nameTable() {
  static const NameTable table;
  return table;
}

DataValue textOrNull(StringRef text) {
  return text.empty() ? DataValue::null() : DataValue::of(text);
}

/// The number of items per line in a table.
constexpr unsigned itemsPerLine = 16, pairsPerLine = 8;

} // namespace

DataModel::DataModel(const Schedule &schedule, const SourceFiles &files)
    : schedule(schedule), flow(schedule), lines(schedule, files),
      nameText(cppComment(schedule.name)),
      sourceText(cppComment(lines.fileName())),
      cppNamespace(pipec::cppNamespace(schedule.name)),
      cppGuard(pipec::cppGuard(schedule.name)),
      cppShortName(pipec::cppShortName(schedule.name)),
      quotedName(cppLiteral(schedule.name)),
      quotedSource(cppLiteral(lines.fileName())) {
  for (const std::string &phase : schedule.phases)
    phaseTexts.push_back(cppComment(phase));
  for (const auto &[name, value] : schedule.params)
    paramTexts.push_back(cppComment(name));
  for (const std::vector<unsigned> &group : schedule.ties)
    tieTexts.push_back(listText(group));
  layout = layoutText(schedule.layers);
  sharded.resize(schedule.numStages);
  reduced.resize(schedule.numStages);
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      hasSteps |= step.kind() != StepKind::Bubble;
      if (step.kind() == StepKind::ReduceGrad)
        reducesGradients = true;
      if (step.kind() != StepKind::Unshard && step.kind() != StepKind::Reshard)
        continue;
      sharded[step.stage()] = true;
      isSharded = true;
    }
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    reduced[stage] =
        reducesGradients && (!schedule.fsdp || schedule.fsdp->reduces(stage));
  if (!schedule.graph.isChain())
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      edges.push_back(edge);
    });
  waitsForSends = schedule.hasSendWaits();
  waitsForReductions = schedule.hasReduceWaits();
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

std::optional<unsigned> DataModel::nameNumber(StringRef name) const {
  auto it = nameTable().numbers.find(name);
  if (it == nameTable().numbers.end())
    return std::nullopt;
  return it->second;
}

ArrayRef<StringRef> DataModel::names() const { return nameTable().names; }

DataNode DataModel::root() const { return listOf(DataType::Schedule, 1); }

uint64_t DataModel::numObjects() const {
  return schedule.numSteps() + schedule.numRanks + 2ull * schedule.numStages;
}

bool DataModel::has(const DataNode &object, unsigned name) const {
  return nameTable().fieldOf[name][object.type] != noField;
}

DataValue DataModel::get(const DataNode &object, unsigned name) const {
  return value(object, DataField(nameTable().fieldOf[name][object.type]));
}

std::optional<unsigned> DataModel::flagBit(unsigned name) const {
  return nameTable().flagBits[name];
}

DataFlags DataModel::flags(const DataNode &object) const {
  if (DataType(object.type) != DataType::Step)
    return {};
  Step step = stepOf(object);
  uint64_t ofKind = uint64_t(1) << unsigned(step.kind());
  uint64_t others = uint64_t(hasMicrobatch(step.kind())) |
                    uint64_t(step.joined()) << 1 |
                    uint64_t(object.isLast()) << 2;
  // A bubble has no field of its own.
  uint64_t values =
      (ofKind & ((uint64_t(1) << numKindFlags) - 1)) | others << numKindFlags;
  return {(uint64_t(1) << std::size(flagFields)) - 1, values};
}

void DataModel::forEachField(
    const DataNode &object,
    function_ref<void(StringRef, const DataValue &)> visit) const {
  auto first = llvm::find_if(fields, [&](const FieldInfo &info) {
    return uint16_t(info.object) == object.type;
  });
  for (const FieldInfo *info = first;
       info != std::end(fields) && uint16_t(info->object) == object.type;
       ++info) {
    DataValue found = value(object, DataField(info - fields));
    // Only the field of the step's own kind is written.
    bool isKind = info->object == DataType::Step &&
                  info - fields > unsigned(DataField::Step_kind) &&
                  info - fields < unsigned(DataField::Step_stage);
    if (!isKind || found.isTrue())
      visit(info->name, found);
  }
}

DataNode DataModel::item(const DataNode &list, uint32_t index) const {
  DataNode node = list;
  node.index = index;
  if (DataType(list.type) != DataType::Node)
    return node;
  node.b = list.b + index;
  switch (families().bodies[node.a].nodes[node.b].sort) {
  case BodyNode::Loop:
    node.type = uint16_t(DataType::Loop);
    break;
  case BodyNode::Group:
    node.type = uint16_t(DataType::Group);
    break;
  case BodyNode::Step:
    node.type = uint16_t(DataType::Step);
    break;
  }
  return node;
}

const DataModel::Families &DataModel::families() const {
  if (made)
    return *made;
  made = std::make_unique<Families>();
  auto lineOf = [&](Step step) { return lines(step); };
  for (const StepList &list : schedule.ranks) {
    made->trees.push_back(findLoops(list));
    made->trees.back().nameOthers(flow);
  }
  made->families = findFamilies(made->trees, lineOf);
  made->places.assign(schedule.numRanks, {noFamily, 0});
  for (auto [i, family] : enumerate(made->families)) {
    made->bodies.push_back(
        makeFamilyBody(made->trees[family.ranks.front()], lineOf));
    std::string typeName = family.name;
    typeName[0] = toUpper(typeName[0]);
    made->typeNames.push_back(std::move(typeName));
    for (auto [row, rank] : enumerate(family.ranks))
      made->places[rank] = {uint32_t(i), uint32_t(row)};
  }
  return *made;
}

const DataModel::Communication &DataModel::communication() const {
  if (communicates)
    return *communicates;
  communicates = std::make_unique<Communication>();
  auto &pairs = communicates->pairs;
  // A rank has few peers, and as a rule the same one many times in a row.
  SmallVector<unsigned> peers;
  for (auto [rank, list] : enumerate(schedule.ranks)) {
    peers.clear();
    for (Step step : list)
      if (isP2P(step.kind()))
        if (const DataFlow::Port *port = flow.transfer(step))
          if (!is_contained(peers, port->rank))
            peers.push_back(port->rank);
    for (unsigned peer : peers)
      pairs.push_back(std::minmax(unsigned(rank), peer));
  }
  sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());

  WaitOutcomes ends = endsUnder(schedule, Transfers(schedule));
  constexpr std::pair<WaitModel, StringLiteral> kinds[] = {
      {WaitModel::Stream, "one"},
      {WaitModel::Pair, "pair"},
      {WaitModel::Edge, "edge"}};
  for (const auto &[model, name] : kinds)
    if (ends[model]) {
      communicates->communicators = name;
      break;
    }
  return *communicates;
}

ArrayRef<Step> DataModel::stepsOf(unsigned rank) const {
  if (stepsRank != rank)
    steps = stepsToWrite(schedule.ranks[rank]);
  stepsRank = rank;
  return steps;
}

DataValue DataModel::phaseName(unsigned phase, bool forComment) const {
  if (phase >= schedule.phases.size())
    return DataValue::null();
  return DataValue::of(forComment ? StringRef(phaseTexts[phase])
                                  : StringRef(schedule.phases[phase]));
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

DataValue DataModel::value(const DataNode &object, DataField field) const {
  switch (DataType(object.type)) {
  case DataType::Schedule:
    return scheduleField(field);
  case DataType::Cpp:
    return cppField(field);
  case DataType::Param:
  case DataType::Home:
  case DataType::RankPair:
  case DataType::Edge:
  case DataType::Stage:
  case DataType::Tie:
  case DataType::Phase:
  case DataType::Rank:
    return itemField(object, field);
  case DataType::Family:
  case DataType::Column:
  case DataType::Row:
  case DataType::Value:
    return familyField(object, field);
  case DataType::Loop:
  case DataType::Group:
    return bodyField(object, field);
  case DataType::Step:
    return stepField(object, field);
  case DataType::Term:
    return termField(object, field);
  case DataType::Node:
    break;
  }
  llvm_unreachable("an item of a list has a type");
}

DataValue DataModel::scheduleField(DataField field) const {
  switch (field) {
  case DataField::Schedule_format:
    return DataValue::of(StringRef("pipec-model 1"));
  case DataField::Schedule_name:
    return DataValue::of(StringRef(schedule.name));
  case DataField::Schedule_nameText:
    return DataValue::of(StringRef(nameText));
  case DataField::Schedule_source:
    return textOrNull(lines.fileName());
  case DataField::Schedule_sourceText:
    return textOrNull(sourceText);
  case DataField::Schedule_params:
    return DataValue::list(listOf(DataType::Param, schedule.params.size()));
  case DataField::Schedule_numRanks:
    return DataValue::of(int64_t(schedule.numRanks));
  case DataField::Schedule_numStages:
    return DataValue::of(int64_t(schedule.numStages));
  case DataField::Schedule_numMicrobatches:
    return DataValue::of(int64_t(schedule.numMicrobatches));
  case DataField::Schedule_numDirections:
    return DataValue::of(int64_t(schedule.placement.numDirections()));
  case DataField::Schedule_rankOfStage:
    return DataValue::list(
        listOf(DataType::Home, size_t(schedule.numStages) *
                                   schedule.placement.numDirections()));
  case DataField::Schedule_rankPairs:
    return DataValue::list(
        listOf(DataType::RankPair, communication().pairs.size()));
  case DataField::Schedule_communicators:
    return textOrNull(communication().communicators);
  case DataField::Schedule_isGraph:
    return DataValue::of(!schedule.graph.isChain());
  case DataField::Schedule_edges:
    return DataValue::list(listOf(DataType::Edge, edges.size()));
  case DataField::Schedule_stages:
    return DataValue::list(listOf(DataType::Stage, schedule.numStages));
  case DataField::Schedule_forwardOnly:
    return DataValue::of(schedule.forwardOnly);
  case DataField::Schedule_bidirectional:
    return DataValue::of(schedule.placement.bidirectional());
  case DataField::Schedule_isSharded:
    return DataValue::of(isSharded);
  case DataField::Schedule_reducesGradients:
    return DataValue::of(reducesGradients);
  case DataField::Schedule_reducesSome:
    return DataValue::of(reducesGradients &&
                         llvm::is_contained(reduced, false));
  case DataField::Schedule_hasTies:
    return DataValue::of(!schedule.ties.empty());
  case DataField::Schedule_layout:
    return textOrNull(layout);
  case DataField::Schedule_ties:
    return DataValue::list(listOf(DataType::Tie, schedule.ties.size()));
  case DataField::Schedule_waitsForSends:
    return DataValue::of(waitsForSends);
  case DataField::Schedule_waitsForReductions:
    return DataValue::of(waitsForReductions);
  case DataField::Schedule_waits:
    return DataValue::of(waitsForSends || waitsForReductions);
  case DataField::Schedule_hasSteps:
    return DataValue::of(hasSteps);
  case DataField::Schedule_phases:
    return DataValue::list(listOf(DataType::Phase, schedule.phases.size()));
  case DataField::Schedule_cpp:
    return DataValue::object(listOf(DataType::Cpp, 1));
  case DataField::Schedule_families:
    return DataValue::list(
        listOf(DataType::Family, families().families.size()));
  case DataField::Schedule_ranks:
    return DataValue::list(listOf(DataType::Rank, schedule.numRanks));
  default:
    llvm_unreachable("a field of another object");
  }
}

DataValue DataModel::cppField(DataField field) const {
  switch (field) {
  case DataField::Cpp_namespace:
    return DataValue::of(StringRef(cppNamespace));
  case DataField::Cpp_guard:
    return DataValue::of(StringRef(cppGuard));
  case DataField::Cpp_shortName:
    return textOrNull(cppShortName);
  case DataField::Cpp_quotedName:
    return DataValue::of(StringRef(quotedName));
  case DataField::Cpp_quotedSource:
    return DataValue::of(StringRef(quotedSource));
  default:
    llvm_unreachable("a field of another object");
  }
}

/// A field of an item of the schedule's lists, other than families.
DataValue DataModel::itemField(const DataNode &object, DataField field) const {
  uint32_t i = object.index;
  bool last = object.isLast();
  bool wraps = !last && (i + 1) % itemsPerLine == 0;
  switch (field) {
  case DataField::Param_name:
    return DataValue::of(StringRef(schedule.params[i].first));
  case DataField::Param_nameText:
    return DataValue::of(StringRef(paramTexts[i]));
  case DataField::Param_value:
    return DataValue::of(schedule.params[i].second);
  case DataField::Home_direction:
    return DataValue::of(int64_t(i / schedule.numStages));
  case DataField::Home_stage:
    return DataValue::of(int64_t(i % schedule.numStages));
  case DataField::Home_rank:
    return DataValue::of(int64_t(schedule.placement.rankOf(
        i % schedule.numStages, i / schedule.numStages)));
  case DataField::RankPair_lower:
    return DataValue::of(int64_t(communication().pairs[i].first));
  case DataField::RankPair_higher:
    return DataValue::of(int64_t(communication().pairs[i].second));
  case DataField::RankPair_wraps:
    return DataValue::of(!last && (i + 1) % pairsPerLine == 0);
  case DataField::Edge_from:
    return DataValue::of(int64_t(edges[i].from));
  case DataField::Edge_to:
    return DataValue::of(int64_t(edges[i].to));
  case DataField::Stage_stage:
  case DataField::Rank_rank:
    return DataValue::of(int64_t(i));
  case DataField::Stage_layers:
    return schedule.layers.empty()
               ? DataValue::null()
               : DataValue::of(StringRef(schedule.layers[i]));
  case DataField::Stage_reduced:
    return DataValue::of(bool(reduced[i]));
  case DataField::Stage_sharded:
    return DataValue::of(bool(sharded[i]));
  case DataField::Tie_group:
    return DataValue::of(int64_t(i));
  case DataField::Tie_stages:
    return DataValue::of(StringRef(tieTexts[i]));
  case DataField::Home_wraps:
  case DataField::Edge_wraps:
  case DataField::Stage_wraps:
    return DataValue::of(wraps);
  case DataField::Phase_name:
    return phaseName(i, /*forComment=*/false);
  case DataField::Phase_nameText:
    return phaseName(i, /*forComment=*/true);
  case DataField::Rank_hasSteps:
    return DataValue::of(any_of(schedule.ranks[i], [](Step step) {
      return step.kind() != StepKind::Bubble;
    }));
  case DataField::Rank_steps:
    return DataValue::list(
        listOf(DataType::Step, stepsOf(i).size(), noFamily, i));
  case DataField::Param_last:
  case DataField::Home_last:
  case DataField::RankPair_last:
  case DataField::Edge_last:
  case DataField::Stage_last:
  case DataField::Tie_last:
  case DataField::Phase_last:
  case DataField::Rank_last:
    return DataValue::of(last);
  default:
    break;
  }
  // The family of a rank.
  auto [family, row] = families().places[i];
  const RankFamily *found =
      family == noFamily ? nullptr : &families().families[family];
  switch (field) {
  case DataField::Rank_family:
    return found ? DataValue::of(StringRef(found->name)) : DataValue::null();
  case DataField::Rank_hasRow:
    return DataValue::of(found && !found->columns.empty());
  case DataField::Rank_row:
    return found ? DataValue::of(int64_t(row)) : DataValue::null();
  default:
    llvm_unreachable("a field of another object");
  }
}

} // namespace pipec
