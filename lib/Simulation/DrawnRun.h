//===- DrawnRun.h - Eight runs with random costs at once --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most of the time of a run under free arrival is spent on finding out which
// step is next, which does not depend on the costs: one walk over the lists
// computes the times of eight draws.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/OrderWalk.h"
#include "Simulation/TickCosts.h"

#include <algorithm>

namespace pipec {

/// Runs under free arrival, without streams, ports and occupied edges.
class DrawnRun {
public:
  static constexpr unsigned lanes = 8;
  /// A datum has 64 bytes: longer schedules should run one draw at a time.
  static constexpr size_t mostSteps = 1 << 20;
  using Times = std::array<int64_t, lanes>;
  struct Datum {
    Times arrival = {-1};
  };

  DrawnRun(const Schedule &schedule, const TickCosts &costs)
      : schedule(schedule), costs(costs) {}

  /// Appends to `makespans` those of the draws from `first` on: of the next
  /// `number`, or of 8 if that is less. The schedule must be able to run.
  void run(const JitterFactors &factors, uint64_t first, uint64_t number,
           std::vector<int64_t> &makespans) {
    draws.clear();
    for (unsigned lane = 0; lane != lanes; ++lane)
      draws.emplace_back(factors, first + lane);
    ranks.assign(schedule.numRanks, {});
    begin.fill(std::numeric_limits<int64_t>::max());
    end.fill(0);
    [[maybe_unused]] bool good = OrderWalk(schedule, *this).run();
    assert(good && "checked by an earlier run");
    for (unsigned lane = 0; lane != std::min<uint64_t>(number, lanes); ++lane)
      makespans.push_back(std::max<int64_t>(end[lane] - begin[lane], 0));
  }

  static bool isThere(const Datum &datum) { return datum.arrival[0] >= 0; }
  void take(unsigned rank, const Datum &datum) {
    Times &now = ranks[rank];
    for (unsigned lane = 0; lane != lanes; ++lane)
      now[lane] = std::max(now[lane], datum.arrival[lane]);
  }
  void visit(unsigned rank, size_t from, size_t to) {
    const StepList &list = schedule.ranks[rank];
    if (!isCompute(list[from].kind()))
      return;
    Times &now = ranks[rank];
    for (unsigned lane = 0; lane != lanes; ++lane) {
      begin[lane] = std::min(begin[lane], now[lane]);
      now[lane] += costs.duration(list, from, to, &draws[lane]);
      end[lane] = std::max(end[lane], now[lane]);
    }
  }
  Datum give(unsigned rank, size_t index, const DataFlow::Port &port) {
    Datum datum{ranks[rank]};
    if (!port.transfers)
      return datum;
    Step maker = schedule.ranks[rank][index];
    int64_t hop = costs.hop(rank, port.rank);
    for (unsigned lane = 0; lane != lanes; ++lane)
      datum.arrival[lane] += draws[lane].scaleLatency(hop, maker);
    return datum;
  }

private:
  const Schedule &schedule;
  const TickCosts &costs;
  std::vector<CostDraw> draws;
  /// By rank, when it continues.
  std::vector<Times> ranks;
  Times begin, end;
};

} // namespace pipec
