//===- Settings.cpp - Costs, memory and FSDP settings ---------------------===//
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

std::optional<Rational> CostSettings::of(Figure figure, unsigned stage,
                                         std::optional<unsigned> rank) const {
  auto given = [&](Figure figure) {
    std::optional<Rational> cost;
    if (rank)
      cost = get(figure, {FigureScope::Rank, *rank});
    if (!cost)
      cost = get(figure, {FigureScope::Stage, stage});
    return cost ? cost : get(figure);
  };
  if (std::optional<Rational> cost = given(figure))
    return cost;
  if (figure != Figure::B)
    return infoOf(figure).defaultValue;
  return Rational::add(given(Figure::I).value_or(Rational(1)),
                       given(Figure::W).value_or(Rational(1)));
}

std::optional<Rational> CostSettings::factorOf(unsigned rank,
                                               unsigned microbatch) const {
  return Rational::mul(
      get(Figure::Factor, {FigureScope::Rank, rank}).value_or(Rational(1)),
      get(Figure::Factor, {FigureScope::Microbatch, microbatch})
          .value_or(Rational(1)));
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
  return set && set->isFactor ? set->cost : general(Figure::Overlap);
}

Rational CostSettings::onEdge(Figure figure, unsigned from, unsigned to) const {
  if (from == to)
    return 0;
  if (auto own = get(figure, {FigureScope::Edge, from, to}))
    return *own;
  for (const auto &[nodes, row] : in(FigureScope::Nodes))
    if (from / nodes.number != to / nodes.number)
      if (auto own = row.get(figure))
        return *own;
  return general(figure);
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
  FigureSet::merge(over);
  // Indexed by members, since a profile may have many overlaps.
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
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::optional<Rational> MemorySettings::of(Figure figure,
                                           unsigned stage) const {
  auto given = [&](Figure figure) {
    std::optional<Rational> own = get(figure, {FigureScope::Stage, stage});
    return own ? own : get(figure);
  };
  if (std::optional<Rational> own = given(figure))
    return own;
  Rational taken = given(Figure::LiveF).value_or(Rational(1));
  switch (figure) {
  case Figure::LiveB:
    return Rational::sub(0, taken);
  case Figure::LiveW: {
    auto left =
        Rational::add(taken, given(Figure::LiveI).value_or(Rational(0)));
    return left ? Rational::sub(0, *left) : std::nullopt;
  }
  default:
    return infoOf(figure).defaultValue;
  }
}

} // namespace pipec
