//===- Refuter.cpp - Makespans that no schedule has -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Refuter.h"

#include <algorithm>

namespace pipec::search {

Refuter::Refuter(const Problem &problem)
    : problem(problem), narrower(problem, /*memory=*/true) {
  lowerBound = paths().bound();
}

Narrower::Answer Refuter::tryRefute(Ticks makespan, Budget &budget) {
  StepWindows windows = paths().open(makespan);
  Narrowing done;
  return narrower.run(windows, makespan, std::vector<char>(problem.ranks, true),
                      Narrower::Limits(), done, budget);
}

void Refuter::raise(Ticks best, Budget &budget) {
  if (stride == 0)
    stride = std::max<Ticks>(1, (best - lowerBound) / 8);
  while (lowerBound < best && !exhausted && !budget.done()) {
    Ticks trial = std::min(lowerBound + stride - 1, best - 1);
    // One trial takes at most half of what is left: refuting is quick, and the
    // end of a trial that refutes nothing is far away.
    Budget share = budget.part(stride > 1 ? budget.left() / 2 : budget.left());
    Narrower::Answer answer = tryRefute(trial, share);
    budget.spend(share.spent());
    if (answer == Narrower::Answer::Refuted) {
      lowerBound = trial + 1;
      stride =
          std::min(stride * 2, std::max<Ticks>(1, (best - lowerBound) / 4));
    } else if (trial == lowerBound && answer == Narrower::Answer::Open)
      exhausted = true;
    else if (trial == lowerBound)
      return;
    else
      stride = std::max<Ticks>(1, stride / 3);
  }
}

} // namespace pipec::search
