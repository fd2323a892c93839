//===- FreeClock.h - The time of each rank under free arrival -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_FREECLOCK_H
#define PIPEC_SIMULATION_FREECLOCK_H

#include "Simulation/DataFlow.h"
#include "Simulation/Resources.h"

#include <optional>
#include <vector>

namespace pipec {

/// The times of all ranks in one run under free arrival: each runs its groups
/// in order, as early as their data allows. Since a start is the latest of two
/// ends, the order in which the ranks take their turns does not matter.
/// Collectives and edges are looked at only with `resources`: most runs have
/// costs for neither.
template <bool resources> class FreeClock {
public:
  FreeClock(const Schedule &schedule, const TickCosts &costs)
      : schedule(schedule), costs(costs), times(schedule.numRanks) {
    if constexpr (resources) {
      collectives.emplace(schedule, costs);
      edges.emplace(costs);
    }
  }

  /// The next group of `rank` takes what arrives at `arrival`.
  void waitFor(unsigned rank, int64_t arrival) {
    times[rank] = std::max(times[rank], arrival);
  }

  /// Runs the group [begin, end) of the list of `rank`; returns its start.
  int64_t run(unsigned rank, size_t begin, size_t end) {
    const StepList &list = schedule.ranks[rank];
    int64_t &time = times[rank];
    if constexpr (resources) {
      Step first = list[begin];
      if (isFsdp(first.kind()))
        return collectives->issue(rank, first, time);
      if (first.kind() == StepKind::WaitReduceGrad)
        time = std::max(time, collectives->reducedAt(rank, first.stage()));
      for (size_t i = begin; i != end; ++i)
        if (isCompute(list[i].kind()))
          time = std::max(time, collectives->gatheredAt(rank, list[i].stage()));
    }
    int64_t start = time;
    time += costs.duration(list, begin, end);
    return start;
  }

  /// The end of the last group of `rank`.
  int64_t now(unsigned rank) const { return times[rank]; }

  /// When what a member of that group gives is there where it is taken.
  int64_t arrival(unsigned rank, const DataFlow::Rule &rule) {
    int64_t end = times[rank];
    if constexpr (resources)
      if (rule.sends)
        end = edges->take(rank, rule.taker, end);
    return end + costs.hop(rank, rule.taker);
  }

private:
  const Schedule &schedule;
  const TickCosts &costs;
  std::vector<int64_t> times;
  std::optional<Collectives> collectives;
  std::optional<EdgeQueues> edges;
};

/// True when a run of `schedule` has to look at collectives or edges.
inline bool needsResources(const Schedule &schedule, const TickCosts &costs) {
  return (costs.hasCollectives() && schedule.hasFsdp()) || costs.hasOccupancy();
}

} // namespace pipec

#endif // PIPEC_SIMULATION_FREECLOCK_H
