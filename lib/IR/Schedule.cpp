//===- Schedule.cpp - A schedule as lists of steps ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/Schedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

std::optional<Rational> CostSettings::of(StepKind kind, unsigned stage) const {
  assert(isCompute(kind));
  auto set = [&](StepKind k) -> std::optional<Rational> {
    if (auto it = stages.find(stage); it != stages.end())
      if (auto cost = it->second.of[unsigned(k)])
        return cost;
    return all.of[unsigned(k)];
  };
  if (auto cost = set(kind))
    return cost;
  if (kind != StepKind::B)
    return Rational(1);
  return Rational::add(set(StepKind::I).value_or(Rational(1)),
                       set(StepKind::W).value_or(Rational(1)));
}

std::optional<Rational>
CostSettings::ofOverlap(ArrayRef<StepKind> members) const {
  for (const Overlap &overlap : overlaps)
    if (ArrayRef<StepKind>(overlap.members) == members)
      return overlap.cost;
  return std::nullopt;
}

void CostSettings::merge(const CostSettings &over) {
  auto mergeRow = [](Row &into, const Row &from) {
    for (unsigned kind = 0; kind != 4; ++kind)
      if (from.of[kind])
        into.of[kind] = from.of[kind];
  };
  mergeRow(all, over.all);
  for (const auto &[stage, row] : over.stages)
    mergeRow(stages[stage], row);
  for (const Overlap &overlap : over.overlaps) {
    auto same = llvm::find_if(overlaps, [&](const Overlap &other) {
      return other.members == overlap.members;
    });
    if (same == overlaps.end())
      overlaps.push_back(overlap);
    else
      same->cost = overlap.cost;
  }
  if (over.p2p)
    p2p = over.p2p;
}

Rational MemorySettings::delta(StepKind kind) const {
  assert(isCompute(kind));
  if (auto set = of[unsigned(kind)])
    return *set;
  switch (kind) {
  case StepKind::F:
    return 1;
  case StepKind::B:
  case StepKind::W:
    return -1;
  default:
    return 0;
  }
}

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

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

bool Schedule::hasPeer(const Step &step) const {
  assert(isP2P(step.kind()));
  int stage = peerStage(step);
  return stage >= 0 && unsigned(stage) < numStages;
}

unsigned Schedule::peerOf(const Step &step) const {
  assert(hasPeer(step));
  return rankOf(peerStage(step), step.microbatch());
}

size_t Schedule::numSteps() const {
  size_t count = 0;
  for (const StepList &list : ranks)
    count += list.size();
  return count;
}

bool Schedule::hasP2P() const {
  return any_of(ranks, [](const StepList &list) {
    return any_of(list, [](Step step) { return isP2P(step.kind()); });
  });
}

bool Schedule::hasFsdp() const {
  return any_of(ranks, [](const StepList &list) {
    return any_of(list, [](Step step) { return isFsdp(step.kind()); });
  });
}

unsigned Schedule::phaseIndex(StringRef phase) {
  auto it = find(phases, phase);
  if (it != phases.end())
    return it - phases.begin();
  phases.push_back(phase.str());
  return phases.size() - 1;
}

void printStep(raw_ostream &os, const Schedule &schedule, Step step) {
  os << stepKindName(step.kind());
  if (hasStage(step.kind()))
    os << " s" << step.stage();
  if (hasMicrobatch(step.kind()))
    os << " m" << step.microbatch();
  if (isP2P(step.kind()) && schedule.hasPeer(step))
    os << (isSend(step.kind()) ? " -> r" : " <- r") << schedule.peerOf(step);
}

std::string stepText(const Schedule &schedule, Step step) {
  std::string text;
  raw_string_ostream os(text);
  printStep(os, schedule, step);
  return text;
}

} // namespace pipec
