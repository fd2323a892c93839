//===- TickCosts.cpp - Durations as integers ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/TickCosts.h"

#include "Support/Decimal.h"
#include "Support/Diagnostics/AnalysisDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec {

/// The kinds of `members` in their order, as a key.
template <typename Members, typename KindOf>
static SmallString<16> keyOf(const Members &members, KindOf kindOf) {
  SmallString<16> key;
  for (const auto &member : members)
    key.push_back(char('0' + unsigned(kindOf(member))));
  return key;
}

static constexpr int64_t largest = std::numeric_limits<int64_t>::max();

/// Computes the least common multiple of denominators.
class TickCosts::CommonDenominator {
public:
  void add(std::optional<Rational> value) {
    if (value && fits)
      multiply(value->denominator() / std::gcd(common, value->denominator()));
  }
  void multiply(int64_t factor) {
    __int128 next = __int128(common) * factor;
    fits = fits && next <= largest;
    if (fits)
      common = int64_t(next);
  }

  int64_t common = 1;
  bool fits = true;
};

/// Fills the tables. Costs of single steps are stored in ticks before the
/// factor of their micro-batch, times of overlaps also before that of their
/// rank, so that each lookup is an integer multiplication.
class TickCosts::Maker {
public:
  Maker(const Schedule &schedule, TickCosts &costs, int64_t parts)
      : schedule(schedule), settings(schedule.costs), costs(costs),
        parts(parts) {}

  /// False if there is no common denominator, once filled.
  bool hasUnit() const { return unitFits; }
  /// Returns false if the ticks do not fit.
  bool fill() {
    if (!findUnit())
      return false;
    fillRows();
    fillColumns();
    costs.tied = ticks(settings.general(Figure::ReduceTied));
    if (settings.has(FigureScope::Microbatch) ||
        settings.has(FigureScope::StageMicrobatch) ||
        settings.has(FigureScope::Slice))
      fillUnits();
    fillOverlaps();
    fillEdges();
    return fits;
  }

  /// An upper bound of the time of any run: the sum of all steps.
  __int128 sumOfAll() const {
    int64_t longest = 0;
    Rational share = 1;
    auto note = [&](const OverlapTicks &overlap) {
      longest = std::max(longest, overlap.ticks);
      share = std::max(share, overlap.factor);
    };
    note(costs.otherOverlaps);
    for (const auto &overlap : costs.overlaps)
      note(overlap.second);
    __int128 times = share.floor() + __int128(!share.isInteger());
    EdgeTicks slowest;
    auto noteEdge = [&](EdgeTicks edge) {
      slowest = {std::max(slowest.latency, edge.latency),
                 std::max({slowest.occupancy, edge.occupancy, edge.port})};
    };
    noteEdge(costs.commonEdge);
    noteEdge(costs.nodesEdge);
    for (const auto &edge : costs.edges)
      noteEdge(edge.second);
    __int128 hop = __int128(slowest.latency) + slowest.occupancy;

    // Sums saturate far above any limit.
    constexpr __int128 enough = __int128(1) << 100;
    auto overlapped = [&](__int128 own, int64_t rankFactor, __int128 factor) {
      return std::min(own, enough / (times + 1)) * times +
             std::min(__int128(longest) * rankFactor, enough / (factor + 1)) *
                 factor;
    };

    // In most cases, as many times the most expensive step is small enough.
    int64_t compute = 0, other = costs.tied, rankFactor = 0, factor = 1;
    for (const ComputeTicks &own : costs.ofUnits)
      compute = std::max(compute, *llvm::max_element(own));
    for (const Row &row : costs.rows) {
      compute = std::max(compute, *llvm::max_element(row.compute));
      other = std::max(other, *llvm::max_element(row.collectives));
    }
    for (const RareCosts &rare : costs.rare) {
      other = std::max({other, rare.update, rare.offload, rare.reload});
      rankFactor = std::max(rankFactor, rare.rankFactor);
    }
    for (int64_t own : costs.microbatches)
      factor = std::max(factor, own);
    __int128 most = hop + other +
                    overlapped(__int128(compute) * factor, rankFactor, factor);
    size_t steps = schedule.numSteps();
    if (most <= largest / 4 / int64_t(std::max<size_t>(steps, 1)))
      return most * steps;

    __int128 sum = 0;
    bool inGroup = false;
    for (auto [rank, list] : enumerate(schedule.ranks))
      for (Step step : list) {
        sum += hop;
        if (step.kind() == StepKind::Update) {
          sum += costs.rare[costs.rowOn(rank, step.stage())].update;
        } else if (isCompute(step.kind())) {
          size_t row = costs.rowOf(step);
          __int128 factor = costs.microbatchFactor(step);
          __int128 own = costs.ownTicks(step) * factor;
          bool last = !step.joined();
          sum += inGroup || !last
                     ? overlapped(own, costs.rare[row].rankFactor, factor)
                     : own;
          inGroup = !last;
        } else if (isPosted(step.kind())) {
          sum += costs.posted(unsigned(rank), step);
        }
        sum = std::min(sum, enough);
      }
    return sum;
  }

private:
  bool findUnit() {
    CommonDenominator times, ofRanks, ofMicrobatches, ofStages, ofSlices,
        ofOverlaps;
    for (const auto &[place, row] : settings.places())
      for (auto [figure, value] : row)
        (infoOf(figure).unit == FigureUnit::Time       ? times
         : place.scope == FigureScope::Rank            ? ofRanks
         : place.scope == FigureScope::Microbatch      ? ofMicrobatches
         : place.scope == FigureScope::StageMicrobatch ? ofStages
         : place.scope == FigureScope::Slice           ? ofSlices
                                                       : ofOverlaps)
            .add(value);
    for (const CostSettings::Overlap &overlap : settings.overlaps)
      (overlap.isFactor ? ofOverlaps : times).add(overlap.cost);
    // Costs that are not given may be half of others.
    forEachRow([&](unsigned stage, std::optional<unsigned> rank) {
      for (UnitPlace unit : columns.places())
        for (unsigned kind = 0; kind <= unsigned(StepKind::R); ++kind)
          times.add(settings.of(StepKind(kind), stage, rank, unit));
    });
    wholeMicrobatchParts = ofMicrobatches.common;
    stageParts = ofStages.common;
    bool othersFit = ofSlices.fits && ofStages.fits;
    if (ofMicrobatches.fits && othersFit) {
      ofMicrobatches.multiply(ofSlices.common);
      ofMicrobatches.multiply(stageParts);
    }
    if (!ofRanks.fits || !ofMicrobatches.fits || !othersFit || !ofOverlaps.fits)
      return false;
    rankParts = ofRanks.common;
    microbatchParts = ofMicrobatches.common;
    times.multiply(ofOverlaps.common);
    times.multiply(rankParts);
    times.multiply(microbatchParts);
    if (times.fits)
      times.multiply(parts / std::gcd(times.common, parts));
    costs.ticksPerUnit = times.common;
    unitFits = times.fits;
    return unitFits;
  }

  /// `value` in parts of 1/`parts`; its denominator divides `parts`.
  int64_t whole(std::optional<Rational> value, int64_t parts) {
    if (!value) {
      fits = false;
      return 0;
    }
    assert(!value->isNegative() && parts % value->denominator() == 0);
    __int128 number =
        __int128(value->numerator()) * (parts / value->denominator());
    fits = fits && number <= largest;
    return int64_t(number);
  }
  int64_t ticks(Rational time) { return whole(time, costs.ticksPerUnit); }

  Rational factorOf(std::optional<unsigned> rank) const {
    return rank ? settings.get(Figure::Factor, {FigureScope::Rank, *rank})
                      .value_or(Rational(1))
                : Rational(1);
  }

  int64_t scaled(std::optional<Rational> cost, std::optional<unsigned> rank,
                 int64_t parts) {
    return whole(cost ? Rational::mul(*cost, factorOf(rank)) : std::nullopt,
                 parts);
  }

  ComputeTicks computeTicks(unsigned stage, std::optional<unsigned> rank,
                            UnitPlace unit = {}) {
    ComputeTicks ticks;
    for (unsigned kind = 0; kind != ticks.size(); ++kind)
      ticks[kind] = scaled(settings.of(StepKind(kind), stage, rank, unit), rank,
                           costs.ticksPerUnit / microbatchParts);
    return ticks;
  }

  std::pair<Row, RareCosts> makeRow(unsigned stage,
                                    std::optional<unsigned> rank) {
    Row row;
    RareCosts rare;
    rare.rankFactor = whole(factorOf(rank), rankParts);
    row.compute = computeTicks(stage, rank);
    rare.update = scaled(settings.of(StepKind::Update, stage, rank), rank,
                         costs.ticksPerUnit);
    rare.offload = ticks(*settings.of(StepKind::Offload, stage, rank));
    rare.reload = ticks(*settings.of(StepKind::Reload, stage, rank));
    costs.anyPosted |= rare.offload != 0 || rare.reload != 0;
    for (unsigned kind = 0; kind != 3; ++kind) {
      auto fsdp = StepKind(unsigned(StepKind::Unshard) + kind);
      row.collectives[kind] = ticks(*settings.of(fsdp, stage, rank));
      costs.anyPosted |= row.collectives[kind] != 0;
    }
    return {row, rare};
  }

  /// Calls `body` with the stages and ranks whose costs may differ: `anyStage`
  /// for those without costs of their own, since most stages have the same.
  template <typename Body> void forEachRow(Body body) const {
    unsigned stages = schedule.numStages;
    if (!settings.has(FigureScope::Rank)) {
      body(anyStage, std::optional<unsigned>());
      std::vector<bool> isOwn(stages);
      for (FigureScope scope :
           {FigureScope::Stage, FigureScope::StageMicrobatch})
        for (const auto &[place, row] : settings.in(scope))
          if (place.number < stages &&
              (scope == FigureScope::Stage || row.begin()->first <= Figure::R))
            isOwn[place.number] = true;
      for (unsigned stage = 0; stage != stages; ++stage)
        if (isOwn[stage])
          body(stage, std::optional<unsigned>());
      return;
    }
    const Placement &placement = schedule.placement;
    for (unsigned d = 0; d != placement.numDirections(); ++d)
      for (unsigned stage = 0; stage != stages; ++stage)
        body(stage, std::optional(placement.rankOf(stage, d)));
  }

  void fillRows() {
    forEachRow([&](unsigned stage, std::optional<unsigned> rank) {
      auto [row, rare] = makeRow(stage, rank);
      if (rank) {
        costs.rows.push_back(row);
        costs.rare.push_back(rare);
      } else if (stage == anyStage) {
        costs.rows.assign(schedule.numStages, row);
        costs.rare.assign(schedule.numStages, rare);
      } else {
        costs.rows[stage] = row;
        costs.rare[stage] = rare;
      }
    });
    const Placement &placement = schedule.placement;
    if (settings.has(FigureScope::Rank) && placement.bidirectional()) {
      costs.directionSplit = schedule.directionSplit();
      costs.otherRank = placement.map(1).vec();
    }
  }

  /// Fills the costs by column of every row.
  void fillColumns() {
    if (columns.isOne())
      return;
    size_t size = columns.size();
    costs.columns = columns;
    costs.byRow = false;
    costs.ofUnits.resize(costs.rows.size() * size);
    size_t next = 0;
    forEachRow([&](unsigned stage, std::optional<unsigned> rank) {
      size_t first = rank ? next++ : stage, end = first + 1;
      if (stage == anyStage)
        first = 0, end = costs.rows.size();
      for (auto [column, unit] : enumerate(columns.places())) {
        ComputeTicks own = computeTicks(stage, rank, unit);
        for (size_t row = first; row != end; ++row)
          costs.ofUnits[row * size + column] = own;
      }
    });
  }

  /// Multiplies the factors of micro-batches, of slices, and of micro-batches
  /// of stages.
  void fillUnits() {
    auto factors = [&](FigureScope scope, unsigned size, int64_t parts) {
      std::vector<int64_t> all(size, parts);
      for (const auto &[place, row] : settings.in(scope))
        if (place.number < size)
          if (std::optional<Rational> factor = row.get(Figure::Factor))
            all[place.number] = whole(factor, parts);
      return all;
    };
    int64_t sliceParts = microbatchParts / wholeMicrobatchParts / stageParts;
    std::vector<int64_t> ofMicrobatches =
        factors(FigureScope::Microbatch, schedule.numMicrobatches(),
                wholeMicrobatchParts);
    std::vector<int64_t> ofSlices =
        factors(FigureScope::Slice, schedule.numSlices, sliceParts);
    costs.byRow = false;
    bool ofStages = settings.has(FigureScope::StageMicrobatch);
    unsigned stages = ofStages ? schedule.numStages : 1;
    costs.unitsPerStage = ofStages ? schedule.numUnits : 0;
    costs.microbatches.reserve(size_t(stages) * schedule.numUnits);
    for (unsigned stage = 0; stage != stages; ++stage)
      for (unsigned i = 0; i != ofMicrobatches.size(); ++i) {
        unsigned number =
            schedule.unitOfBatch(i * schedule.numSlices) / schedule.numSlices;
        Rational ofStage(1);
        if (ofStages)
          ofStage = settings
                        .get(Figure::Factor,
                             {FigureScope::StageMicrobatch, stage, number})
                        .value_or(ofStage);
        __int128 whole =
            __int128(ofMicrobatches[number]) * this->whole(ofStage, stageParts);
        fits = fits && whole <= largest;
        for (int64_t ofSlice : ofSlices) {
          __int128 product = int64_t(whole) * __int128(ofSlice);
          fits = fits && product <= largest;
          costs.microbatches.push_back(int64_t(product));
        }
      }
  }

  void fillOverlaps() {
    int64_t parts = costs.ticksPerUnit / microbatchParts / rankParts;
    costs.otherOverlaps = {0, true, settings.general(Figure::Overlap)};
    for (const CostSettings::Overlap &overlap : settings.overlaps) {
      OverlapTicks &own = costs.overlaps[keyOf(
          overlap.members, [](StepKind kind) { return kind; })];
      own.isFactor = overlap.isFactor;
      if (overlap.isFactor)
        own.factor = overlap.cost;
      else
        own.ticks = whole(overlap.cost, parts);
    }
  }

  void fillEdges() {
    // An edge inherits the figures of the wider scope.
    auto over = [&](EdgeTicks base, const FigureRow &edge) {
      if (std::optional<Rational> p2p = edge.get(Figure::P2P))
        base.latency = ticks(*p2p);
      if (std::optional<Rational> occupancy = edge.get(Figure::Occupancy))
        base.occupancy = ticks(*occupancy);
      if (std::optional<Rational> port = edge.get(Figure::Port))
        base.port = ticks(*port);
      costs.anyOccupancy |= base.occupancy != 0;
      costs.anyPort |= base.port != 0;
      return base;
    };
    costs.commonEdge = over({}, settings.at({}));
    costs.nodesEdge = costs.commonEdge;
    for (const auto &[nodes, edge] : settings.in(FigureScope::Nodes)) {
      costs.nodeSize = nodes.number;
      costs.nodesEdge = over(costs.commonEdge, edge);
    }
    for (const auto &[ends, edge] : settings.in(FigureScope::Edge))
      costs.edges[{ends.number, ends.to}] =
          over(costs.ownEdge(ends.number, ends.to), edge);
    costs.edgesDiffer =
        settings.has(FigureScope::Nodes) || settings.has(FigureScope::Edge);
  }

  const Schedule &schedule;
  const CostSettings &settings;
  TickCosts &costs;
  int64_t parts;
  UnitColumns columns = UnitColumns::ofCosts(schedule);
  int64_t rankParts = 1;
  /// For the product of the factors of a unit, for micro-batches alone, and for
  /// these on a stage.
  int64_t microbatchParts = 1;
  int64_t wholeMicrobatchParts = 1;
  int64_t stageParts = 1;
  bool unitFits = false;
  bool fits = true;
};

/// Names the largest cost that was given.
static void noteLargest(const CostSettings &costs, SourceLoc loc,
                        InFlightDiagnostic &error) {
  std::optional<std::pair<Place, FigureRow::Entry>> largest;
  for (const auto &[place, row] : costs.places())
    for (const FigureRow::Entry &entry : row)
      if (infoOf(entry.first).unit == FigureUnit::Time &&
          (!largest || entry.second > largest->second.second))
        largest = {place, entry};
  if (largest)
    error.note(loc, diag::NoteLargestCost,
               figureText(largest->second.first, largest->first),
               decimalText(largest->second.second));
}

FailureOr<TickCosts> TickCosts::make(const Schedule &schedule,
                                     DiagEngine &diags, int64_t parts) {
  TickCosts costs;
  Maker maker(schedule, costs, parts);
  bool fine = maker.fill();
  if (fine) {
    __int128 sum = maker.sumOfAll();
    if (sum <= largest / 4) {
      costs.sumOfAll = int64_t(sum);
      return costs;
    }
  }
  if (parts != 1)
    return make(schedule, diags);
  if (!fine && !maker.hasUnit())
    return diags.report(schedule.source, diag::CostsTooFine);
  InFlightDiagnostic error = diags.report(schedule.source, diag::TimesTooLarge);
  noteLargest(schedule.costs, schedule.source, error);
  return error;
}

int64_t TickCosts::duration(ArrayRef<Step> list, size_t begin, size_t end,
                            const CostDraw *draw) const {
  Step first = list[begin];
  if (!isCompute(first.kind()))
    return 0;
  if (end - begin != 1)
    return overlapDuration(list.slice(begin, end - begin), draw);
  int64_t ticks = first.kind() == StepKind::Update && !otherRank.empty()
                      ? updateTicks(list, begin)
                      : computeTicks(first);
  return LLVM_UNLIKELY(draw) ? draw->scale(ticks, first) : ticks;
}

/// The time of the UPDATE at `at` where the ranks of a stage differ. It has no
/// unit, so its direction is that of the last step of its stage before it.
int64_t TickCosts::updateTicks(ArrayRef<Step> list, size_t at) const {
  unsigned stage = list[at].stage();
  for (Step step : reverse(list.take_front(at)))
    if (isCompute(step.kind()) && hasUnit(step.kind()) && step.stage() == stage)
      return rare[rowOf(step)].update;
  return rare[stage].update;
}

const TickCosts::OverlapTicks &
TickCosts::overlapOf(ArrayRef<Step> members) const {
  if (overlaps.empty())
    return otherOverlaps;
  auto it =
      overlaps.find(keyOf(members, [](Step step) { return step.kind(); }));
  return it == overlaps.end() ? otherOverlaps : it->second;
}

std::optional<Rational> TickCosts::overlapFactor(ArrayRef<Step> members) const {
  const OverlapTicks &overlap = overlapOf(members);
  return overlap.isFactor ? std::optional(overlap.factor) : std::nullopt;
}

int64_t TickCosts::overlapTime(ArrayRef<Step> members, Step member) const {
  return overlapOf(members).ticks * rare[rowOf(members[0])].rankFactor *
         microbatchFactor(member);
}

int64_t TickCosts::overlapDuration(ArrayRef<Step> members,
                                   const CostDraw *draw) const {
  int64_t sum = 0, longest = 0;
  std::optional<Rational> factor = overlapFactor(members);
  for (Step step : members) {
    int64_t ticks = factor ? computeTicks(step) : overlapTime(members, step);
    sum += ticks;
    longest = std::max(longest, ticks);
  }
  // The unit of ticks includes the denominator of the factor.
  int64_t ticks =
      factor
          ? std::max(longest, sum / factor->denominator() * factor->numerator())
          : longest;
  if (!draw)
    return ticks;
  int64_t computes = 0;
  __int128 drawn = 0;
  for (Step step : members) {
    computes += computeTicks(step);
    drawn += draw->scale(computeTicks(step), step);
  }
  return computes == 0 ? draw->scale(ticks, members[0])
                       : int64_t(drawn * ticks / computes);
}

const EdgeTicks &TickCosts::ownEdge(unsigned from, unsigned to) const {
  if (!edges.empty())
    if (auto it = edges.find({from, to}); it != edges.end())
      return it->second;
  return from / nodeSize == to / nodeSize ? commonEdge : nodesEdge;
}

int64_t TickCosts::drawnHop(unsigned from, unsigned to, Step maker) const {
  int64_t ticks = hop(from, to);
  if (from == to)
    return ticks;
  int64_t latency = edge(from, to).latency;
  return ticks + draw->scaleLatency(latency, maker) - latency;
}

Rational TickCosts::time(int64_t ticks) const {
  return *Rational::make(ticks, ticksPerUnit);
}

} // namespace pipec
