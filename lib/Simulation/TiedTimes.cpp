//===- TiedTimes.cpp - When sums of tied gradients run --------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulation/TiedTimes.h"

using namespace llvm;

namespace pipec {

void setTiedStarts(const Schedule &schedule, const TiedMeetings &meetings,
                   const TickCosts &costs, const StepNumbers &numbers,
                   std::vector<int64_t> &starts) {
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    if (meetings.stepsOf(rank).empty())
      continue;
    int64_t busy = 0;
    uint32_t number = numbers.begin(rank);
    for (Step step : schedule.ranks[rank]) {
      int64_t &start = starts[number++];
      if (isFsdp(step.kind()))
        busy = std::max(busy, start + costs.collective(rank, step));
      else if (isTied(step.kind()))
        start = std::max(start, busy);
    }
  }
  std::vector<int64_t> free(schedule.ranks.size());
  for (unsigned group : meetings.order()) {
    int64_t start = 0;
    for (StepRef step : meetings.steps(group))
      start = std::max({start, starts[numbers.of(step)], free[step.rank]});
    for (StepRef step : meetings.steps(group)) {
      starts[numbers.of(step)] = start;
      free[step.rank] = start + costs.reduceTied();
    }
  }
}

} // namespace pipec
