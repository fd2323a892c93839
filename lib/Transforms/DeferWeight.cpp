//===- DeferWeight.cpp - Moving weight gradients into waits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No step depends on a weight gradient before the end of the training step, so
// it can run while its rank would otherwise wait. Before each group that is not
// a W:
//
//   1. while the inputs of the group arrive so late that an owed W fits before
//      it, the oldest one that fits is inserted;
//   2. while the memory of the group would exceed `max-peak`, the oldest owed W
//      that frees memory is inserted.
//
// The other groups keep their order, so the results that ranks wait for are not
// later than without any W; only step 2 delays them. However, a W that does not
// fit is postponed, and may then extend the end of the list. If the makespan
// has increased, the list is left unchanged.
//
// A W without a preceding I is not moved. Tables take 40 bytes per (stage,
// micro-batch).
//
//===----------------------------------------------------------------------===//

#include "IR/OrderWalk.h"
#include "IR/StepPlaces.h"
#include "Simulation/Blocked.h"
#include "Simulation/Memory.h"
#include "Simulation/Resources.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/OwedWeights.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace pipec {

namespace {

/// Runs the lists twice in parallel: unchanged, and with moved weight
/// gradients. Both start at 0, so the makespan of each is its last end.
class Deferral {
  /// A time in each of the two runs.
  struct Times {
    int64_t before = 0;
    int64_t after = 0;
  };

public:
  Deferral(const Schedule &schedule, const TickCosts &costs,
           const MemoryModel &memory, std::optional<Rational> peak,
           DiagEngine &diags)
      : schedule(schedule), costs(costs), memory(memory), diags(diags),
        peak(peak), flow(schedule), edgesBefore(schedule, costs),
        edgesAfter(schedule, costs), states(schedule.numRanks),
        weights(size_t(schedule.numStages) * schedule.numUnits) {
    if (peak)
      mostLive = memory.floorOf(*peak);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      states[rank].list.reserve(schedule.ranks[rank].size());
      findWeights(rank);
    }
  }

  /// Reports an order that cannot run, and a peak that cannot be kept.
  LogicalResult run() {
    OrderWalk<Deferral> walk(schedule, *this);
    if (!walk.run())
      return reportBlocked(schedule, walk, diags);
    if (!good)
      return failure();
    for (RankState &state : states) {
      while (placeOldest(state, unlimited))
        ;
      last.before = std::max(last.before, state.now.before);
      last.after = std::max(last.after, state.now.after);
    }
    return success();
  }

  /// When a result is available to its consumer.
  struct Datum {
    Times arrival = {never, never};
  };
  static bool isThere(const Datum &datum) {
    return datum.arrival.before != never;
  }
  void take(unsigned rank, const Datum &datum) {
    Times &arrival = states[rank].arrival;
    arrival.before = std::max(arrival.before, datum.arrival.before);
    arrival.after = std::max(arrival.after, datum.arrival.after);
  }
  void visit(unsigned rank, size_t begin, size_t end);
  Datum give(unsigned rank, size_t, const DataFlow::Port &port) {
    return {arrivalAt(port, rank, states[rank].now)};
  }

  bool takesLonger() const { return last.after > last.before; }
  std::vector<StepList> takeLists() {
    std::vector<StepList> lists;
    lists.reserve(states.size());
    for (RankState &state : states)
      lists.push_back(std::move(state.list));
    return lists;
  }

private:
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  static constexpr int64_t never = -1;

  struct RankState {
    Times now;
    /// When all inputs of the next group are available.
    Times arrival;
    int64_t live = 0;
    uint8_t phase = 0;
    OwedWeights owed;
    /// The new list.
    StepList list;
  };

  size_t index(Step step) const {
    return size_t(step.stage()) * schedule.numUnits + step.unit();
  }

  /// Finds each W of the rank that may be moved: those that are not joined and
  /// follow their I. The table has 0 for no I, 1 for an I, otherwise the index
  /// of the W plus 2.
  void findWeights(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    DenseSet<int64_t> different;
    bool grouped = false;
    for (size_t i = 0; i != list.size(); ++i) {
      Step step = list[i];
      bool isHome = flow.home(step) == rank;
      if (step.kind() == StepKind::I && isHome)
        weights[index(step)] = 1;
      else if (step.kind() == StepKind::W && isHome && !grouped &&
               !step.joined() && weights[index(step)] == 1) {
        weights[index(step)] = i + 2;
        duringWeight = std::max(duringWeight, memory.during(step));
        weightsGive |= memory.delta(step) < 0;
        different.insert(costs.duration(step, 0, 1));
      }
      grouped = step.joined();
    }
    states[rank].owed = OwedWeights({different.begin(), different.end()});
  }

  /// The entry of the table for the pair of `step`, a step of `rank`.
  uint32_t placeOf(Step step, unsigned rank) const {
    return flow.home(step) == rank ? weights[index(step)] : 0;
  }

  /// When the result for `port` of a step of `rank` that ends now arrives at
  /// its consumer.
  Times arrivalAt(const DataFlow::Port &port, unsigned rank, Times now) {
    unsigned to = port.rank;
    if (!port.transfers)
      return now;
    if (costs.hasOccupancy())
      now = {edgesBefore.take(rank, to, now.before),
             edgesAfter.take(rank, to, now.after)};
    int64_t hop = costs.hop(rank, to);
    return {now.before + hop, now.after + hop};
  }

  /// Inserts pending Ws in the time until `arrival`.
  void fillWait(RankState &state, int64_t arrival) {
    while (state.now.after <= arrival &&
           placeOldest(state, arrival - state.now.after))
      ;
  }

  /// Inserts Ws that free memory until `need` fits under the peak.
  void makeRoom(unsigned rank, ArrayRef<Step> group, int64_t need) {
    RankState &state = states[rank];
    while (state.live + need > mostLive && weightsGive &&
           placeOldest(state, unlimited))
      ;
    if (!good || state.live + need <= mostLive)
      return;
    good = false;
    (void)diags.report(group.front().source(), diag::DeferPeak,
                       stepText(schedule, group.front()), rank,
                       memory.size(state.live + need), *peak);
  }

  /// Inserts the oldest pending W with a cost of at most `limit`, in the phase
  /// of the previous steps. Returns false if there is none.
  bool placeOldest(RankState &state, int64_t limit) {
    Step step;
    int64_t cost;
    if (!state.owed.take(limit, step, cost))
      return false;
    step.setPhase(state.phase);
    state.now.after += cost;
    state.live += memory.delta(step);
    state.list.push_back(step);
    return true;
  }

  const Schedule &schedule;
  const TickCosts &costs;
  const MemoryModel &memory;
  DiagEngine &diags;
  /// The limit of each rank, if there is one, and the largest integer of
  /// `memory` within it.
  std::optional<Rational> peak;
  int64_t mostLive = std::numeric_limits<int64_t>::max();
  /// The most that a W needs while it runs.
  int64_t duringWeight = 0;
  /// True if there is a W that frees memory.
  bool weightsGive = false;
  DataFlow flow;
  EdgeQueues edgesBefore, edgesAfter;
  std::vector<RankState> states;
  /// For each (stage, micro-batch), the entry described at `findWeights`.
  std::vector<uint32_t> weights;
  Times last;
  bool good = true;
};

void Deferral::visit(unsigned rank, size_t begin, size_t end) {
  ArrayRef<Step> list = schedule.ranks[rank];
  ArrayRef<Step> group = list.slice(begin, end - begin);
  RankState &state = states[rank];
  Step front = group.front();
  int64_t duration = costs.duration(list, begin, end);
  if (front.kind() == StepKind::W && placeOf(front, rank) == begin + 2) {
    state.now.before += duration;
    return;
  }
  if (!isCompute(front.kind())) {
    state.list.push_back(front);
    return;
  }
  state.phase = front.phase();

  // A W that follows needs room to run, too.
  int64_t kept = 0, during = 0;
  for (Step step : group) {
    kept += std::max<int64_t>(memory.delta(step), 0);
    during += memory.during(step);
  }
  int64_t need = kept + std::max(during, duringWeight);
  Times arrival = std::exchange(state.arrival, {});
  fillWait(state, arrival.after);
  if (state.live + need > mostLive)
    makeRoom(rank, group, need);

  state.now.before = std::max(state.now.before, arrival.before) + duration;
  state.now.after = std::max(state.now.after, arrival.after) + duration;
  for (Step step : group) {
    state.list.push_back(step);
    state.live += memory.delta(step);
    if (step.kind() == StepKind::I && placeOf(step, rank) > 1) {
      Step weight = list[placeOf(step, rank) - 2];
      state.owed.add(weight, costs.duration(weight, 0, 1));
    }
  }
}

} // namespace

LogicalResult runDeferWeight(Schedule &schedule,
                             const DeferWeightOptions &options,
                             DiagEngine &diags) {
  if (failed(checkNone(schedule, {Stream::Link, Stream::Gather, Stream::Tied},
                       "defer-weight", diags)) ||
      failed(checkEnoughSteps(schedule, "defer-weight", diags)))
    return failure();
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags);
  if (failed(costs))
    return failure();
  std::optional<Rational> peak = options.maxPeak;
  // The same for all ranks: the least of theirs.
  for (unsigned rank = 0; !options.maxPeak && rank != schedule.numRanks; ++rank)
    if (auto limit = schedule.memory.limit(rank))
      peak = peak ? std::min(*peak, *limit) : *limit;
  FailureOr<MemoryModel> memory = [&] {
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    return MemoryModel::make(schedule, diags);
  }();
  if (failed(memory))
    return diags.report(schedule.source, diag::DeferMemoryOverflow);

  Deferral deferral(schedule, *costs, *memory, peak, diags);
  if (failed(deferral.run()))
    return failure();
  if (deferral.takesLonger())
    return success();
  schedule.ranks = deferral.takeLists();
  schedule.times.clear();
  return success();
}

} // namespace pipec
