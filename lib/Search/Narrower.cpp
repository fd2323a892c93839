//===- Narrower.cpp - Windows that no order violates ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Narrower.h"

namespace pipec::search {

/// The figures that determine the states of a rank.
static std::vector<Ticks> stateKey(const Problem &problem, unsigned rank,
                                   bool withW) {
  std::vector<Ticks> key = {withW, problem.caps[rank]};
  for (unsigned chunk = 0; chunk != problem.chunks; ++chunk) {
    const StageFigures &own = problem.stages[problem.stageOf(rank, chunk)];
    if (withW) {
      key.push_back(own.givenByI);
      key.push_back(own.givenByW);
    } else {
      key.push_back(own.taken());
    }
    for (unsigned kind = 0; problem.hasMoreTakers() && kind != 3; ++kind)
      key.push_back(own.during[kind]);
    if (problem.hasMoreTakers())
      key.push_back(own.givenByI);
  }
  for (unsigned letter = 0; letter != problem.numLetters(); ++letter) {
    auto before = problem.before(problem.info(rank, letter));
    key.push_back(before.size());
    key.insert(key.end(), before.begin(), before.end());
  }
  return key;
}

/// The states of a rank; null when there are too many.
const StateSpace *Narrower::listed(unsigned rank, bool withW, Budget &budget) {
  // Whole backwards have one list.
  if (withW && !problem.split)
    return nullptr;
  auto &own = spaces[2 * rank + withW];
  if (!own) {
    auto &space = known[stateKey(problem, rank, withW)];
    if (!space) {
      space = std::make_shared<StateSpace>(problem, rank, withW);
      budget.spend(uint64_t(space->numTuples()) * 64 + 100'000);
    }
    own = space;
  }
  return own->isListed() ? own.get() : nullptr;
}

bool Narrower::isComplete(Budget &budget) {
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    if (!listed(rank, false, budget))
      return false;
  return true;
}

Narrower::Answer Narrower::run(StepWindows &windows, Ticks makespan,
                               std::vector<char> changed, const Limits &limits,
                               Narrowing &done, Budget &budget) {
  budget.spend(problem.numSteps());
  if (!allPaths.narrow(windows, &changed))
    return Answer::Refuted;
  // The ranks that orders with W have not seen as they are now.
  std::vector<char> unseen = changed;
  auto visit = [&](unsigned rank, bool withW) {
    const StateSpace *states = listed(rank, withW, budget);
    if (!states && !withW) {
      // The weaker test of one rank.
      budget.spend(problem.wordLength() * 4);
      if (allPaths.machine(rank, windows, makespan) <= makespan)
        return Filtered::Unchanged;
      done.machine = rank;
      return Filtered::Refuted;
    }
    if (!states || (withW && states->numStates() > limits.statesWithW))
      return Filtered::Unchanged;
    Filtered result = filter.run(rank, *states, makespan, windows, budget);
    if (result == Filtered::Unchanged)
      return result;
    done.rounds.push_back({rank, withW});
    std::vector<char> moved(problem.ranks);
    budget.spend(problem.numSteps());
    if (result == Filtered::Refuted || !allPaths.narrow(windows, &moved))
      return Filtered::Refuted;
    unseen[rank] |= !withW;
    for (unsigned other = 0; other != problem.ranks; ++other) {
      changed[other] |= moved[other];
      unseen[other] |= moved[other];
    }
    return result;
  };
  for (bool any = true; any;) {
    any = false;
    for (bool withW : {false, true}) {
      // Each narrower window is first seen by the quicker filter.
      for (unsigned rank = 0; rank != problem.ranks && !(withW && any);
           ++rank) {
        char &flag = withW ? unseen[rank] : changed[rank];
        if (!flag)
          continue;
        if (budget.done() || done.rounds.size() >= limits.rounds)
          return Answer::Unknown;
        flag = false;
        Filtered result = visit(rank, withW);
        if (result == Filtered::Refuted)
          return Answer::Refuted;
        any |= result == Filtered::Narrowed;
      }
    }
  }
  return Answer::Open;
}

} // namespace pipec::search
