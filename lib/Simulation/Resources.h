//===- Resources.h - Collectives, edges and ranks of a run ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resources that are used while a rank computes: the collectives of FSDP, which
// run one after the other on each rank, and the directed edges between two
// ranks, which each transfer occupies for its occupancy.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "Simulation/TickCosts.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace pipec {

/// The collectives of all ranks in one run.
class Collectives {
public:
  Collectives(const Schedule &schedule, const TickCosts &costs)
      : placement(schedule.placement), costs(costs), free(schedule.numRanks),
        gathered(schedule.numStages * placement.numDirections()),
        reduced(gathered.size()) {}

  /// Called when `rank` reaches an FSDP step at time `now`. Returns its start.
  int64_t issue(unsigned rank, Step step, int64_t now) {
    int64_t start = std::max(now, free[rank]);
    free[rank] = start + costs.collective(rank, step);
    if (step.kind() == StepKind::Unshard)
      gathered[index(rank, step.stage())] = free[rank];
    else if (step.kind() == StepKind::ReduceGrad)
      reduced[index(rank, step.stage())] = free[rank];
    return start;
  }
  /// The end of the last UNSHARD of `stage` that `rank` has reached.
  int64_t gatheredAt(unsigned rank, unsigned stage) const {
    return gathered[index(rank, stage)];
  }
  /// The end of the last REDUCE_GRAD of `stage` that `rank` has reached.
  int64_t reducedAt(unsigned rank, unsigned stage) const {
    return reduced[index(rank, stage)];
  }

private:
  /// In each direction, a stage is on one rank.
  size_t index(unsigned rank, unsigned stage) const {
    bool second =
        placement.bidirectional() && placement.rankOf(stage, 0) != rank;
    return stage * placement.numDirections() + second;
  }

  const Placement &placement;
  const TickCosts &costs;
  std::vector<int64_t> free;
  std::vector<int64_t> gathered;
  std::vector<int64_t> reduced;
};

/// The directed edges in one run.
class EdgeQueues {
public:
  explicit EdgeQueues(const TickCosts &costs) : costs(costs) {}

  /// When the last transfer of an edge leaves it; 0 before the first one.
  int64_t freeAt(unsigned from, unsigned to) const {
    return free.lookup({from, to});
  }
  /// Starts the next transfer of an edge at `ready` or later. Returns its
  /// start.
  int64_t take(unsigned from, unsigned to, int64_t ready) {
    int64_t &edge = free[{from, to}];
    int64_t start = std::max(ready, edge);
    edge = start + costs.edge(from, to).occupancy;
    return start;
  }

private:
  const TickCosts &costs;
  llvm::DenseMap<std::pair<unsigned, unsigned>, int64_t> free;
};

/// The times of all ranks in one run under free arrival: each rank runs its
/// groups in order, as early as data allows. A start is the latest of several
/// ends, so the order in which ranks are processed does not matter. Collectives
/// and edges are only considered with `resources`, since most runs have no
/// costs for them.
template <bool resources> class FreeClock {
public:
  FreeClock(const Schedule &schedule, const TickCosts &costs)
      : schedule(schedule), costs(costs), ranks(schedule.numRanks) {
    if constexpr (resources) {
      collectives.emplace(schedule, costs);
      edges.emplace(costs);
    }
  }

  /// The next group of `rank` consumes a datum that arrives at `arrival`.
  void waitFor(unsigned rank, int64_t arrival) {
    ranks[rank].ready = std::max(ranks[rank].ready, arrival);
  }

  /// Runs the group [begin, end) of the list of `rank`; returns its start.
  int64_t run(unsigned rank, size_t begin, size_t end) {
    const StepList &list = schedule.ranks[rank];
    Rank &self = ranks[rank];
    if constexpr (resources) {
      Step first = list[begin];
      if (isFsdp(first.kind()))
        return collectives->issue(rank, first, self.end);
      if (first.kind() == StepKind::WaitReduceGrad)
        waitFor(rank, collectives->reducedAt(rank, first.stage()));
      for (size_t i = begin; i != end; ++i)
        if (isCompute(list[i].kind()))
          waitFor(rank, collectives->gatheredAt(rank, list[i].stage()));
    }
    // start(s) = max(end of the group before s on its rank,
    //                max over inputs x of s (end(producer(x)) + latency(x)))
    int64_t start = std::max(self.end, self.ready);
    self.end = start + costs.duration(list, begin, end);
    return start;
  }

  /// The end of the last group of `rank`.
  int64_t now(unsigned rank) const { return ranks[rank].end; }

  /// When the result of a member of that group for `port` arrives at its
  /// consumer.
  int64_t arrival(unsigned rank, const DataFlow::Port &port) {
    int64_t end = ranks[rank].end;
    if constexpr (resources)
      if (port.transfers)
        end = edges->take(rank, port.rank, end);
    return end + costs.hop(rank, port.rank);
  }

private:
  struct Rank {
    int64_t end = 0;
    /// When all inputs of the next group have arrived; at most the end of the
    /// last group if it has no inputs.
    int64_t ready = 0;
  };

  const Schedule &schedule;
  const TickCosts &costs;
  std::vector<Rank> ranks;
  std::optional<Collectives> collectives;
  std::optional<EdgeQueues> edges;
};

/// True if a run of `schedule` must consider collectives or edges.
inline bool needsResources(const Schedule &schedule, const TickCosts &costs) {
  return (costs.hasCollectives() && schedule.hasFsdp()) || costs.hasOccupancy();
}

} // namespace pipec
