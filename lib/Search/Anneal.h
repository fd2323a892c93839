//===- Anneal.h - Better words by moving letters ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simulated annealing on the words. A neighbour moves one letter of a word;
// micro-batches follow from the order. It must pass three tests, cheapest
// first: the rank can run the word within its cap, an estimate of the longest
// path through the changed part, and the times of all later steps.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Budget.h"
#include "Search/Decoder.h"
#include "Search/Random.h"
#include "Search/Tuning.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace pipec::search {

class Annealer {
public:
  Annealer(const Problem &problem, uint64_t seed);

  /// Keeps the letters in the half-open interval of places of each rank.
  void freeze(std::vector<std::pair<uint32_t, uint32_t>> places) {
    frozen = std::move(places);
  }

  /// Runs one round: cools from `heat` millionths of the makespan to a
  /// hundredth of that over the whole budget, or ends at a makespan of `bound`.
  /// Returns the best words found.
  Found run(const Found &start, unsigned heat, Ticks bound, Budget &budget);

private:
  struct Move {
    unsigned rank;
    /// The changed part of the word.
    uint32_t begin, end;
    /// The letter goes from one end of it to the other.
    bool forward;
  };

  bool load(const Words &words);
  void findCritical();
  bool propose(Move &move);
  bool fits(const Move &move);
  bool isPromising(const Move &move, Ticks limit);
  bool evaluate(const Move &move, Ticks limit);
  void exchange(const Move &move);
  void keep(const Move &move);
  bool propagate(const Move &move, Ticks limit);
  bool runRank(unsigned rank, const Move &move, Ticks limit);
  void mark(unsigned rank, uint32_t place);
  std::pair<unsigned, Ticks> firstDirtyRank() const;
  void findBlockTime(unsigned rank);
  void countWord(unsigned rank, uint32_t from, uint32_t to);

  Ticks cost(Ticks makespan, Ticks sumOfEnds) const;

  const Problem &problem;
  Random random;
  std::vector<std::pair<uint32_t, uint32_t>> frozen;
  Words words;
  Timing timing;
  Ticks makespan = 0;
  Ticks sumOfEnds = 0;
  /// Steps on a longest path.
  std::vector<uint32_t> critical;
  /// How often each letter comes before every 16th place of a word.
  std::vector<std::vector<uint32_t>> counts;
  std::vector<uint32_t> running;
  /// The changed part of a word, as letters and as steps.
  Word segment;
  std::vector<uint32_t> segmentSteps;
  std::vector<Ticks> segmentEnds;
  /// The times of a neighbour; unchanged steps have the current times.
  std::vector<Ticks> newEnds;
  std::vector<uint32_t> changed;
  /// The places whose times must be found again: a flag for each, and the first
  /// of each rank, with about its time.
  std::vector<std::vector<char>> isDirty;
  std::vector<uint32_t> firstDirty;
  std::vector<Ticks> dirtyTimes;
  /// The least of the times of 64 ranks.
  std::vector<Ticks> blockTimes;
  /// The least time of the ranks that do not run now.
  Ticks horizon = 0;
  uint32_t looked = 0;
  Ticks newMakespan = 0;
  Ticks newSum = 0;
  uint64_t work = 0;
};

/// Places in lists on a longest path; changes may move them.
class CriticalPlaces {
public:
  /// Finds those of a `MixedTiming` or `ListTiming` whose tails are known.
  template <typename Timing> void find(const Timing &timing) {
    places.clear();
    for (unsigned rank = 0; rank != timing.ends.size(); ++rank)
      for (uint32_t i = 0; i != timing.ends[rank].size(); ++i)
        if (timing.ends[rank][i] + timing.tails[rank][i] == timing.makespan)
          places.push_back({rank, i});
  }
  /// Picks the rank and the place where a change begins, in lists with these
  /// ends; false if there is nothing at it.
  bool pick(const std::vector<std::vector<Ticks>> &ends, Random &random,
            unsigned &rank, uint32_t &place) const {
    if (!places.empty() && random.chance(tuning::criticalChance)) {
      std::tie(rank, place) = places[random.below(places.size())];
      if (place && random.chance(tuning::precedingChance))
        --place;
      return place < ends[rank].size();
    }
    rank = random.below(ends.size());
    if (ends[rank].empty())
      return false;
    place = random.below(ends[rank].size());
    return true;
  }

private:
  std::vector<std::pair<uint32_t, uint32_t>> places;
};

/// Runs one such round on the lists of a `MixedTiming` or `ListTiming`, which
/// has run them: cools, and ends, as `Annealer::run` does. `propose` makes a
/// change that begins at a place of a rank or returns false, and `keepBest` is
/// called when the makespan is the least so far.
template <typename Timing, typename Propose, typename Keep>
void annealTiming(Timing &timing, uint32_t numSteps, unsigned heat, Ticks bound,
                  Random &random, Budget &budget, Propose propose,
                  Keep keepBest) {
  using namespace tuning;
  Ticks perTick = makespanWeight * Ticks(timing.ends.size());
  auto cost = [&](Ticks makespan, Ticks sum) {
    return perTick * makespan + endsWeight * sum;
  };
  Ticks least = timing.makespan;
  Ticks temperature = Ticks(__int128(least) * perTick * heat / 1'000'000);
  uint64_t all = budget.left(), begin = budget.spent();
  unsigned level = 0;
  uint32_t renewEvery = numSteps / renewals + 1, accepted = 0;
  // An item costs several operations.
  auto spend = [&] { budget.spend(std::exchange(timing.work, 0) * 8); };
  typename Timing::Change change{};
  uint32_t place = 0;
  CriticalPlaces critical;
  critical.find(timing);
  while (!budget.done()) {
    while (level + 1 < numLevels &&
           budget.spent() - begin > all / numLevels * (level + 1)) {
      ++level;
      temperature = Ticks(__int128(temperature) * cooling / coolingDivisor);
    }
    for (unsigned n = 0; n != movesPerCheck && !budget.isStopped(); ++n) {
      timing.work += 6;
      if (!critical.pick(timing.ends, random, change.rank, place) ||
          !propose(change, place))
        continue;
      Ticks threshold =
          cost(timing.makespan, timing.sum) +
          Ticks(__int128(temperature) * random.exponential() >> 16);
      Ticks limit =
          (threshold - endsWeight * (timing.sum - timing.sum / 64)) / perTick;
      if (!timing.isPromising(change, limit) ||
          !timing.tryChange(change, limit) ||
          cost(timing.newMakespan, timing.newSum) > threshold)
        continue;
      timing.keep(change);
      bool isBest = timing.makespan < least;
      if (isBest || ++accepted % renewEvery == 0) {
        timing.findTails();
        critical.find(timing);
      }
      if (!isBest)
        continue;
      least = timing.makespan;
      keepBest();
      if (least <= bound)
        return spend();
    }
    spend();
  }
}

/// Runs rounds of annealing from the best of `found`, which is the first, and
/// some from the next ones, which may lead to better lists. `run` runs one.
template <typename Result, typename Run>
Result annealRounds(const std::vector<Result> &found, uint32_t numSteps,
                    Ticks bound, Budget &budget, Run run) {
  constexpr unsigned rounds = 8, fromOthers = 2;
  Result best = found.front();
  unsigned heat = std::clamp(tuning::heatSteps / numSteps, tuning::minHeat,
                             tuning::maxHeat);
  for (unsigned round = 0; round != rounds; ++round) {
    if (best.makespan <= bound || budget.done())
      break;
    Budget own = budget.part(budget.left() / (rounds - round));
    const Result &start = round && round <= fromOthers && round < found.size()
                              ? found[round]
                              : best;
    unsigned percent = tuning::heats[round % std::size(tuning::heats)];
    Result next = run(round, start, heat * percent / 100, own);
    budget.spend(own.spent());
    if (next.makespan < best.makespan)
      best = std::move(next);
  }
  return best;
}

} // namespace pipec::search
