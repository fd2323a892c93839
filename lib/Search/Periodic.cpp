//===- Periodic.cpp - Words whose middle repeats --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Periodic.h"

#include "Search/Anneal.h"
#include "Search/Blocks.h"

#include <algorithm>
#include <set>

namespace pipec::search {

/// A block has at most as many of each letter.
static constexpr uint32_t maxBatch = 6;

Problem withMicrobatches(const Problem &problem, uint32_t microbatches) {
  Problem other = problem;
  other.microbatches = microbatches;
  other.finish();
  return other;
}

/// For each place of a word the next place at which a block of `batch` of each
/// letter begins; the length of the word when there is none.
static std::vector<uint32_t> blockBegins(const Problem &problem,
                                         const Word &word, uint32_t batch) {
  uint32_t length = word.size(), size = batch * problem.numLetters();
  std::vector<uint32_t> next(length + 1, length);
  if (size > length)
    return next;
  std::vector<uint32_t> counts(problem.numLetters());
  unsigned unequal = problem.numLetters();
  auto change = [&](uint8_t letter, uint32_t by) {
    unequal += counts[letter] == batch;
    counts[letter] += by;
    unequal -= counts[letter] == batch;
  };
  std::vector<char> isBegin(length);
  for (uint32_t i = 0; i != length; ++i) {
    change(word[i], 1);
    if (i >= size)
      change(word[i - size], uint32_t(-1));
    if (i + 1 >= size && unequal == 0)
      isBegin[i + 1 - size] = true;
  }
  for (uint32_t i = length; i-- != 0;)
    next[i] = isBegin[i] ? i : next[i + 1];
  return next;
}

/// Calls `visit` with where the block of each rank begins, for cuts through all
/// ranks at one time.
template <typename Visitor>
void PeriodFinder::forCuts(const Problem &of, const Words &words,
                           uint32_t batch, Visitor visit) {
  constexpr unsigned numCuts = 120;
  Timing times(of);
  if (!times.run(words))
    return;
  std::vector<std::vector<uint32_t>> next;
  for (unsigned rank = 0; rank != of.ranks; ++rank)
    next.push_back(blockBegins(of, words[rank], batch));
  std::set<std::vector<uint32_t>> seen;
  for (unsigned cut = 0; cut != numCuts; ++cut) {
    Ticks time = Ticks(__int128(times.makespan) * cut / numCuts);
    std::vector<uint32_t> begins;
    for (unsigned rank = 0; rank != of.ranks; ++rank) {
      const auto &steps = times.steps[rank];
      auto first =
          std::partition_point(steps.begin(), steps.end(), [&](uint32_t step) {
            return times.ends[step] <= time;
          });
      begins.push_back(next[rank][first - steps.begin()]);
      if (begins.back() == words[rank].size())
        break;
    }
    if (begins.size() == of.ranks && begins.back() != words.back().size() &&
        seen.insert(begins).second && !visit(begins))
      return;
  }
}

void PeriodFinder::offer(Periodic made) {
  auto key = [&](const Periodic &of) {
    return std::pair(of.found.makespan, of.written(problem));
  };
  if (!found || key(made) < key(*found))
    found = std::move(made);
}

void PeriodFinder::grow(const Problem &small, const Words &words,
                        Budget &budget) {
  uint32_t more = problem.microbatches - small.microbatches;
  for (uint32_t batch = 1; batch <= std::min(maxBatch, more); ++batch) {
    if (more % batch != 0)
      continue;
    uint32_t size = batch * problem.numLetters();
    forCuts(small, words, batch, [&](const std::vector<uint32_t> &begins) {
      Words grown(problem.ranks);
      for (unsigned rank = 0; rank != problem.ranks; ++rank) {
        const Word &word = words[rank];
        auto begin = word.begin() + begins[rank];
        grown[rank].reserve(problem.wordLength());
        grown[rank].assign(word.begin(), begin);
        for (uint32_t i = 0; i <= more / batch; ++i)
          grown[rank].insert(grown[rank].end(), begin, begin + size);
        grown[rank].insert(grown[rank].end(), begin + size, word.end());
      }
      budget.spend(uint64_t(problem.numSteps()) * 12);
      if (std::optional<Ticks> makespan = timing.run(grown))
        offer({{std::move(grown), *makespan}, begins, batch, more / batch + 1});
      return !budget.done();
    });
  }
}

void PeriodFinder::take(const Words &words, Budget &budget) {
  std::optional<Ticks> makespan = timing.run(words);
  uint32_t enough = 2 * problem.ranks + 2;
  for (uint32_t batch = 1; makespan && batch <= maxBatch; ++batch) {
    uint32_t size = batch * problem.numLetters();
    forCuts(problem, words, batch, [&](const std::vector<uint32_t> &begins) {
      uint32_t copies = problem.microbatches;
      for (unsigned rank = 0; rank != problem.ranks; ++rank) {
        auto begin = words[rank].begin() + begins[rank];
        uint32_t own = 1;
        while (words[rank].end() - begin >= (own + 1) * size &&
               std::equal(begin, begin + size, begin + own * size))
          ++own;
        copies = std::min(copies, own);
      }
      budget.spend(problem.numSteps());
      Periodic made = {{words, *makespan}, begins, batch, copies};
      if (copies > 1 && made.written(problem) <= enough)
        offer(std::move(made));
      return !budget.done();
    });
  }
}

namespace {

/// Searches with fewer micro-batches, and anneals the letters outside of
/// blocks.
class PeriodicSearch {
public:
  PeriodicSearch(const Problem &problem, Ticks bound,
                 const SearchOptions &options)
      : problem(problem), options(options), bound(bound), finder(problem) {}

  std::optional<Periodic> run(const Found &best,
                              const std::vector<Words> &starts);

private:
  bool over() const {
    return (options.stop && options.stop->load()) ||
           (finder.best() && finder.best()->found.makespan <= bound);
  }
  void growFrom(uint32_t microbatches, uint64_t work);
  void annealRamps(Periodic &periodic, uint64_t work) const;

  const Problem &problem;
  const SearchOptions &options;
  Ticks bound;
  PeriodFinder finder;
};

} // namespace

void PeriodicSearch::growFrom(uint32_t microbatches, uint64_t work) {
  Problem small = withMicrobatches(problem, microbatches);
  Budget budget(work, options.stop);
  // The blocks of many micro-batches suit the middle, a search the ramps.
  BlockSearch blocks(small, options.seed * 1000 + 900 + microbatches);
  Budget share = budget.part(work / 6);
  blocks.run(share, simpleBound(small));
  budget.spend(share.spent());
  finder.grow(small, blocks.best().words, budget);
  SearchOptions own = options;
  own.work = work / 2;
  own.progress = nullptr;
  own.prove = false;
  own.goal = 0;
  own.uselessBound = Problem::maxTicks;
  SearchResult result = search(small, {blocks.best().words}, own);
  Budget rest(work / 3, options.stop);
  finder.grow(small, result.best.words, rest);
}

/// Moves letters that are not in a block.
void PeriodicSearch::annealRamps(Periodic &periodic, uint64_t work) const {
  uint32_t size = periodic.copies * periodic.batch * problem.numLetters();
  std::vector<std::pair<uint32_t, uint32_t>> blocks;
  for (uint32_t begin : periodic.begins)
    blocks.push_back({begin, begin + size});
  Annealer annealer(problem, options.seed * 1000 + 990);
  annealer.freeze(std::move(blocks));
  static constexpr unsigned heats[] = {2000, 6000, 1000};
  for (unsigned heat : heats) {
    Budget budget(work / std::size(heats), options.stop);
    periodic.found = annealer.run(periodic.found, heat, bound, budget);
  }
}

std::optional<Periodic> PeriodicSearch::run(const Found &best,
                                            const std::vector<Words> &starts) {
  Budget budget(options.work / 10, options.stop);
  finder.take(best.words, budget);
  for (const Words &words : starts)
    finder.take(words, budget);
  // Ramps of both ends, and a few micro-batches between them.
  std::set<uint32_t> sizes;
  uint32_t m = problem.microbatches, p = problem.ranks;
  for (uint32_t size : {2 * p + 2, 2 * p + 1, 2 * p, 2 * p - 1, p + 2, m / 2})
    if (size >= 1 && size < m && size <= 2 * p + 2)
      sizes.insert(size);
  for (uint32_t size : sizes)
    if (!over())
      growFrom(size, options.work * 6 / 10 / sizes.size());
  std::optional<Periodic> found = finder.best();
  if (found && !over())
    annealRamps(*found, options.work * 3 / 10);
  return found;
}

std::optional<Periodic> searchPeriodic(const Problem &problem,
                                       const Found &best,
                                       const std::vector<Words> &starts,
                                       Ticks bound,
                                       const SearchOptions &options) {
  return PeriodicSearch(problem, bound, options).run(best, starts);
}

} // namespace pipec::search
