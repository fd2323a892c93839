//===- TickCosts.cpp - Durations as whole numbers ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/TickCosts.h"

#include "llvm/ADT/SmallString.h"

#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec {

namespace {

/// Collects denominators into their least common multiple.
class CommonDenominator {
public:
  void add(std::optional<Rational> value) {
    if (!value || !fits)
      return;
    int64_t den = value->denominator();
    __int128 next = __int128(common) / std::gcd(common, den) * den;
    fits = next <= std::numeric_limits<int64_t>::max();
    if (fits)
      common = int64_t(next);
  }
  void add(const CostSettings::Row &row) {
    for (std::optional<Rational> cost : row.of)
      add(cost);
  }

  int64_t common = 1;
  bool fits = true;
};

} // namespace

/// `value` in ticks, which divide it; nothing when they do not fit.
static std::optional<int64_t> ticksOf(std::optional<Rational> value,
                                      int64_t perUnit) {
  if (!value)
    return std::nullopt;
  assert(!value->isNegative() && perUnit % value->denominator() == 0);
  __int128 ticks =
      __int128(value->numerator()) * (perUnit / value->denominator());
  if (ticks > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return int64_t(ticks);
}

/// The kinds of `members` in their order, as a key.
template <typename Members, typename KindOf>
static SmallString<16> keyOf(const Members &members, KindOf kindOf) {
  SmallString<16> key;
  for (const auto &member : members)
    key.push_back(char('0' + unsigned(kindOf(member))));
  return key;
}

static InFlightDiagnostic reportTooFine(const Schedule &schedule,
                                        DiagEngine &diags) {
  return diags.report(schedule.source, diag::CostsTooFine);
}

FailureOr<TickCosts> TickCosts::make(const Schedule &schedule,
                                     DiagEngine &diags) {
  const CostSettings &settings = schedule.costs;
  CommonDenominator denominator;
  denominator.add(settings.all);
  for (const auto &[stage, row] : settings.stages)
    denominator.add(row);
  for (const CostSettings::Overlap &overlap : settings.overlaps)
    denominator.add(overlap.cost);
  denominator.add(settings.p2p);
  if (!denominator.fits)
    return reportTooFine(schedule, diags);

  TickCosts costs;
  costs.ticksPerUnit = denominator.common;
  bool fits = true;
  auto ticks = [&](std::optional<Rational> value) {
    std::optional<int64_t> result = ticksOf(value, costs.ticksPerUnit);
    fits = fits && result;
    return result.value_or(0);
  };
  costs.hopTicks = ticks(settings.p2p.value_or(Rational(0)));
  for (const CostSettings::Overlap &overlap : settings.overlaps)
    costs.overlaps[keyOf(overlap.members, [](StepKind kind) { return kind; })] =
        ticks(overlap.cost);
  // Most stages cost the same: look into the settings once for all of these.
  auto rowOf = [&](unsigned stage) {
    std::array<int64_t, 4> row;
    for (unsigned kind = 0; kind != 4; ++kind)
      row[kind] = ticks(settings.of(StepKind(kind), stage));
    return row;
  };
  costs.single.assign(schedule.numStages, rowOf(maxStages));
  for (const auto &[stage, row] : settings.stages)
    if (stage < schedule.numStages)
      costs.single[stage] = rowOf(stage);
  if (!fits)
    return reportTooFine(schedule, diags);

  // More than any run takes: each member by itself, and each overlap that has
  // a cost of its own.
  __int128 sum = 0;
  int64_t longest = 0;
  for (const auto &overlap : costs.overlaps)
    longest = std::max(longest, overlap.second);
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      sum += costs.hopTicks;
      if (isCompute(step.kind()))
        sum += costs.single[step.stage()][unsigned(step.kind())];
      if (step.joined())
        sum += longest;
    }
  if (sum > std::numeric_limits<int64_t>::max() / 4)
    return diags.report(schedule.source, diag::TimesTooLarge);
  return costs;
}

int64_t TickCosts::overlapDuration(ArrayRef<Step> members) const {
  if (!overlaps.empty()) {
    auto it =
        overlaps.find(keyOf(members, [](Step step) { return step.kind(); }));
    if (it != overlaps.end())
      return it->second;
  }
  int64_t sum = 0;
  for (Step step : members)
    sum += single[step.stage()][unsigned(step.kind())];
  return sum;
}

Rational TickCosts::time(int64_t ticks) const {
  return *Rational::make(ticks, ticksPerUnit);
}

} // namespace pipec
