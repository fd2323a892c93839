//===- Settings.cpp - Costs, memory, FSDP and expectations -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Settings.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static void take(std::optional<Rational> &into, std::optional<Rational> from) {
  if (from)
    into = from;
}

std::optional<Rational> &CostSettings::Row::at(StepKind kind) {
  assert(isCompute(kind) || isFsdp(kind));
  return isCompute(kind)
             ? of[unsigned(kind)]
             : collectives[unsigned(kind) - unsigned(StepKind::Unshard)];
}

const std::optional<Rational> &CostSettings::Row::at(StepKind kind) const {
  return const_cast<Row *>(this)->at(kind);
}

void CostSettings::Row::merge(const Row &over) {
  for (auto [into, from] : zip_equal(of, over.of))
    take(into, from);
  for (auto [into, from] : zip_equal(collectives, over.collectives))
    take(into, from);
}

void CostSettings::Edge::merge(const Edge &over) {
  take(p2p, over.p2p);
  take(occupancy, over.occupancy);
}

std::optional<Rational> CostSettings::of(StepKind kind, unsigned stage,
                                         std::optional<unsigned> rank) const {
  auto set = [&](StepKind k) -> std::optional<Rational> {
    if (auto it = rank ? ranks.find(*rank) : ranks.end(); it != ranks.end())
      if (auto cost = it->second.at(k))
        return cost;
    if (auto it = stages.find(stage); it != stages.end())
      if (auto cost = it->second.at(k))
        return cost;
    return all.at(k);
  };
  if (auto cost = set(kind))
    return cost;
  if (isFsdp(kind))
    return Rational(0);
  if (kind != StepKind::B)
    return Rational(1);
  return Rational::add(set(StepKind::I).value_or(Rational(1)),
                       set(StepKind::W).value_or(Rational(1)));
}

std::optional<Rational> CostSettings::factorOf(unsigned rank,
                                               unsigned microbatch) const {
  auto ofRank = rankFactors.find(rank);
  auto ofMicrobatch = microbatchFactors.find(microbatch);
  return Rational::mul(
      ofRank == rankFactors.end() ? Rational(1) : ofRank->second,
      ofMicrobatch == microbatchFactors.end() ? Rational(1)
                                              : ofMicrobatch->second);
}

static const CostSettings::Overlap *
findOverlap(ArrayRef<CostSettings::Overlap> overlaps,
            ArrayRef<StepKind> members) {
  for (const CostSettings::Overlap &overlap : overlaps)
    if (ArrayRef<StepKind>(overlap.members) == members)
      return &overlap;
  return nullptr;
}

std::optional<Rational>
CostSettings::ofOverlap(ArrayRef<StepKind> members) const {
  const Overlap *set = findOverlap(overlaps, members);
  return set && !set->isFactor ? std::optional(set->cost) : std::nullopt;
}

Rational CostSettings::overlapFactor(ArrayRef<StepKind> members) const {
  const Overlap *set = findOverlap(overlaps, members);
  return set && set->isFactor ? set->cost : overlap.value_or(Rational(1));
}

std::optional<Rational>
CostSettings::edgeFigure(std::optional<Rational> Edge::*figure, unsigned from,
                         unsigned to) const {
  if (auto it = edges.find({from, to}); it != edges.end())
    if (auto own = it->second.*figure)
      return own;
  if (nodes && from / nodes->size != to / nodes->size)
    return nodes->edge.*figure;
  return std::nullopt;
}

Rational CostSettings::latency(unsigned from, unsigned to) const {
  if (from == to)
    return 0;
  if (auto own = edgeFigure(&Edge::p2p, from, to))
    return *own;
  return p2p.value_or(Rational(0));
}

Rational CostSettings::occupancyOf(unsigned from, unsigned to) const {
  if (from == to)
    return 0;
  if (auto own = edgeFigure(&Edge::occupancy, from, to))
    return *own;
  return occupancy.value_or(Rational(0));
}

void CostSettings::set(const Overlap &overlap) {
  auto same = find_if(overlaps, [&](const Overlap &other) {
    return other.members == overlap.members;
  });
  if (same == overlaps.end())
    overlaps.push_back(overlap);
  else
    *same = overlap;
}

void CostSettings::merge(const CostSettings &over) {
  all.merge(over.all);
  for (const auto &[stage, row] : over.stages)
    stages[stage].merge(row);
  for (const auto &[rank, row] : over.ranks)
    ranks[rank].merge(row);
  for (const auto &[rank, factor] : over.rankFactors)
    rankFactors[rank] = factor;
  for (const auto &[microbatch, factor] : over.microbatchFactors)
    microbatchFactors[microbatch] = factor;
  take(overlap, over.overlap);
  // By members: a profile may have many overlaps.
  std::map<SmallVector<StepKind, 2>, size_t> known;
  if (!over.overlaps.empty())
    for (const auto &[i, own] : enumerate(overlaps))
      known.emplace(own.members, i);
  for (const Overlap &one : over.overlaps) {
    auto [it, isNew] = known.try_emplace(one.members, overlaps.size());
    if (isNew)
      overlaps.push_back(one);
    else
      overlaps[it->second] = one;
  }
  take(p2p, over.p2p);
  take(occupancy, over.occupancy);
  // Other nodes have other edges.
  if (over.nodes && nodes && over.nodes->size == nodes->size)
    nodes->edge.merge(over.nodes->edge);
  else if (over.nodes)
    nodes = over.nodes;
  for (const auto &[ends, edge] : over.edges)
    edges[ends].merge(edge);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void MemorySettings::Row::merge(const Row &over) {
  for (auto [into, from] : zip_equal(of, over.of))
    take(into, from);
  take(parameters, over.parameters);
  take(sharded, over.sharded);
  take(receive, over.receive);
}

std::optional<Rational> MemorySettings::delta(StepKind kind,
                                              unsigned stage) const {
  assert(isCompute(kind));
  auto it = stages.find(stage);
  auto set = [&](StepKind k) {
    if (it != stages.end() && it->second.of[unsigned(k)])
      return it->second.of[unsigned(k)];
    return all.of[unsigned(k)];
  };
  if (auto own = set(kind))
    return own;
  Rational taken = set(StepKind::F).value_or(Rational(1));
  switch (kind) {
  case StepKind::F:
    return taken;
  case StepKind::B:
    return Rational::sub(0, taken);
  case StepKind::W: {
    auto left = Rational::add(taken, set(StepKind::I).value_or(Rational(0)));
    return left ? Rational::sub(0, *left) : std::nullopt;
  }
  default:
    return Rational(0);
  }
}

static Rational sizeOf(const MemorySettings &memory,
                       std::optional<Rational> MemorySettings::Row::*size,
                       unsigned stage) {
  auto it = memory.stages.find(stage);
  if (it != memory.stages.end() && it->second.*size)
    return *(it->second.*size);
  return (memory.all.*size).value_or(Rational(0));
}

Rational MemorySettings::parameters(unsigned stage) const {
  return sizeOf(*this, &Row::parameters, stage);
}

Rational MemorySettings::sharded(unsigned stage) const {
  return sizeOf(*this, &Row::sharded, stage);
}

Rational MemorySettings::receive(unsigned stage) const {
  return sizeOf(*this, &Row::receive, stage);
}

void MemorySettings::merge(const MemorySettings &over) {
  all.merge(over.all);
  for (const auto &[stage, row] : over.stages)
    stages[stage].merge(row);
  take(limit, over.limit);
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

static constexpr std::pair<Expectation::Metric, StringLiteral> metricNames[] = {
    {Expectation::Metric::Makespan, "makespan"},
    {Expectation::Metric::Span, "span"},
    {Expectation::Metric::BubbleMakespan, "bubble_makespan"},
    {Expectation::Metric::BubbleSpan, "bubble_span"},
    {Expectation::Metric::Idle, "idle"},
    {Expectation::Metric::Peak, "peak"},
};

static constexpr std::pair<Expectation::Relation, StringLiteral>
    relationNames[] = {
        {Expectation::Relation::EQ, "=="}, {Expectation::Relation::NE, "!="},
        {Expectation::Relation::LT, "<"},  {Expectation::Relation::LE, "<="},
        {Expectation::Relation::GT, ">"},  {Expectation::Relation::GE, ">="},
};

template <typename Table, typename Key>
static StringRef nameIn(const Table &table, Key key) {
  for (const auto &[value, name] : table)
    if (value == key)
      return name;
  llvm_unreachable("every value has a name");
}

StringRef metricName(Expectation::Metric metric) {
  return nameIn(metricNames, metric);
}

StringRef relationName(Expectation::Relation relation) {
  return nameIn(relationNames, relation);
}

std::optional<Expectation::Metric> parseMetric(StringRef name) {
  for (const auto &[value, text] : metricNames)
    if (text == name)
      return value;
  return std::nullopt;
}

std::optional<Expectation::Relation> parseRelation(StringRef name) {
  for (const auto &[value, text] : relationNames)
    if (text == name)
      return value;
  return std::nullopt;
}

} // namespace pipec
