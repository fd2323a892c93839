//===- OrderCertificate.cpp - A proof that no order is faster -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Certificate/OrderChecker.h"
#include "Simulation/Simulate.h"
#include "Support/Decimal.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace pipec {

static constexpr StringLiteral title = "pipec-order-certificate";

bool isOrderCertificate(StringRef text) {
  return text.ltrim().starts_with(title);
}

bool OrderChecker::readProblem() {
  if (!line(title) || !word("1") || !end() || !line("ranks"))
    return false;
  unsigned counts[3] = {}, rows = 0;
  if (!number(counts[0], maxRanks) || !word("stages") ||
      !number(counts[1], maxStages) || !word("microbatches") ||
      !number(counts[2], maxUnits) || !end())
    return false;
  const std::tuple<StringRef, unsigned, unsigned> sizes[] = {
      {"ranks", counts[0], schedule.numRanks},
      {"stages", counts[1], schedule.numStages},
      {"micro-batches", counts[2], m}};
  for (auto [what, here, there] : sizes)
    if (here != there)
      return differs("number of " + what, Twine(here), Twine(there));
  if (!line("weights") || !number(rows, maxStages) || !end())
    return false;
  if (rows != 1 && rows != schedule.numStages)
    return --at, wrong("one row of weights, or one per stage");
  for (unsigned row = 0; row != rows; ++row) {
    auto &own = given.emplace_back(m);
    if (!line("row"))
      return false;
    for (Rational &weight : own)
      if (!rational(weight, /*zero=*/true))
        return false;
    if (!end())
      return false;
  }
  return true;
}

/// Finds the times of all compute steps, and the unit of times and weights.
bool OrderChecker::makeSteps() {
  const CostSettings &costs = schedule.costs;
  // The factors of the schedule are weights as well.
  unsigned rows = costs.has(FigureScope::StageMicrobatch) ? schedule.numStages
                                                          : given.size();
  std::vector<std::vector<Rational>> all;
  for (unsigned row = 0; row != rows; ++row) {
    all.push_back(given[given.size() == 1 ? 0 : row]);
    for (auto [i, weight] : enumerate(all.back()))
      for (Place place :
           {Place{FigureScope::Microbatch, unsigned(i)},
            Place{FigureScope::StageMicrobatch, row, unsigned(i)}})
        if (auto factor = costs.get(Figure::Factor, place)) {
          auto product = Rational::mul(weight, *factor);
          if (!product)
            return tooLarge();
          weight = *product;
        }
  }
  constexpr Wide most = Wide(1) << 40;
  auto multiply = [&](int64_t &unit, Rational value) {
    Wide next =
        Wide(unit) / std::gcd(unit, value.denominator()) * value.denominator();
    unit = next <= most ? int64_t(next) : unit;
    return next <= most;
  };
  for (const auto &row : all)
    for (Rational weight : row)
      if (!multiply(weightUnit, weight))
        return tooLarge();
  auto parts = [&](Rational value, int64_t unit) {
    return Wide(value.numerator()) * (unit / value.denominator());
  };
  for (const auto &row : all) {
    auto &own = weights.emplace_back();
    for (Rational weight : row) {
      if (parts(weight, weightUnit) > most)
        return tooLarge();
      own.push_back(int64_t(parts(weight, weightUnit)));
    }
  }

  bool fits = true;
  for (const auto &[place, row] : costs.places())
    for (auto [figure, value] : row)
      if (infoOf(figure).unit == FigureUnit::Time)
        fits &= multiply(timeUnit, value);
  schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
    edges.insert({edge.from, edge.to});
  });
  for (auto [rank, list] : enumerate(schedule.ranks)) {
    std::vector<ComputeStep> &own = ranks.emplace_back();
    for (size_t i = 0; i != list.size(); ++i) {
      size_t last = i;
      while (list[last].joined())
        ++last;
      if (!isCompute(list[i].kind())) {
        i = last;
        continue;
      }
      ArrayRef<Step> group = ArrayRef(list).slice(i, last + 1 - i);
      SmallVector<StepKind, 4> kinds;
      for (Step step : group)
        kinds.push_back(step.kind());
      Rational overlap(1);
      if (group.size() != 1) {
        overlap = costs.overlapFactor(kinds);
        if (costs.ofOverlap(kinds) || overlap < Rational(1))
          return succeeded(LogicalResult(
              diags.report(schedule.source, diag::OrderUncertified,
                           schedule.name, "overlaps that save time")));
      }
      unsigned begin = unsigned(own.size());
      for (Step step : group) {
        UnitPlace unit;
        std::optional<Rational> time = Rational(1);
        auto factor = [&](Place place) {
          if (auto value = costs.get(Figure::Factor, place); value && time)
            time = Rational::mul(*time, *value);
        };
        factor({FigureScope::Rank, unsigned(rank)});
        if (hasUnit(step.kind())) {
          unit.slice = step.unit() % schedule.numSlices;
          factor({FigureScope::Slice, *unit.slice});
        }
        auto cost = costs.of(step.kind(), step.stage(), unsigned(rank), unit);
        time = cost && time ? Rational::mul(*time, *cost) : std::nullopt;
        // Also the longest member of an overlap is a whole number of ticks.
        fits &= time && multiply(timeUnit, *time);
        time = time ? Rational::mul(*time, overlap) : std::nullopt;
        fits &= time && multiply(timeUnit, *time);
        if (!fits)
          return tooLarge();
        own.push_back({step, begin, unsigned(begin + group.size()), *time});
      }
      i = last;
    }
  }
  Wide sum = 0;
  for (auto &list : ranks)
    for (ComputeStep &step : list) {
      sum += parts(step.time, timeUnit);
      if (sum > Wide(1) << 56)
        return tooLarge();
      step.ticks = int64_t(parts(step.time, timeUnit));
    }
  return (fits && Wide(timeUnit) * weightUnit < Wide(1) << 62) || tooLarge();
}

/// Reads the order, and measures it.
bool OrderChecker::readOrder() {
  if (!line("order"))
    return false;
  Schedule own = schedule;
  std::vector<bool> taken(m);
  own.order.clear();
  for (unsigned i = 0; i != m; ++i) {
    unsigned data = 0;
    if (!number(data, m - 1))
      return false;
    if (taken[data])
      return --at, wrong("each micro-batch once");
    taken[data] = true;
    own.order.push_back(data);
  }
  if (!end() || !line("makespan") || !rational(result.makespan, true) || !end())
    return false;
  for (auto [row, values] : enumerate(given))
    for (auto [i, weight] : enumerate(values)) {
      Place place =
          given.size() == 1
              ? Place{FigureScope::Microbatch, unsigned(i)}
              : Place{FigureScope::StageMicrobatch, unsigned(row), unsigned(i)};
      auto factor = Rational::mul(
          weight, own.costs.get(Figure::Factor, place).value_or(Rational(1)));
      if (!factor)
        return tooLarge();
      own.costs.set(Figure::Factor, *factor, place);
    }
  FailureOr<Simulation> run = simulate(own, diags);
  if (failed(run))
    return false;
  Rational makespan = run->time(run->makespan());
  if (makespan != result.makespan)
    return differs("makespan", decimalText(result.makespan),
                   decimalText(makespan));
  return line("bound") && rational(result.bound, true) && end();
}

/// True if data passes from one step to the other, on another rank.
bool OrderChecker::feeds(const ComputeStep &from, const ComputeStep &to) const {
  auto isBackward = [](StepKind kind) {
    return kind == StepKind::B || kind == StepKind::I;
  };
  Step a = from.step, b = to.step;
  if (!hasUnit(a.kind()) || !hasUnit(b.kind()) || a.unit() != b.unit())
    return false;
  if (a.kind() == StepKind::F && b.kind() == StepKind::F)
    return edges.count({a.stage(), b.stage()});
  return isBackward(a.kind()) && isBackward(b.kind()) &&
         edges.count({b.stage(), a.stage()});
}

/// `path 0:0-5 1:3-9`: the steps 0 to 5 of rank 0, then 3 to 9 of rank 1.
bool OrderChecker::readPath(Chain &chain) {
  if (!line("path"))
    return false;
  std::optional<unsigned> before;
  const ComputeStep *last = nullptr;
  Wide latency = 0;
  for (; at != words.size(); ++at) {
    auto [rankText, numbers] = words[at].split(':');
    auto [firstText, lastText] = numbers.split('-');
    unsigned rank = 0, first = 0, final = 0;
    if (rankText.getAsInteger(10, rank) || rank >= schedule.numRanks ||
        firstText.getAsInteger(10, first) || lastText.getAsInteger(10, final) ||
        first > final || final >= ranks[rank].size())
      return wrong("steps of a rank, such as 0:2-5");
    const ComputeStep *start = &ranks[rank][first];
    if (last) {
      // The data of an overlap leaves after all its members, and arrives before
      // all of them.
      auto passes = [&] {
        for (unsigned i = last->begin; i != last->end; ++i)
          for (unsigned j = start->begin; j != start->end; ++j)
            if (feeds(ranks[*before][i], ranks[rank][j]))
              return true;
        return false;
      };
      if (*before == rank || !passes())
        return succeeded(LogicalResult(diags.report(
            place(), diag::OrderPathBroken,
            unsigned(last - ranks[*before].data()), *before, first, rank)));
      Rational hop = schedule.costs.latency(*before, rank);
      latency += Wide(hop.numerator()) * (timeUnit / hop.denominator());
    }
    for (unsigned i = first; i <= final; ++i) {
      const ComputeStep &own = ranks[rank][i];
      if (!hasUnit(own.step.kind())) {
        latency += own.ticks;
        continue;
      }
      uint32_t row = weights.size() == 1 ? 0 : own.step.stage();
      chain.shares[row * m + own.step.unit() / schedule.numSlices] += own.ticks;
    }
    before = rank;
    last = &ranks[rank][final];
  }
  if (latency > Wide(1) << 56)
    return tooLarge();
  chain.fixed = int64_t(latency);
  return true;
}

bool OrderChecker::readPaths() {
  unsigned count = 0;
  if (!line("paths") || !number(count, 1u << 30) || !end())
    return false;
  for (; count != 0; --count)
    if (!readPath(chains.emplace_back()))
      return false;
  return true;
}

FailureOr<CheckedOrder> checkOrderCertificate(StringRef text,
                                              const Schedule &schedule,
                                              DiagEngine &diags) {
  return OrderChecker(text, schedule, diags).run();
}

} // namespace pipec
