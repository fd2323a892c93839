//===- Prover.cpp - Why a makespan is refuted -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Prover.h"

#include "Search/RankFilter.h"

#include <memory>

namespace pipec::search {

namespace {

class Prover {
public:
  explicit Prover(const Problem &problem)
      : problem(problem), paths(problem, /*memory=*/false), filter(problem),
        spaces(problem.ranks) {}

  std::optional<Refutation> run(Ticks makespan, Budget &budget);
  /// A bound that can always be proven.
  Ticks simpleBound() const { return paths.bound(); }

private:
  std::optional<uint32_t> machine(const StepWindows &windows,
                                  Ticks makespan) const {
    for (unsigned rank = 0; rank != problem.ranks; ++rank)
      if (paths.machine(rank, windows, makespan) > makespan)
        return rank;
    return std::nullopt;
  }

  const Problem &problem;
  Paths paths;
  RankFilter filter;
  std::vector<std::unique_ptr<StateSpace>> spaces;
};

} // namespace

std::optional<Refutation> Prover::run(Ticks makespan, Budget &budget) {
  Refutation found;
  found.refuted = makespan;
  StepWindows windows = paths.open(makespan);
  if (!paths.narrow(windows))
    return found;
  if ((found.machine = machine(windows, makespan)))
    return found;
  std::vector<char> changed(problem.ranks, true);
  for (bool any = true; any && !budget.done();) {
    any = false;
    for (unsigned rank = 0; rank != problem.ranks; ++rank) {
      if (!changed[rank])
        continue;
      changed[rank] = false;
      if (!spaces[rank])
        spaces[rank] = std::make_unique<StateSpace>(problem, rank);
      if (!spaces[rank]->isListed())
        continue;
      Filtered result =
          filter.run(rank, *spaces[rank], makespan, windows, budget);
      if (result == Filtered::Unchanged)
        continue;
      any = true;
      found.rounds.push_back(rank);
      if (result == Filtered::Refuted || !paths.narrow(windows, &changed))
        return found;
    }
  }
  if ((found.machine = machine(windows, makespan)))
    return found;
  return std::nullopt;
}

Refutation prove(const Problem &problem, Ticks bound, Budget &budget) {
  Prover prover(problem);
  if (auto found = prover.run(bound - 1, budget))
    return *found;
  return *prover.run(prover.simpleBound() - 1, budget);
}

} // namespace pipec::search
