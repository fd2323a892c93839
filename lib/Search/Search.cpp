//===- Search.cpp - The best schedule, and how good it can be -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Search.h"

#include "Search/Anneal.h"
#include "Search/Blocks.h"
#include "Search/Steady.h"
#include "Search/Tuning.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <thread>

namespace pipec::search {

namespace {

/// The search in its phases.
class Searcher {
public:
  Searcher(const Problem &problem, const SearchOptions &options)
      : problem(problem), options(options), refuter(problem),
        runs(tuning::runsFor(problem.numSteps())) {}

  SearchResult run(const std::vector<Words> &starts);

private:
  /// The state of one run between phases.
  struct Run {
    std::unique_ptr<BlockSearch> blocks;
    std::unique_ptr<Annealer> annealer;
    Found own;
  };

  Ticks bound() const {
    return proof ? std::max(refuter.bound(), proof->refuted + 1)
                 : refuter.bound();
  }
  bool closed() const {
    Ticks gap = best.makespan - bound();
    return !best.words.empty() &&
           (best.makespan <= options.goal ||
            __int128(gap) * 1'000'000 <= __int128(options.within) * bound());
  }
  /// The makespan at which nothing more is searched.
  Ticks enough() const { return std::max(bound(), options.goal); }
  bool stopped() const { return options.stop && options.stop->load(); }
  bool over() const {
    return closed() || stopped() || bound() >= options.uselessBound;
  }
  uint64_t share(uint64_t perMille) const {
    return options.work / 1000 * perMille;
  }
  void note(const char *phase) {
    if (options.progress && !best.words.empty())
      options.progress(best.makespan, bound(), phase);
  }
  void offer(const Found &found) {
    if (!found.words.empty() &&
        (best.words.empty() || found.makespan < best.makespan))
      best = found;
  }
  void takeStarts(const std::vector<Words> &starts);
  void inParallel(uint64_t perMille, uint64_t forBound,
                  const std::function<void(unsigned, Budget &)> &task);
  void decode(uint64_t perMille, uint64_t forBound);
  void repeat(uint64_t perMille);
  void anneal(uint64_t perMille, uint64_t forBound);
  void raiseBound(uint64_t perMille, Ticks most);
  void proveCharges(uint64_t perMille);
  void proveCases(uint64_t perMille);
  bool runPhase(const tuning::Phase &phase);

  const Problem &problem;
  const SearchOptions &options;
  Refuter refuter;
  /// The proof of a bound by cases or charges.
  std::optional<Refutation> proof;
  BoundSource proofSource = BoundSource::Cases;
  /// The effort that windows have not used; charges and cases get it.
  uint64_t saved = 0;
  std::vector<Run> runs;
  /// Rounds of annealing so far.
  unsigned round = 0;
  Found best;
  /// The best of the words that were given.
  Found given;
  /// The best words that repeat a block.
  Found steady;
  bool isRepeated = false;
};

} // namespace

void Searcher::takeStarts(const std::vector<Words> &starts) {
  Timing timing(problem);
  Decoder decoder(problem);
  // The best first; later ones only while the budget lasts.
  std::vector<std::pair<Ticks, size_t>> order;
  for (size_t i = 0; i != starts.size(); ++i)
    if (std::optional<Ticks> makespan = timing.run(starts[i]))
      order.push_back({*makespan, i});
  std::sort(order.begin(), order.end());
  Budget budget(std::max(options.work, workPerEffort), options.stop);
  size_t first = 0;
  for (auto [makespan, i] : order) {
    Found found = {starts[i], makespan};
    uint64_t before = budget.spent();
    if (!budget.done())
      justify(problem, found, decoder, timing, budget);
    // The units of justifying are too small for long words.
    budget.spend((budget.spent() - before) * 3);
    if (given.words.empty() || found.makespan < given.makespan ||
        (found.makespan == given.makespan && i < first)) {
      given = std::move(found);
      first = i;
    }
  }
  offer(given);
}

/// Calls `task` for each run, each with its share of the effort, and raises the
/// bound meanwhile. Once a run has reached the bound those with higher numbers
/// are ended, which the result does not depend on.
void Searcher::inParallel(uint64_t perMille, uint64_t forBound,
                          const std::function<void(unsigned, Budget &)> &task) {
  std::array<std::atomic<bool>, tuning::maxRuns> ended = {};
  unsigned numRuns = runs.size();
  std::atomic<unsigned> next = 0;
  Ticks goal = enough();
  Ticks known = best.makespan;
  auto work = [&] {
    for (unsigned i; (i = next++) <= numRuns;) {
      if (i == numRuns) {
        if (known > goal)
          raiseBound(forBound, known);
        continue;
      }
      Budget budget(share(perMille) / numRuns, options.stop, &ended[i]);
      task(i, budget);
      if (runs[i].own.makespan <= goal && !runs[i].own.words.empty())
        for (unsigned j = i + 1; j < numRuns; ++j)
          ended[j] = true;
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min(options.threads, numRuns + 1); ++i)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
  // The runs after the first one that reached the goal were ended at any time.
  for (const Run &run : runs) {
    offer(run.own);
    if (!run.own.words.empty() && run.own.makespan <= goal)
      break;
  }
}

void Searcher::decode(uint64_t perMille, uint64_t forBound) {
  Ticks goal = enough();
  inParallel(perMille, forBound, [&](unsigned i, Budget &budget) {
    Run &run = runs[i];
    if (!run.blocks)
      run.blocks =
          std::make_unique<BlockSearch>(problem, options.seed * 1000 + i);
    run.blocks->run(budget, goal);
    run.own = run.blocks->best();
    Decoder decoder(problem);
    Timing timing(problem);
    justify(problem, run.own, decoder, timing, budget);
  });
  note("blocks");
}

/// Finds words that repeat the best block. Annealing begins with them even if
/// they are not the best so far, since their middle is hard to find otherwise.
void Searcher::repeat(uint64_t perMille) {
  if (problem.microbatches < tuning::steadyRun * problem.ranks ||
      (best.makespan - bound()) * tuning::steadyGap < bound())
    return;
  isRepeated = true;
  std::vector<Words> starts = {best.words};
  if (!given.words.empty())
    starts.push_back(given.words);
  Budget budget(share(perMille), options.stop);
  steady = searchSteady(problem, starts, options.seed * 1000 + 800, budget);
  offer(steady);
  note("steady");
}

void Searcher::anneal(uint64_t perMille, uint64_t forBound) {
  uint32_t steps = problem.numSteps();
  if (round == 1 && steps > tuning::oneRunSteps)
    runs.resize(1);
  unsigned heatOfSize =
      std::clamp(tuning::heatSteps / steps, tuning::minHeat, tuning::maxHeat);
  Ticks goal = enough();
  Found common = best;
  inParallel(perMille, forBound, [&](unsigned i, Budget &budget) {
    Run &run = runs[i];
    if (!run.annealer)
      run.annealer =
          std::make_unique<Annealer>(problem, options.seed * 1000 + i + 500);
    const Found *start = &run.own;
    if (round == 0 && i % 4 == 1 && !steady.words.empty())
      start = &steady;
    else if (round == 0 && i % 4 == 1 && !given.words.empty())
      start = &given;
    else if (i % (round == 0 ? 4 : 2) == 0)
      start = &common;
    unsigned heat = heatOfSize *
                    tuning::heats[(round + i) % std::size(tuning::heats)] / 100;
    if (start == &steady)
      heat = heatOfSize / 2;
    run.own = run.annealer->run(*start, heat, goal, budget);
    Decoder decoder(problem);
    Timing timing(problem);
    justify(problem, run.own, decoder, timing, budget);
  });
  ++round;
  note("anneal");
}

/// Raises the bound by windows, at most to `most`.
void Searcher::raiseBound(uint64_t perMille, Ticks most) {
  Budget budget(share(perMille), options.stop);
  if (perMille)
    refuter.raise(most, budget);
  saved += budget.left();
}

void Searcher::proveCharges(uint64_t perMille) {
  Budget budget(share(perMille) + saved, options.stop);
  auto found = boundByCharges(problem, bound(), best.makespan, budget);
  saved = budget.left();
  if (found) {
    proof = proofOf(*found);
    proofSource = BoundSource::Charges;
    refuter.take(found->bound);
  }
  note("charges");
}

void Searcher::proveCases(uint64_t perMille) {
  Budget budget(share(perMille) + saved, options.stop);
  saved = 0;
  if (over() || !refuter.isComplete(budget))
    return;
  if (auto found = proveByCases(problem, bound(), best.makespan, budget)) {
    proof = std::move(found);
    proofSource = BoundSource::Cases;
  }
  note("cases");
}

/// Runs one phase; false if it is the last one.
bool Searcher::runPhase(const tuning::Phase &phase) {
  switch (phase.kind) {
  case tuning::Phase::Blocks:
    decode(phase.share, phase.forBound);
    return true;
  case tuning::Phase::Bound:
    raiseBound(phase.share, best.makespan);
    note("bound");
    return true;
  case tuning::Phase::Anneal:
    anneal(phase.share, phase.forBound);
    return true;
  case tuning::Phase::Steady:
    repeat(phase.share);
    return true;
  case tuning::Phase::Rest:
    if (!isRepeated)
      anneal(phase.share, phase.forBound);
    return true;
  case tuning::Phase::Charges:
    proveCharges(phase.share);
    return true;
  case tuning::Phase::Cases:
    break;
  }
  Ticks before = bound();
  proveCases(phase.share);
  if ((bound() - before) * tuning::caseGain < best.makespan - before)
    return true;
  proveCases(tuning::caseShare);
  return false;
}

SearchResult Searcher::run(const std::vector<Words> &starts) {
  Ticks simple = refuter.bound();
  takeStarts(starts);
  note("library");
  std::span<const tuning::Phase> phases = tuning::shortPhases;
  if (problem.numSteps() > tuning::shortSteps)
    phases = tuning::longPhases;
  SearchResult result;
  // The first phase finds words even if the search is already over.
  for (const tuning::Phase &phase : phases) {
    if (over() && !best.words.empty())
      break;
    result.spent += share(phase.share + phase.forBound);
    if (!runPhase(phase))
      break;
  }
  if (options.prove)
    proveCases(tuning::proveShare);
  if (proof && refuter.bound() > proof->refuted + 1)
    proof.reset();
  result.best = best;
  result.bound = std::min(bound(), best.makespan);
  result.source = proof                                 ? proofSource
                  : refuter.bound() > simple            ? BoundSource::Windows
                  : refuter.paths().longest() == simple ? BoundSource::Paths
                                                        : BoundSource::Rank;
  result.proof = std::move(proof);
  result.stopped = stopped() && !closed();
  return result;
}

Ticks simpleBound(const Problem &problem) { return Paths(problem).bound(); }

SearchResult search(const Problem &problem, const std::vector<Words> &starts,
                    const SearchOptions &options) {
  return Searcher(problem, options).run(starts);
}

} // namespace pipec::search
