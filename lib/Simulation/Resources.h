//===- Resources.h - Collectives and edges of a run -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resources that are used while a rank computes: the collectives of FSDP, which
// run one after the other on each rank, and the directed edges between two
// ranks, which each transfer occupies for its occupancy.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Simulation/TickCosts.h"

#include <algorithm>

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

} // namespace pipec
