//===- ScheduleLists.cpp - The lists of a schedule as jobs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of Resources.h, with jobs in place of times. A test compares the
// replays of random orders with simulations.
//
//===----------------------------------------------------------------------===//

#include "Order/ScheduleLists.h"

#include "Cost/UnitColumns.h"
#include "IR/OrderWalk.h"
#include "Simulation/Blocked.h"
#include "Simulation/Memory.h"
#include "Simulation/SharedRun.h"
#include "Simulation/Simulate.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace llvm;

namespace pipec {

namespace {

/// A time: so many ticks after the end of a job.
struct Moment {
  uint32_t job = 0;
  int64_t lag = 0;
};

/// Makes jobs from the groups that a walk visits.
class ListBuilder {
public:
  struct Datum {
    Moment arrival;
    unsigned rank = ~0u;
    bool made = false;
  };

  ListBuilder(const Schedule &schedule, const TickCosts &costs,
              order::Lists &lists, std::vector<JobStep> *steps)
      : schedule(schedule), costs(costs), lists(lists), steps(steps),
        ends(schedule.numRanks), numbers(schedule.numRanks),
        inputs(schedule.numRanks) {
    lists.costs.push_back({});
    hasPosted = costs.hasPosted();
  }

  static bool isThere(const Datum &datum) { return datum.made; }
  void take(unsigned rank, const Datum &datum) {
    // The list of a rank is in order.
    if (datum.rank != rank)
      inputs[rank].push_back(datum.arrival);
  }
  void visit(unsigned rank, size_t begin, size_t end) {
    const StepList &list = schedule.ranks[rank];
    ArrayRef<Step> group = ArrayRef(list).slice(begin, end - begin);
    StepKind kind = group.front().kind();
    if (isPosted(kind))
      return post(rank, group.front());
    if (isP2P(kind))
      return;
    if (hasPosted)
      for (Step step : group)
        addNeeds(rank, step);
    // A step waits for its last input itself.
    Moment last;
    if (!inputs[rank].empty() && isCompute(kind) && group.size() == 1)
      last = inputs[rank].pop_back_val();
    uint32_t start = wait(ends[rank], inputs[rank]);
    inputs[rank].clear();
    visited = {rank, numbers[rank]};
    ends[rank] = isCompute(kind) ? run(start, last, group) : start;
    numbers[rank] += isCompute(kind) ? unsigned(group.size()) : 0;
  }
  Datum give(unsigned rank, size_t, const DataFlow::Port &port) {
    Moment leave{ends[rank], 0};
    EdgeTicks edge = costs.edge(rank, port.rank);
    if (port.transfers && edge.occupancy != 0) {
      Moment &free = edges[{rank, port.rank}];
      leave.job = wait(leave.job, free);
      free = {leave.job, edge.occupancy};
    }
    leave.lag = costs.hop(rank, port.rank);
    return {leave, rank, true};
  }

  /// Adds the posted steps that end after all others.
  void finish() {
    for (const auto &[place, end] : queues)
      if (end.lag != 0)
        (void)wait(end.job, end);
  }

private:
  /// A job at the end of `job` and at `moment`.
  uint32_t wait(uint32_t job, Moment moment) {
    if (moment.job == 0 && moment.lag == 0)
      return job;
    return lists.add({job, moment.job, moment.lag, 0, 0});
  }
  uint32_t wait(uint32_t job, ArrayRef<Moment> moments) {
    for (Moment moment : moments)
      job = wait(job, moment);
    return job;
  }

  /// Runs a step, or a part of an overlap, after `start`.
  uint32_t runPart(uint32_t start, Step step, int64_t ticks,
                   Moment input = {}) {
    uint32_t job =
        step.kind() == StepKind::Update
            ? lists.add({0, wait(start, input), ticks, 0, 0})
            : lists.add({start, input.job, input.lag,
                         costOf(ticks, step.stage()),
                         uint32_t(step.unit() / schedule.numSlices)});
    if (steps) {
      steps->resize(job + 1);
      steps->back() = visited;
    }
    return job;
  }
  uint32_t run(uint32_t start, Moment input, ArrayRef<Step> group) {
    if (group.size() == 1)
      return runPart(start, group[0], costs.duration(group, 0, 1), input);
    std::optional<Rational> factor = costs.overlapFactor(group);
    uint32_t end = start;
    if (factor)
      for (Step step : group) {
        end = runPart(end, step,
                      own(step) / factor->denominator() * factor->numerator());
        ++visited.number;
      }
    if (factor && Rational::compare(*factor, 1) >= 0)
      return end;
    for (Step step : group) {
      uint32_t other = runPart(
          start, step, factor ? own(step) : costs.overlapTime(group, step));
      end = wait(end, Moment{other, 0});
    }
    return end;
  }
  /// The time of a member of an overlap on its own.
  int64_t own(Step step) const {
    return costs.duration(ArrayRef<Step>(step), 0, 1);
  }
  uint32_t costOf(int64_t ticks, unsigned stage) {
    auto [it, isNew] =
        known.insert({{ticks, stage}, uint32_t(lists.costs.size())});
    if (isNew)
      lists.costs.push_back(
          {ticks, stage, lists.factors.size() > 1 ? stage : 0});
    return it->second;
  }

  void post(unsigned rank, Step step) {
    if (!hasPosted || step.stream() == Stream::Tied)
      return;
    Moment &queue = queues[{unsigned(step.stream()), rank}];
    queue = {wait(ends[rank], queue), costs.posted(rank, step)};
    if (isCopy(step.kind()))
      copied[unitOf(step)] = queue;
    else if (State state = stateAfter(step.kind()); state != State::Sharded)
      reached[{state == State::Reduced, step.stage(), rank}] = queue;
  }
  void addNeeds(unsigned rank, Step step) {
    StepKind kind = step.kind();
    auto add = [&](const auto &map, const auto &key) {
      if (auto it = map.find(key); it != map.end())
        inputs[rank].push_back(it->second);
    };
    if (isCompute(kind) || kind == StepKind::WaitOffload)
      add(copied, unitOf(step));
    bool reduction =
        kind == StepKind::WaitReduceGrad || kind == StepKind::Update;
    if (reduction || isCompute(kind))
      add(reached, std::tuple(reduction, step.stage(), rank));
  }
  /// An UPDATE has no unit, and no copy has its number.
  static uint64_t unitOf(Step step) {
    return unitKey(step.stage(), hasUnit(step.kind()) ? step.unit() : maxUnits);
  }

  const Schedule &schedule;
  const TickCosts &costs;
  order::Lists &lists;
  /// By job; null if they are not needed.
  std::vector<JobStep> *steps;
  JobStep visited;
  bool hasPosted;
  /// The end of the last group of each rank, the number of its compute steps so
  /// far, and the inputs of the next one.
  std::vector<uint32_t> ends;
  std::vector<unsigned> numbers;
  std::vector<SmallVector<Moment, 2>> inputs;
  std::map<std::pair<int64_t, unsigned>, uint32_t> known;
  std::map<std::pair<unsigned, unsigned>, Moment> edges, queues;
  std::map<std::tuple<bool, unsigned, unsigned>, Moment> reached;
  DenseMap<uint64_t, Moment> copied;
};

} // namespace

/// Moves the factors of micro-batches from the costs to the lists, in one row
/// or in one per stage. Returns false if they are too large.
static bool takeFactors(CostSettings &costs, unsigned stages,
                        unsigned microbatches, order::Lists &lists) {
  bool perStage = costs.has(FigureScope::StageMicrobatch);
  if (!perStage && !costs.has(FigureScope::Microbatch))
    return true;
  std::vector<std::vector<Rational>> factors(
      perStage ? stages : 1, std::vector<Rational>(microbatches, 1));
  FigureSet others;
  for (const auto &[place, row] : costs.places()) {
    bool ofAll = place.scope == FigureScope::Microbatch;
    if (!ofAll && place.scope != FigureScope::StageMicrobatch) {
      others.merge(place, row);
      continue;
    }
    unsigned microbatch = ofAll ? place.number : place.to;
    auto factor = row.get(Figure::Factor);
    if (!factor || microbatch >= microbatches)
      continue;
    for (unsigned i = 0; i != factors.size(); ++i)
      if (ofAll || place.number == i) {
        auto product = Rational::mul(factors[i][microbatch], *factor);
        if (!product)
          return false;
        factors[i][microbatch] = *product;
      }
  }
  static_cast<FigureSet &>(costs) = others;
  __int128 common = 1;
  for (const std::vector<Rational> &own : factors)
    for (Rational factor : own) {
      common = common / std::gcd(int64_t(common), factor.denominator()) *
               factor.denominator();
      if (common > std::numeric_limits<int64_t>::max())
        return false;
    }
  lists.factorUnit = int64_t(common);
  for (const std::vector<Rational> &own : factors) {
    std::vector<int64_t> &row = lists.factors.emplace_back();
    for (Rational factor : own) {
      __int128 parts =
          __int128(factor.numerator()) * (common / factor.denominator());
      if (parts > std::numeric_limits<int64_t>::max())
        return false;
      row.push_back(int64_t(parts));
    }
  }
  return true;
}

/// Adds the memory of all ranks. False if limits do not fit.
static bool addMemory(const Schedule &schedule, const MemoryModel &memory,
                      order::Lists &lists) {
  // Limits are integers, too.
  __int128 parts = memory.perUnit();
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    if (auto limit = schedule.memory.limit(rank)) {
      parts = parts / std::gcd(int64_t(parts), limit->denominator()) *
              limit->denominator();
      if (parts > std::numeric_limits<int64_t>::max() / 4)
        return false;
    }
  lists.sizeUnit = int64_t(parts);
  int64_t factor = lists.sizeUnit / memory.perUnit();
  bool fits = true;
  auto scaled = [&](int64_t value) {
    __int128 result = __int128(value) * factor;
    fits &= result <= std::numeric_limits<int64_t>::max() / 2 &&
            result >= std::numeric_limits<int64_t>::min() / 2;
    return int64_t(result);
  };
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    order::Memory &own = lists.ranks.emplace_back();
    own.base = scaled(memory.before(rank));
    if (auto limit = schedule.memory.limit(rank)) {
      __int128 units =
          __int128(limit->numerator()) * (parts / limit->denominator());
      if (units < order::Memory::unlimited)
        own.limit = int64_t(units);
    }
    memory.changes(rank, [&](size_t index, int64_t by) {
      Step step = schedule.ranks[rank][index];
      own.changes.push_back({hasUnit(step.kind())
                                 ? step.unit() / schedule.numSlices
                                 : order::Change::fixed,
                             scaled(by)});
    });
  }
  return fits;
}

/// What runs in an order that depends on times; empty if nothing does.
static StringRef orderedByTime(const Schedule &schedule,
                               const TickCosts &costs) {
  if (!schedule.streams.empty())
    return "computes on streams of their own";
  if (needsSharedRun(schedule, costs))
    return "shared resources";
  if (costs.reduceTied() != 0 &&
      schedule.has(step_facts::bit(StepKind::ReduceTied)))
    return "sums of tied gradients that take time";
  return "";
}

FailureOr<order::Lists> makeLists(const Schedule &schedule, DiagEngine &diags,
                                  std::vector<JobStep> *steps) {
  if (failed(refuseMicrobatchFigures(schedule, "the order of a batch", diags,
                                     /*takesStages=*/true)))
    return failure();
  order::Lists lists;
  lists.microbatches = schedule.numMicrobatches();
  lists.stages = schedule.numStages;
  Schedule plain = schedule;
  if (!takeFactors(plain.costs, lists.stages, lists.microbatches, lists))
    return diags.report(schedule.source, diag::CostsTooFine);
  if (failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<TickCosts> costs = TickCosts::make(plain, diags);
  if (failed(costs))
    return failure();
  if (StringRef what = orderedByTime(plain, *costs); !what.empty())
    return diags.report(schedule.source, diag::OrderResources, schedule.name,
                        what);
  lists.ticksPerUnit = costs->perUnit();
  ListBuilder builder(plain, *costs, lists, steps);
  OrderWalk<ListBuilder> walk(plain, builder);
  if (!walk.run()) {
    (void)reportBlocked(plain, walk, diags);
    return failure();
  }
  builder.finish();
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return failure();
  if (!addMemory(schedule, *memory, lists))
    return diags.report(schedule.source, diag::MemoryTooLarge);
  return lists;
}

} // namespace pipec
