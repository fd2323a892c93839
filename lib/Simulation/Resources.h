//===- Resources.h - Streams, edges and ranks of a run ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resources that are used while a rank computes: the streams of posted steps,
// which run in order, and the directed edges between two ranks, which each
// transfer occupies for its occupancy.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "IR/TiedSums.h"
#include "Simulation/SideStreams.h"
#include "Simulation/TickCosts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace pipec {

/// The posted steps of all ranks in one run.
class Streams {
public:
  Streams(const Schedule &schedule, const TickCosts &costs)
      : placement(schedule.placement),
        isBidirectional(placement.bidirectional()), costs(costs) {
    for (std::vector<int64_t> &stream : free)
      stream.resize(schedule.numRanks);
    for (std::vector<int64_t> &ends : reached)
      ends.resize(schedule.numStages * placement.numDirections());
    if (!schedule.streams.empty())
      sides.emplace(schedule);
    isRare = sides.has_value();
  }

  /// The computes on streams of their own, if there are such.
  std::optional<SideStreams> sides;

  /// Called when `rank` reaches a step that it posts, at time `now`. Returns
  /// its start, for a REDUCE_TIED without regard to the other ranks of its
  /// group.
  int64_t post(unsigned rank, Step step, int64_t now) {
    int64_t &stream = free[queueOf(step.stream())][rank];
    int64_t start = std::max(now, stream);
    if (sides)
      start = std::max(start, sides->needs(rank, step));
    if (step.stream() == Stream::Tied)
      return start;
    stream = start + costs.posted(rank, step);
    if (isCopy(step.kind())) {
      copied[unitOf(step)] = stream;
      isRare = true;
    } else if (State state = stateAfter(step.kind()); state != State::Sharded) {
      reached[state == State::Reduced][index(rank, step.stage())] = stream;
    }
    return start;
  }
  /// The end of the last UNSHARD of the stage of a compute step that `rank` has
  /// reached, of the REDUCE_GRAD for a wait or an UPDATE, and of the last copy
  /// of the unit for a step that needs it. 0 for all other steps.
  int64_t needs(unsigned rank, Step step) const {
    StepKind kind = step.kind();
    int64_t end = LLVM_UNLIKELY(isRare) ? rareNeeds(rank, step) : 0;
    bool reduction =
        kind == StepKind::WaitReduceGrad || kind == StepKind::Update;
    return reduction || isCompute(kind)
               ? std::max(end, reached[reduction][index(rank, step.stage())])
               : end;
  }

private:
  /// Of these, the ends of computes on streams of their own and of copies.
  LLVM_ATTRIBUTE_NOINLINE int64_t rareNeeds(unsigned rank, Step step) const {
    StepKind kind = step.kind();
    int64_t end = sides ? sides->needs(rank, step) : 0;
    if (!copied.empty() && (isCompute(kind) || kind == StepKind::WaitOffload))
      end = copied.lookup(unitOf(step));
    return end;
  }
  /// An UPDATE has no unit, and no copy has its number.
  static uint64_t unitOf(Step step) {
    return unitKey(step.stage(), hasUnit(step.kind()) ? step.unit() : maxUnits);
  }
  /// In each direction, a stage is on one rank.
  size_t index(unsigned rank, unsigned stage) const {
    if (LLVM_LIKELY(!isBidirectional))
      return stage;
    return 2 * stage + (placement.rankOf(stage, 0) != rank);
  }

  const Placement &placement;
  bool isBidirectional;
  const TickCosts &costs;
  /// By stream and rank, when its last step ends.
  std::array<std::vector<int64_t>, numQueues> free;
  /// When parameters are whole, and when gradients are reduced.
  std::array<std::vector<int64_t>, 2> reached;
  /// The end of the last copy of a unit.
  llvm::DenseMap<uint64_t, int64_t> copied;
  /// True if there are `sides`, or copies until now.
  bool isRare = false;
};

/// The directed edges in one run.
class EdgeQueues {
public:
  EdgeQueues(const Schedule &schedule, const TickCosts &costs)
      : costs(costs), numRanks(schedule.numRanks),
        free(schedule, numRanks * numRanks) {}

  /// When the last transfer of an edge leaves it; 0 before the first one.
  int64_t freeAt(unsigned from, unsigned to) const {
    return std::as_const(free)[from * numRanks + to];
  }
  /// Starts the next transfer of an edge at `ready` or later. Returns its
  /// start.
  int64_t take(unsigned from, unsigned to, int64_t ready) {
    return take(from, to, ready, costs.edge(from, to).occupancy);
  }
  int64_t take(unsigned from, unsigned to, int64_t ready, int64_t occupancy) {
    // Results of several streams may leave in another order than they are made.
    if (occupancy == 0)
      return ready;
    int64_t &edge = free[from * numRanks + to];
    int64_t start = std::max(ready, edge);
    edge = start + occupancy;
    return start;
  }

private:
  const TickCosts &costs;
  size_t numRanks;
  DatumTable<int64_t> free;
};

/// The times of all ranks in one run under free arrival: each rank runs its
/// groups in order, as early as data allows. A start is the latest of several
/// ends, so the order in which ranks are processed does not matter. Streams,
/// edges, sums of ties and draws are only considered with `resources`, since
/// most runs have none (`needsAll`).
template <bool resources> class FreeClock {
public:
  FreeClock(const Schedule &schedule, const TickCosts &costs)
      : schedule(schedule), costs(costs), ranks(schedule.numRanks) {
    if constexpr (resources) {
      streams.emplace(schedule, costs);
      edges.emplace(schedule, costs);
      if (TiedSums::isNeeded(schedule))
        sums.emplace(schedule);
    }
  }

  /// False if an UPDATE waits for sums that have not started; otherwise, it
  /// runs after their ends.
  bool mayRun(unsigned rank, Step step)
    requires resources
  {
    std::optional<int64_t> over =
        sums ? sums->end(rank, step.stage()) : std::optional<int64_t>(0);
    if (over)
      waitFor(rank, *over);
    return over.has_value();
  }
  std::vector<unsigned> takeReleased()
    requires resources
  {
    return sums ? sums->takeReleased() : std::vector<unsigned>();
  }

  /// The next group of `rank` consumes a datum that arrives at `arrival`.
  void waitFor(unsigned rank, int64_t arrival) {
    ranks[rank].ready = std::max(ranks[rank].ready, arrival);
  }

  /// Runs the group [begin, end) of the list of `rank`; returns its start.
  LLVM_ATTRIBUTE_ALWAYS_INLINE int64_t run(unsigned rank, size_t begin,
                                           size_t end) {
    const StepList &list = schedule.ranks[rank];
    Rank &self = ranks[rank];
    if constexpr (resources) {
      // One test, since GCC keeps the kind on the stack between two.
      if (LLVM_LIKELY(!step_facts::has(beside, list[begin].kind()))) {
        for (size_t i = begin; i != end; ++i)
          waitFor(rank, streams->needs(rank, list[i]));
      } else if (isPosted(list[begin].kind())) {
        return post(rank, list[begin]);
      }
      if (LLVM_UNLIKELY(streams->sides && streams->sides->of(list, begin)))
        return runBeside(rank, begin, end);
    }
    // start(s) = max(end of the group before s on its rank,
    //                max over inputs x of s (end(producer(x)) + latency(x)))
    int64_t start = std::max(self.end, self.ready);
    if constexpr (resources) {
      self.end = start + costs.duration(list, begin, end);
      self.made = self.end;
    } else {
      self.end = start + costs.ownDuration(list, begin, end);
    }
    return start;
  }

  Step step(unsigned rank, size_t index) const {
    return schedule.ranks[rank][index];
  }

  /// The end of the last group of `rank`.
  int64_t made(unsigned rank) const {
    return resources ? ranks[rank].made : ranks[rank].end;
  }

  /// When the result of `maker`, a member of that group, for `port` arrives at
  /// its consumer.
  int64_t arrival(unsigned rank, Step maker, const DataFlow::Port &port) {
    int64_t end = made(rank);
    if constexpr (resources) {
      const EdgeTicks &ticks = costs.edge(rank, port.rank);
      if (port.transfers)
        end = edges->take(rank, port.rank, end, ticks.occupancy);
      return end + (costs.isDrawn() ? costs.hop(rank, port.rank, maker)
                                    : ticks.hop());
    }
    return end + costs.hop(rank, port.rank);
  }

private:
  /// The kinds that are posted, and transfers.
  static constexpr uint32_t beside =
      step_facts::kindsWhere([](const step_facts::Row &row) {
        return row.stream != Stream::Compute && row.stream != Stream::None;
      });

  struct Rank {
    /// When the rank continues.
    int64_t end = 0;
    /// The end of its last group.
    int64_t made = 0;
    /// When all inputs of the next group have arrived; at most the end of the
    /// last group if it has no inputs.
    int64_t ready = 0;
  };

  /// Posts a group on a stream of its own.
  LLVM_ATTRIBUTE_NOINLINE int64_t runBeside(unsigned rank, size_t begin,
                                            size_t end) {
    Rank &self = ranks[rank];
    // The inputs of this group do not delay the next one.
    int64_t ready = std::max(self.end, std::exchange(self.ready, 0));
    int64_t duration = costs.duration(schedule.ranks[rank], begin, end);
    int64_t start = streams->sides->run(rank, begin, end, ready, duration);
    self.made = start + duration;
    return start;
  }
  /// Posts a collective or a copy.
  LLVM_ATTRIBUTE_NOINLINE int64_t post(unsigned rank, Step step) {
    int64_t start = streams->post(rank, step, ranks[rank].end);
    if (sums && step.stream() == Stream::Tied)
      sums->post(rank, step.stage(), start, costs.reduceTied());
    return start;
  }

  const Schedule &schedule;
  const TickCosts &costs;
  std::vector<Rank> ranks;
  std::optional<Streams> streams;
  std::optional<EdgeQueues> edges;
  /// What an UPDATE waits for.
  std::optional<TiedSums> sums;
};

/// True if a run of `schedule` must consider streams or edges.
inline bool needsResources(const Schedule &schedule, const TickCosts &costs) {
  constexpr uint32_t posted =
      step_facts::kindsOn(Stream::Gather) | step_facts::kindsOf(Object::Copy);
  return (costs.hasPosted() && schedule.has(posted)) || costs.hasOccupancy() ||
         !schedule.streams.empty();
}
/// True if a run of `schedule` must consider any of what `FreeClock` leaves out
/// without `resources`.
inline bool needsAll(const Schedule &schedule, const TickCosts &costs) {
  return needsResources(schedule, costs) || costs.isDrawn() ||
         TiedSums::isNeeded(schedule);
}

} // namespace pipec
