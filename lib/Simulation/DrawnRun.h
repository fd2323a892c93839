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

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

namespace pipec {

/// Runs under free arrival, without streams, ports and occupied edges.
class DrawnRun {
public:
  static constexpr unsigned lanes = 8;
  /// A datum has 128 bytes: longer schedules should run one draw at a time.
  static constexpr size_t mostSteps = 1 << 19;
  /// How many ranks one run follows on longest paths.
  static constexpr unsigned pathRanks = 64;
  using Times = std::array<int64_t, lanes>;
  /// The ranks of a longest path of steps to a time, as bits.
  using Paths = std::array<uint64_t, lanes>;
  struct Datum {
    Times arrival = {-1};
    Paths path = {};
  };

  DrawnRun(const Schedule &schedule, const TickCosts &costs)
      : schedule(schedule), costs(costs) {}

  /// Appends to `makespans` those of the draws from `first` on: of the next
  /// `number`, or of 8 if that is less. Counts in `onPath` the draws with a
  /// rank on a longest path, for up to 64 ranks from `firstOnPath` on. The
  /// schedule must be able to run.
  void run(const JitterFactors &factors, uint64_t first, uint64_t number,
           std::vector<int64_t> &makespans, unsigned firstOnPath,
           llvm::MutableArrayRef<unsigned> onPath) {
    firstRank = firstOnPath;
    paths.assign(schedule.numRanks, {});
    longest.fill(0);
    draws.clear();
    for (unsigned lane = 0; lane != lanes; ++lane)
      draws.emplace_back(factors, first + lane);
    ranks.assign(schedule.numRanks, {});
    begin.fill(std::numeric_limits<int64_t>::max());
    end.fill(0);
    [[maybe_unused]] bool good = OrderWalk(schedule, *this).run();
    assert(good && "checked by an earlier run");
    for (unsigned lane = 0; lane != std::min<uint64_t>(number, lanes); ++lane) {
      makespans.push_back(std::max<int64_t>(end[lane] - begin[lane], 0));
      for (uint64_t left = longest[lane]; left != 0; left &= left - 1)
        ++onPath[firstRank + unsigned(llvm::countr_zero(left))];
    }
  }

  static bool isThere(const Datum &datum) { return datum.arrival[0] >= 0; }
  void take(unsigned rank, const Datum &datum) {
    Times &now = ranks[rank];
    Paths &path = paths[rank];
    for (unsigned lane = 0; lane != lanes; ++lane) {
      path[lane] =
          datum.arrival[lane] > now[lane] ? datum.path[lane] : path[lane];
      now[lane] = std::max(now[lane], datum.arrival[lane]);
    }
  }
  void visit(unsigned rank, size_t from, size_t to) {
    const StepList &list = schedule.ranks[rank];
    if (!isCompute(list[from].kind()))
      return;
    Times &now = ranks[rank];
    Paths &path = paths[rank];
    uint64_t own =
        rank - firstRank < pathRanks ? uint64_t(1) << (rank - firstRank) : 0;
    for (unsigned lane = 0; lane != lanes; ++lane) {
      begin[lane] = std::min(begin[lane], now[lane]);
      int64_t time = costs.duration(list, from, to, &draws[lane]);
      now[lane] += time;
      path[lane] |= time > 0 ? own : 0;
      longest[lane] = now[lane] > end[lane] ? path[lane] : longest[lane];
      end[lane] = std::max(end[lane], now[lane]);
    }
  }
  Datum give(unsigned rank, size_t index, const DataFlow::Port &port) {
    Datum datum{ranks[rank], paths[rank]};
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
  std::vector<Paths> paths;
  Times begin, end;
  /// Those to `end`.
  Paths longest;
  unsigned firstRank = 0;
};

} // namespace pipec
