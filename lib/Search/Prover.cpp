//===- Prover.cpp - Why a makespan is refuted -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Prover.h"

#include <algorithm>

namespace pipec::search {

/// The states of a rank; null when there are too many.
const StateSpace *Narrower::listed(unsigned rank, bool withW, Budget &budget) {
  // Whole backwards have one list.
  if (withW && !problem.split)
    return nullptr;
  auto &own = spaces[2 * rank + withW];
  if (!own) {
    auto &space = known[StateSpace::key(problem, rank, withW)];
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
    // A trial gets at most half of the remaining budget: refutations are quick,
    // and a trial that refutes nothing may never end.
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

void Refuter::take(Ticks bound) {
  if (bound <= lowerBound)
    return;
  lowerBound = bound;
  stride = 0;
}

namespace {

class Prover {
public:
  explicit Prover(const Problem &problem)
      : problem(problem), narrower(problem, /*memory=*/false),
        ofCases{6 * problem.ranks + 6, 20'000} {}

  /// A proof with windows alone, or with cases.
  std::optional<Refutation> run(Ticks makespan, bool cases, Budget &budget);
  /// A bound that can always be proven.
  Ticks simpleBound() const { return narrower.paths().bound(); }

private:
  bool narrow(StepWindows &windows, std::vector<char> changed,
              const Narrower::Limits &limits, ProofPart &part, Budget &budget) {
    return narrower.run(windows, makespan, std::move(changed), limits,
                        part.narrowing, budget) == Narrower::Answer::Refuted;
  }
  bool tryCase(const StartCase &assumed, const StepWindows &windows,
               ProofPart &part, Budget &budget);
  bool shave(uint32_t step, StepWindows &windows, ProofPart &part,
             Budget &budget);
  bool shaveAll(StepWindows &windows, ProofPart &part, Budget &budget);

  std::vector<char> allRanks() const {
    return std::vector<char>(problem.ranks, true);
  }
  std::optional<uint32_t> machine(const StepWindows &windows) const {
    for (unsigned rank = 0; rank != problem.ranks; ++rank)
      if (narrower.paths().machine(rank, windows, makespan) > makespan)
        return rank;
    return std::nullopt;
  }

  const Problem &problem;
  Narrower narrower;
  Narrower::Limits ofCases;
  Ticks makespan = 0;
  Refutation proof;
};

} // namespace

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// True if no schedule has the step in the assumed part of its window.
bool Prover::tryCase(const StartCase &assumed, const StepWindows &windows,
                     ProofPart &part, Budget &budget) {
  StepWindows own = windows;
  uint32_t step = problem.step(assumed.kind, assumed.stage, assumed.microbatch);
  if (assumed.isLater)
    own.starts[step] = assumed.time + 1;
  else
    own.ends[step] = assumed.time + problem.infoOf(step).time;
  std::vector<char> changed(problem.ranks);
  changed[problem.map[assumed.stage]] = true;
  budget.spend(problem.numSteps());
  part = {};
  return narrow(own, std::move(changed), ofCases, part, budget);
}

/// Cuts off refuted parts at both ends of the window of a step: quarters, else
/// eighths. True if the whole window is refuted; `part` collects the rounds for
/// the rest.
bool Prover::shave(uint32_t step, StepWindows &windows, ProofPart &part,
                   Budget &budget) {
  const Letter &letter = problem.infoOf(step);
  for (unsigned piece = 4; piece <= 8 && !budget.done();) {
    Ticks first = windows.starts[step];
    Ticks last = windows.ends[step] - letter.time;
    Ticks size = (last - first + 1) / piece;
    if (size == 0)
      return false;
    bool found = false;
    for (bool isLater : {false, true}) {
      StartCase assumed = {letter.kind, letter.stage,
                           step % problem.microbatches, isLater,
                           isLater ? last - size : first + size - 1};
      ProofPart refuted;
      if (!tryCase(assumed, windows, refuted, budget))
        continue;
      part.split = assumed;
      proof.parts.push_back(std::move(part));
      proof.parts.push_back(std::move(refuted));
      part = {};
      if (isLater)
        windows.ends[step] = assumed.time + letter.time;
      else
        windows.starts[step] = assumed.time + 1;
      std::vector<char> changed(problem.ranks);
      changed[problem.map[letter.stage]] = true;
      if (narrow(windows, std::move(changed), Narrower::Limits(), part, budget))
        return true;
      found = true;
      break;
    }
    if (!found)
      piece *= 2;
  }
  return false;
}

/// Shaves all steps until nothing changes. True if a whole window is refuted.
bool Prover::shaveAll(StepWindows &windows, ProofPart &part, Budget &budget) {
  std::vector<uint32_t> order(problem.numSteps());
  for (bool any = true; any && !budget.done();) {
    any = false;
    // Small windows have few cases that matter.
    for (uint32_t i = 0; i != order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return windows.ends[a] - windows.starts[a] - problem.infoOf(a).time <
             windows.ends[b] - windows.starts[b] - problem.infoOf(b).time;
    });
    for (uint32_t step : order) {
      size_t before = proof.parts.size();
      if (shave(step, windows, part, budget))
        return true;
      any |= proof.parts.size() != before;
      if (budget.done())
        return false;
    }
  }
  return false;
}

std::optional<Refutation> Prover::run(Ticks trial, bool cases, Budget &budget) {
  makespan = trial;
  proof = {};
  proof.refuted = trial;
  StepWindows windows = narrower.paths().open(makespan);
  ProofPart part;
  auto finished = [&] {
    proof.parts.push_back(std::move(part));
    return std::move(proof);
  };
  // One rank alone, without rounds, is the shortest proof.
  std::optional<uint32_t> &alone = part.narrowing.machine;
  if (!narrower.paths().narrow(windows) || (alone = machine(windows)) ||
      narrow(windows, allRanks(), Narrower::Limits(), part, budget) ||
      (alone = machine(windows)))
    return finished();
  if (cases && shaveAll(windows, part, budget))
    return finished();
  return std::nullopt;
}

Refutation proofOf(const ChargeBound &found) {
  Refutation proof;
  proof.refuted = found.bound - 1;
  proof.parts.emplace_back().narrowing.charges = found.charges;
  return proof;
}

Refutation prove(const Problem &problem, Ticks bound, Budget &budget) {
  Prover prover(problem);
  if (auto found = prover.run(bound - 1, /*cases=*/false, budget))
    return *found;
  return *prover.run(prover.simpleBound() - 1, /*cases=*/false, budget);
}

std::optional<Refutation> proveByCases(const Problem &problem, Ticks bound,
                                       Ticks best, Budget &budget) {
  Prover prover(problem);
  std::optional<Refutation> proof;
  Ticks stride = std::max<Ticks>(1, (best - bound) / 4);
  while (bound < best && !budget.done()) {
    Ticks trial = std::min(bound + stride - 1, best - 1);
    Budget share = budget.part(stride > 1 ? budget.left() / 3 : budget.left());
    auto found = prover.run(trial, /*cases=*/true, share);
    budget.spend(share.spent());
    if (found) {
      proof = std::move(found);
      bound = trial + 1;
      stride = std::min(stride * 2, std::max<Ticks>(1, (best - bound) / 2));
    } else if (stride == 1) {
      break;
    } else {
      stride = std::max<Ticks>(1, stride / 3);
    }
  }
  return proof;
}

} // namespace pipec::search
