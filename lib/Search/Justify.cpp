//===- Justify.cpp - Better words from the slack of others ----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Justify.h"

namespace pipec::search {

void justify(const Problem &problem, Found &found, Decoder &decoder,
             Timing &timing, Budget &budget) {
  Targets targets;
  targets.inFlight.assign(problem.ranks, problem.microbatches);
  Ticks mean = problem.maxWork() / problem.wordLength();
  for (unsigned round = 0; round != 6; ++round) {
    if (!timing.run(found.words))
      return;
    timing.findTails();
    targets.times.resize(problem.numSteps());
    for (uint32_t step = 0; step != problem.numSteps(); ++step)
      targets.times[step] =
          timing.makespan - timing.tails[step] - problem.infoOf(step).time;
    bool better = false;
    for (Ticks patience : {Ticks(0), mean / 2, mean}) {
      if (budget.isStopped())
        return;
      targets.patience = patience;
      const Words &words = decoder.run(targets);
      budget.spend(Decoder::workFor(problem));
      if (timing.run(words) && timing.makespan < found.makespan) {
        found = {words, timing.makespan};
        better = true;
      }
    }
    if (!better || budget.done())
      return;
  }
}

} // namespace pipec::search
