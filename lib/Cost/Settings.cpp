//===- Settings.cpp - Costs, memory and FSDP settings ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/Settings.h"

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static std::optional<Rational> half(std::optional<Rational> cost) {
  return cost ? Rational::div(*cost, 2) : std::nullopt;
}

ComputeCost computeCost(Figure figure, const GivenCosts &given) {
  auto of = [&](Figure figure) { return given[unsigned(figure)]; };
  auto f = of(Figure::F), b = of(Figure::B), i = of(Figure::I),
       w = of(Figure::W);
  if (std::optional<Rational> cost = of(figure))
    return {CostRule::Given, cost};
  if (!f && !b && !i && !w)
    return {CostRule::Given, Rational(figure == Figure::B ? 2 : 1)};
  bool hasHalf = i || w;
  std::optional<Rational> sum;
  if (hasHalf)
    sum = Rational::add(i ? *i : *w, w ? *w : *i);
  switch (figure) {
  case Figure::F:
    if (b)
      return {CostRule::HalfOfB, half(b)};
    return {CostRule::HalfOfSum, half(sum)};
  case Figure::B:
    if (hasHalf)
      return {CostRule::Sum, sum};
    return {CostRule::TwiceF, Rational::mul(*f, 2)};
  default:
    break;
  }
  assert(figure == Figure::I || figure == Figure::W);
  std::optional<Rational> other = figure == Figure::I ? w : i;
  if (b && other && *other < *b)
    return {CostRule::RestOfB, Rational::sub(*b, *other)};
  if (b)
    return {CostRule::HalfBackward, half(b)};
  if (other)
    return {CostRule::OtherHalf, other};
  return {CostRule::AsF, f};
}

void ComputeSum::add(const GivenCosts &given, Rational share) {
  for (unsigned kind = 0; kind != sums.size(); ++kind) {
    ComputeCost cost = computeCost(Figure(kind), given);
    auto part = cost.cost ? Rational::mul(*cost.cost, share) : std::nullopt;
    auto &sum = sums[kind];
    sum = part && sum ? Rational::add(*sum, *part) : std::nullopt;
    if (rules[kind] == CostRule::Given)
      rules[kind] = cost.rule;
  }
}

GivenCosts ComputeSum::needed() const {
  GivenCosts given;
  for (unsigned kind = 0; kind != sums.size(); ++kind)
    if (rules[kind] == CostRule::Given)
      given[kind] = sums[kind];
  for (unsigned kind = 0; kind != sums.size(); ++kind) {
    ComputeCost cost = computeCost(Figure(kind), given);
    if (cost.cost != sums[kind] || cost.rule != rules[kind])
      return sums;
  }
  return given;
}

void CostSettings::set(Place place, const ComputeSum &sum) {
  GivenCosts needed = sum.needed();
  for (unsigned kind = 0; kind != needed.size(); ++kind)
    if (needed[kind]) {
      set(Figure(kind), *needed[kind], place);
      if (CostRule rule = sum.rule(Figure(kind)); rule != CostRule::Given)
        assumedSums[place][kind] = rule;
    }
}

/// The places whose costs apply to a stage, narrower ones first.
static SmallVector<Place, 6>
placesOf(unsigned stage, std::optional<unsigned> rank, UnitPlace unit) {
  SmallVector<Place, 6> places;
  if (unit.slice)
    places.push_back({FigureScope::Slice, *unit.slice});
  if (unit.microbatch && stage != anyStage)
    places.push_back({FigureScope::StageMicrobatch, stage, *unit.microbatch});
  if (unit.microbatch)
    places.push_back({FigureScope::Microbatch, *unit.microbatch});
  if (rank)
    places.push_back({FigureScope::Rank, *rank});
  places.append({{FigureScope::Stage, stage}, {}});
  return places;
}

GivenCosts CostSettings::given(unsigned stage, std::optional<unsigned> rank,
                               UnitPlace unit) const {
  GivenCosts costs;
  for (Place place : placesOf(stage, rank, unit))
    for (auto [figure, value] : at(place))
      if (unsigned(figure) < costs.size() && !costs[unsigned(figure)])
        costs[unsigned(figure)] = value;
  return costs;
}

ComputeCost CostSettings::compute(Figure figure, unsigned stage,
                                  std::optional<unsigned> rank,
                                  UnitPlace unit) const {
  ComputeCost result = computeCost(figure, given(stage, rank, unit));
  if (result.isAssumed() || assumedSums.empty())
    return result;
  for (Place place : placesOf(stage, rank, unit))
    if (get(figure, place)) {
      if (auto sums = assumedSums.find(place); sums != assumedSums.end())
        result.rule = sums->second[unsigned(figure)];
      break;
    }
  return result;
}

CostRule CostSettings::ruleOf(StepKind kind, unsigned stage,
                              std::optional<unsigned> rank,
                              UnitPlace unit) const {
  if (kind != StepKind::R)
    return compute(costFigure(kind), stage, rank, unit).rule;
  GivenCosts costs = given(stage, rank, unit);
  bool isAssumed = !has(Figure::R) &&
                   any_of(costs, [](const auto &cost) { return bool(cost); });
  return isAssumed ? CostRule::AsF : CostRule::Given;
}

std::optional<Rational> CostSettings::of(Figure figure, unsigned stage,
                                         std::optional<unsigned> rank,
                                         UnitPlace unit) const {
  if (figure <= Figure::W)
    return computeCost(figure, given(stage, rank, unit)).cost;
  for (Place place : placesOf(stage, rank, unit))
    if (std::optional<Rational> cost = get(figure, place))
      return cost;
  if (figure == Figure::R && !get(figure))
    return of(Figure::F, stage, rank, unit);
  return general(figure);
}

std::optional<Rational> CostSettings::factorOf(unsigned stage, unsigned rank,
                                               unsigned unit,
                                               unsigned slices) const {
  std::optional<Rational> product = Rational(1);
  for (Place place : {Place{FigureScope::Rank, rank},
                      Place{FigureScope::Microbatch, unit / slices},
                      Place{FigureScope::StageMicrobatch, stage, unit / slices},
                      Place{FigureScope::Slice, unit % slices}})
    if (std::optional<Rational> factor = get(Figure::Factor, place))
      product = product ? Rational::mul(*product, *factor) : std::nullopt;
  return product;
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

std::optional<Rational>
CostSettings::generalOverlap(ArrayRef<StepKind> members) const {
  if (std::optional<Rational> cost = ofOverlap(members))
    return cost;
  std::optional<Rational> sum = Rational(0);
  Rational longest = 0;
  for (StepKind member : members) {
    std::optional<Rational> cost = of(member, anyStage);
    sum = cost && sum ? Rational::add(*sum, *cost) : std::nullopt;
    longest = cost ? std::max(longest, *cost) : longest;
  }
  if (sum)
    sum = Rational::mul(*sum, overlapFactor(members));
  return sum ? std::optional(std::max(*sum, longest)) : std::nullopt;
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
  auto same = std::ranges::find(overlaps, overlap.members, &Overlap::members);
  if (same == overlaps.end())
    overlaps.push_back(overlap);
  else
    *same = overlap;
}

LogicalResult CostSettings::addShared(StringRef name, SMRange place,
                                      DiagEngine &diags) {
  std::optional<Stream> stream = parseSharedStream(name);
  if (!stream) {
    SmallVector<StringRef, 4> known;
    for (const auto &[other, text] : sharedStreams)
      known.push_back(text);
    return diags.report(place, diag::ShareStream, name.take_front(40))
        .note(place, diag::NoteChoices, join(known, "`, `"));
  }
  for (const Share &share : shares)
    if (is_contained(share.streams, *stream))
      return diags.report(place, diag::ShareTwice, name);
  shares.back().streams.push_back(*stream);
  return success();
}

void CostSettings::merge(const CostSettings &over) {
  FigureSet::merge(over);
  if (!over.shares.empty())
    shares = over.shares;
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

std::optional<Rational> MemorySettings::of(Figure figure, unsigned stage,
                                           UnitPlace unit) const {
  auto given = [&](Figure figure) -> std::optional<Rational> {
    for (Place place : placesOf(stage, std::nullopt, unit))
      if (std::optional<Rational> own = get(figure, place))
        return own;
    return std::nullopt;
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
  case Figure::DuringB:
    return std::max(given(Figure::DuringI).value_or(Rational(0)),
                    given(Figure::DuringW).value_or(Rational(0)));
  case Figure::DuringI:
  case Figure::DuringW:
    // Either half may need the memory that a backward recomputes into.
    return given(Figure::DuringB).value_or(Rational(0));
  default:
    return infoOf(figure).defaultValue;
  }
}

} // namespace pipec
