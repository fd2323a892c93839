//===- DataModel.cpp - A schedule as data for templates -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/DataModel.h"

#include "Emit/CppNames.h"
#include "Support/Words.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdlib>

using namespace llvm;

namespace pipec {

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

DataNode DataModel::root() const { return listOf(DataType::Schedule, 1); }

uint64_t DataModel::numObjects() const {
  return schedule.numSteps() + schedule.numRanks + 2ull * schedule.numStages;
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

Step DataModel::stepOf(const DataNode &object) const {
  if (object.a == noFamily)
    return stepsOf(object.b)[object.index];
  const RankFamily &family = families().families[object.a];
  const BodyNode &node = families().bodies[object.a].nodes[object.b];
  return families().trees[family.ranks.front()].steps[node.begin];
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

} // namespace pipec
