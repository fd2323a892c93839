//===- LineBound.cpp - A bound for every number of micro-batches ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/LineBound.h"

#include "Support/Decimal.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

using namespace llvm;

namespace pipec {

std::optional<Rational> Line::at(int64_t microbatches) const {
  std::optional<Rational> all = Rational::mul(rate, Rational(microbatches));
  return all ? Rational::add(*all, base) : std::nullopt;
}

std::optional<Line> lineThrough(int64_t microbatches, Rational time,
                                int64_t more, Rational rate) {
  auto each = Rational::div(rate, Rational(more));
  auto all = each ? Rational::mul(*each, Rational(microbatches)) : each;
  auto base = all ? Rational::sub(time, *all) : all;
  return base ? std::optional(Line{*each, *base}) : std::nullopt;
}

std::string lineText(const Line &line, bool asCode) {
  auto fraction = [&](Rational value, StringRef between) {
    std::string text = std::to_string(value.numerator()) + between.str();
    return value.isInteger()
               ? text
               : text + " / " + std::to_string(value.denominator());
  };
  std::string text =
      asCode ? fraction(line.rate, " * m") : decimalText(line.rate) + " m";
  if (line.base.isZero())
    return text;
  bool isLess = line.base.isNegative();
  Rational size = isLess ? *Rational::sub(0, line.base) : line.base;
  return text + (isLess ? " - " : " + ") +
         (asCode ? fraction(size, "") : decimalText(size));
}

namespace {

/// The longest ways to and from steps, for any number of micro-batches: along
/// data, the micro-batches of a letter, and the memory of each stage alone.
class Ways {
public:
  Ways(const Schedule &schedule, const TickCosts &costs, bool split);

  enum : unsigned { F, I, W, Kinds };
  int64_t time(unsigned kind, unsigned stage) const {
    return times[stage][kind];
  }
  /// By micro-batch, the least starts; and by micro-batch from the last one on,
  /// the least times from the end of a step to the end of the run.
  int64_t head(unsigned kind, unsigned stage, size_t j);
  int64_t tail(unsigned kind, unsigned stage, size_t j);

private:
  using Row = std::vector<std::array<int64_t, Kinds>>;

  void addHeads();
  void addTails();
  /// Raises a time to that of a step in a row, and its duration and the hop.
  void raise(int64_t &least, const Row &row, unsigned kind, unsigned stage,
             int64_t hop = 0) const {
    least = std::max(least, row[stage][kind] + time(kind, stage) + hop);
  }

  unsigned stages;
  bool split;
  Row times;
  struct Edge {
    unsigned from, to;
    int64_t forward, back;
  };
  std::vector<Edge> edges;
  /// By stage: an F follows the I (W) so many micro-batches earlier; 0 if it
  /// need not.
  std::vector<std::array<int64_t, Kinds>> lags;
  std::vector<Row> heads, tails;
};

} // namespace

Ways::Ways(const Schedule &schedule, const TickCosts &costs, bool split)
    : stages(schedule.numStages), split(split), times(stages), lags(stages) {
  const auto kinds = kindsOfUnits(split);
  auto rankOf = [&](unsigned stage) {
    return schedule.placement.rankOf(stage, 0);
  };
  const MemorySettings &memory = schedule.memory;
  // The memory of a micro-batch on a stage after each of its steps.
  bool holdsAny = true;
  for (unsigned stage = 0; stage != stages; ++stage) {
    std::optional<Rational> held = Rational(0);
    for (unsigned kind = 0; kind != (split ? 3 : 2); ++kind) {
      std::optional<Rational> more = memory.delta(kinds[kind], stage);
      held = held && more ? Rational::add(*held, *more) : std::nullopt;
      holdsAny = holdsAny && held && !held->isNegative();
    }
  }
  std::vector<std::optional<Rational>> rooms;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    rooms.push_back(memory.limit(rank));
  for (unsigned stage = 0; stage != stages; ++stage)
    if (std::optional<Rational> &room = rooms[rankOf(stage)])
      room = Rational::sub(*room, memory.parameters(stage));
  for (unsigned stage = 0; stage != stages; ++stage) {
    for (unsigned kind = 0; kind != (split ? 3 : 2); ++kind) {
      Step step(kinds[kind], stage, 0);
      times[stage][kind] = costs.ownDuration(step, 0, 1);
    }
    std::optional<Rational> room = rooms[rankOf(stage)];
    if (room)
      room = Rational::sub(*room, memory.during(StepKind::F, stage));
    std::optional<Rational> taken = memory.delta(StepKind::F, stage);
    if (!holdsAny || !room || taken->isZero())
      continue;
    if (auto most = Rational::div(*room, *taken))
      lags[stage][I] = std::max<int64_t>(most->floor(), 0);
    std::optional<Rational> given = memory.delta(StepKind::W, stage);
    if (!split || *given >= Rational(0))
      continue;
    // Before its W, each micro-batch holds at least this.
    Rational held = std::min(*taken, *Rational::sub(0, *given));
    room = Rational::sub(*room, *taken);
    if (auto most = room ? Rational::div(*room, held) : std::nullopt)
      lags[stage][W] = std::max<int64_t>(most->floor() + 1, 0);
  }
  schedule.graph.forEachEdge(stages, [&](StageGraph::Edge edge) {
    edges.push_back({edge.from, edge.to,
                     costs.hop(rankOf(edge.from), rankOf(edge.to)),
                     costs.hop(rankOf(edge.to), rankOf(edge.from))});
  });
  llvm::sort(edges, [](const Edge &a, const Edge &b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
}

void Ways::addHeads() {
  size_t j = heads.size();
  Row &row = heads.emplace_back(stages);
  for (unsigned stage = 0; stage != stages; ++stage) {
    for (unsigned kind = 0; kind != Kinds && j != 0; ++kind)
      raise(row[stage][kind], heads[j - 1], kind, stage);
    for (unsigned kind : {I, W})
      if (size_t lag = lags[stage][kind]; lag && lag <= j)
        raise(row[stage][F], heads[j - lag], kind, stage);
  }
  for (const Edge &edge : edges)
    raise(row[edge.to][F], row, F, edge.from, edge.forward);
  for (unsigned stage = 0; stage != stages; ++stage)
    raise(row[stage][I], row, F, stage);
  for (const Edge &edge : reverse(edges))
    raise(row[edge.from][I], row, I, edge.to, edge.back);
  for (unsigned stage = 0; stage != stages && split; ++stage)
    raise(row[stage][W], row, I, stage);
}

void Ways::addTails() {
  size_t j = tails.size();
  Row &row = tails.emplace_back(stages);
  for (unsigned stage = 0; stage != stages; ++stage) {
    for (unsigned kind = 0; kind != Kinds && j != 0; ++kind)
      raise(row[stage][kind], tails[j - 1], kind, stage);
    for (unsigned kind : {I, W})
      if (size_t lag = lags[stage][kind]; lag && lag <= j)
        raise(row[stage][kind], tails[j - lag], F, stage);
    if (split)
      raise(row[stage][I], row, W, stage);
  }
  for (const Edge &edge : edges)
    raise(row[edge.to][I], row, I, edge.from, edge.back);
  for (unsigned stage = 0; stage != stages; ++stage)
    raise(row[stage][F], row, I, stage);
  for (const Edge &edge : reverse(edges))
    raise(row[edge.from][F], row, F, edge.to, edge.forward);
}

int64_t Ways::head(unsigned kind, unsigned stage, size_t j) {
  while (heads.size() <= j)
    addHeads();
  return heads[j][stage][kind];
}

int64_t Ways::tail(unsigned kind, unsigned stage, size_t j) {
  while (tails.size() <= j)
    addTails();
  return tails[j][stage][kind];
}

std::optional<ProvenLine> proveLine(const LineBound &bound,
                                    const Schedule &schedule,
                                    const TickCosts &costs, std::string &why) {
  auto fail = [&](StringRef text) {
    why = text.str();
    return std::nullopt;
  };
  bool split = false, whole = false;
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      split |= step.kind() == StepKind::I;
      whole |= step.kind() == StepKind::B;
    }
  if (split == whole)
    return fail("a bound for backwards of both forms");
  if (schedule.numSlices != 1 || schedule.placement.bidirectional() ||
      !schedule.costs.overlaps.empty() ||
      schedule.costs.general(Figure::Overlap) < Rational(1))
    return fail("a bound without slices, two directions and overlaps");
  // R and copies change the memory that a micro-batch holds.
  if (schedule.has(step_facts::extras))
    return fail("a bound without recomputation, copies and updates");
  Ways ways(schedule, costs, split);
  const auto kinds = kindsOfUnits(split);
  std::optional<int64_t> head, tail;
  int64_t work = 0, without = 0;
  ProvenLine proven;
  for (const LineBound::Letter &letter : bound.letters)
    if (letter.stage >= schedule.numStages ||
        schedule.placement.rankOf(letter.stage, 0) != bound.rank ||
        !is_contained(kinds, letter.kind) || letter.first < 0 ||
        letter.last < 0 ||
        letter.first + letter.last >= schedule.numMicrobatches())
      return fail("a bound with steps of other ranks, or of more "
                  "micro-batches");
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    for (unsigned kind = 0; kind != (split ? 3 : 2); ++kind) {
      if (schedule.placement.rankOf(stage, 0) != bound.rank)
        continue;
      int64_t first = 0, last = 0;
      for (const LineBound::Letter &letter : bound.letters)
        if (letter.stage == stage && letter.kind == kinds[kind])
          first = letter.first, last = letter.last;
      int64_t start = ways.head(kind, stage, first);
      int64_t rest = ways.tail(kind, stage, last);
      head = std::min(head.value_or(start), start);
      tail = std::min(tail.value_or(rest), rest);
      work += ways.time(kind, stage);
      without += (first + last) * ways.time(kind, stage);
      proven.from = std::max(proven.from, first + last + 1);
    }
  if (!head)
    return fail("a bound of another rank");
  proven.line = {costs.time(work), costs.time(*head + *tail - without)};
  return proven;
}

} // namespace pipec
