//===- Refuter.cpp - Makespans that no schedule has -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Refuter.h"

#include <algorithm>
#include <map>

namespace pipec::search {

Refuter::Refuter(const Problem &problem)
    : problem(problem), allPaths(problem), filter(problem),
      spaces(problem.ranks) {
  lowerBound = allPaths.bound();
}

/// What the states of a rank depend on.
static std::vector<Ticks> stateKey(const Problem &problem, unsigned rank) {
  std::vector<Ticks> key = {problem.caps[rank]};
  for (unsigned chunk = 0; chunk != problem.chunks; ++chunk) {
    const StageFigures &own = problem.stages[problem.stageOf(rank, chunk)];
    key.push_back(own.givenByI);
    key.push_back(own.givenByW);
  }
  return key;
}

bool Refuter::isComplete() const {
  return std::all_of(spaces.begin(), spaces.end(), [](const auto &space) {
    return space && space->isListed();
  });
}

Refuter::Answer Refuter::tryRefute(Ticks makespan, Budget &budget,
                                   std::vector<uint32_t> *filtered) {
  if (!spaces[0]) {
    std::map<std::vector<Ticks>, std::shared_ptr<StateSpace>> known;
    for (unsigned rank = 0; rank != problem.ranks; ++rank) {
      auto &space = known[stateKey(problem, rank)];
      if (!space) {
        space = std::make_shared<StateSpace>(problem, rank);
        budget.spend(uint64_t(space->numTuples()) * 64 + 100'000);
      }
      spaces[rank] = space;
    }
  }
  StepWindows windows = allPaths.open(makespan);
  std::vector<char> changed(problem.ranks, true);
  budget.spend(problem.numSteps());
  if (!allPaths.narrow(windows, &changed))
    return Answer::Refuted;
  for (bool any = true; any;) {
    any = false;
    for (unsigned rank = 0; rank != problem.ranks; ++rank) {
      if (!changed[rank])
        continue;
      changed[rank] = false;
      if (!spaces[rank]->isListed()) {
        // The weaker test of one rank.
        budget.spend(problem.wordLength() * 4);
        if (allPaths.machine(rank, windows, makespan) > makespan) {
          if (filtered)
            filtered->push_back(rank);
          return Answer::Refuted;
        }
        continue;
      }
      any = true;
      if (filtered)
        filtered->push_back(rank);
      Filtered result =
          filter.run(rank, *spaces[rank], makespan, windows, budget);
      if (result == Filtered::Refuted)
        return Answer::Refuted;
      if (result == Filtered::Narrowed) {
        budget.spend(problem.numSteps());
        if (!allPaths.narrow(windows, &changed))
          return Answer::Refuted;
      }
      if (budget.done())
        return Answer::Unknown;
    }
  }
  return Answer::Open;
}

void Refuter::raise(Ticks best, Budget &budget) {
  if (stride == 0)
    stride = std::max<Ticks>(1, (best - lowerBound) / 8);
  while (lowerBound < best && !exhausted && !budget.done()) {
    Ticks trial = std::min(lowerBound + stride - 1, best - 1);
    // One trial takes at most half of what is left: refuting is quick, and the
    // end of a trial that refutes nothing is far away.
    Budget share = budget.part(stride > 1 ? budget.left() / 2 : budget.left());
    Answer answer = tryRefute(trial, share);
    budget.spend(share.spent());
    if (answer == Answer::Refuted) {
      lowerBound = trial + 1;
      stride =
          std::min(stride * 2, std::max<Ticks>(1, (best - lowerBound) / 4));
    } else if (trial == lowerBound && answer == Answer::Open)
      exhausted = true;
    else if (trial == lowerBound)
      return;
    else
      stride = std::max<Ticks>(1, stride / 3);
  }
}

} // namespace pipec::search
