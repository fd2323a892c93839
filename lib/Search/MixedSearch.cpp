//===- MixedSearch.cpp - The search for mixed words -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/MixedTiming.h"

#include "Search/Anneal.h"

#include <algorithm>

namespace pipec::search {

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

namespace {

/// Runs F and backwards in the order of given words, splits some of the
/// backwards, and fills gaps with their W.
class Filler {
public:
  explicit Filler(const MixedProblem &problem)
      : problem(problem), base(problem.base()) {}

  /// Splits the backwards of the micro-batches before `head`, and of the last
  /// `tail` ones. Empty if the memory is too small for these.
  std::optional<Words> run(const Words &order, uint32_t head, uint32_t tail);

private:
  const MixedProblem &problem;
  const Problem &base;
};

} // namespace

std::optional<Words> Filler::run(const Words &order, uint32_t head,
                                 uint32_t tail) {
  unsigned chunks = problem.chunks();
  struct Rank {
    Ticks now = 0, held = 0;
    size_t place = 0;
    std::vector<uint32_t> counts;
    /// The chunks of the W that wait.
    std::vector<uint8_t> open;
    size_t done = 0;
  };
  std::vector<Rank> ranks(base.ranks);
  std::vector<Ticks> ends(base.numSteps(), -1);
  Words result(base.ranks);
  for (Rank &own : ranks)
    own.counts.resize(base.numLetters());
  for (;;) {
    std::optional<unsigned> best;
    uint8_t bestLetter = 0;
    Ticks bestStart = Problem::never;
    bool isOver = true;
    for (unsigned rank = 0; rank != base.ranks; ++rank) {
      Rank &own = ranks[rank];
      const Word &word = order[rank];
      // W are placed anew.
      while (own.place != word.size() && word[own.place] / chunks == MixedW)
        ++own.place;
      bool hasW = own.done != own.open.size();
      bool isMain = own.place != word.size();
      isOver &= !hasW && !isMain;
      Ticks start = Problem::never;
      uint8_t letter = 0;
      if (isMain) {
        letter = word[own.place];
        uint8_t like = problem.like(letter);
        uint32_t n = own.counts[like];
        if (like != letter || letter / chunks == MixedI) {
          bool isSplit = n < head || n + tail >= base.microbatches;
          letter = letter % chunks + (isSplit ? MixedI : MixedB) * chunks;
        }
        start = own.now;
        for (const Transfer &source : base.sources(base.info(rank, like))) {
          Ticks end = ends[source.base + n];
          start = end < 0 ? Problem::never
                          : std::max(start, end + problem.hop(source.hop));
          if (end < 0)
            break;
        }
        if (own.held + problem.info(rank, letter).taken > problem.cap(rank))
          start = Problem::never;
      }
      if (hasW) {
        uint8_t w = MixedW * chunks + own.open[own.done];
        // A W may delay the next step by half of its time.
        if (start > own.now + problem.info(rank, w).time / 2) {
          start = own.now;
          letter = w;
        }
      }
      if (start < bestStart) {
        best = rank;
        bestStart = start;
        bestLetter = letter;
      }
    }
    if (isOver)
      return result;
    if (!best)
      return std::nullopt;
    Rank &own = ranks[*best];
    const MixedProblem::Letter &info = problem.info(*best, bestLetter);
    own.now = bestStart + info.time;
    own.held += info.taken - info.given;
    result[*best].push_back(bestLetter);
    if (bestLetter / chunks == MixedW) {
      ++own.done;
      continue;
    }
    uint8_t like = problem.like(bestLetter);
    ends[base.base(*best, like) + own.counts[like]++] = own.now;
    if (bestLetter / chunks == MixedI)
      own.open.push_back(bestLetter % chunks);
    ++own.place;
  }
}

//===----------------------------------------------------------------------===//
// Annealing
//===----------------------------------------------------------------------===//

namespace {

class MixedAnnealer {
public:
  MixedAnnealer(const MixedProblem &problem, uint64_t seed)
      : problem(problem), base(problem.base()), timing(problem), random(seed) {}

  Found run(const Found &start, unsigned heat, Ticks bound, Budget &budget);

private:
  using Change = MixedTiming::Change;

  bool propose(Change &change, uint32_t place);
  bool moveLetter(Change &change, uint32_t place);
  bool changeForm(Change &change, uint32_t place);

  const MixedProblem &problem;
  const Problem &base;
  MixedTiming timing;
  Random random;
};

} // namespace

bool MixedAnnealer::propose(Change &change, uint32_t place) {
  timing.word = timing.words[change.rank];
  bool isForm = random.chance(30);
  if (!(isForm ? changeForm(change, place) : moveLetter(change, place)))
    return false;
  timing.work += timing.word.size() / 4 + 2;
  return timing.number(change.rank, timing.word, timing.steps);
}

bool MixedAnnealer::moveLetter(Change &change, uint32_t place) {
  Word &word = timing.word;
  uint32_t length = word.size(), most = tuning::shortMove;
  if (!random.chance(tuning::shortChance))
    most = random.chance(tuning::middleChance) ? 3 * problem.chunks() + 3
                                               : 6 * base.ranks;
  uint32_t distance = 1 + random.below(most);
  if (random.chance(50)) {
    change.begin = place;
    change.oldEnd = std::min(place + distance + 1, length);
    std::rotate(word.begin() + place, word.begin() + place + 1,
                word.begin() + change.oldEnd);
  } else {
    change.begin = place > distance ? place - distance : 0;
    change.oldEnd = place + 1;
    std::rotate(word.begin() + change.begin, word.begin() + place,
                word.begin() + change.oldEnd);
  }
  // Equal ends have not changed.
  const Word &old = timing.words[change.rank];
  while (change.begin != change.oldEnd &&
         word[change.begin] == old[change.begin])
    ++change.begin;
  while (change.begin != change.oldEnd &&
         word[change.oldEnd - 1] == old[change.oldEnd - 1])
    --change.oldEnd;
  change.newEnd = change.oldEnd;
  return change.begin != change.oldEnd;
}

/// Splits the B at a place, or the next one; or joins an I with its W.
bool MixedAnnealer::changeForm(Change &change, uint32_t place) {
  Word &word = timing.word;
  unsigned chunks = problem.chunks();
  uint32_t end = std::min<uint32_t>(place + 3 * chunks, word.size());
  auto isBackward = [&](uint32_t at) {
    unsigned kind = word[at] / chunks;
    return kind == MixedI || kind == MixedB;
  };
  while (place != end && !isBackward(place))
    ++place;
  if (place == end)
    return false;
  unsigned chunk = word[place] % chunks;
  uint8_t w = MixedW * chunks + chunk;
  change.begin = place;
  if (word[place] / chunks == MixedB) {
    word[place] = MixedI * chunks + chunk;
    uint32_t most = random.chance(50) ? tuning::shortMove : 6 * base.ranks;
    uint32_t at =
        std::min<uint32_t>(place + 1 + random.below(most), word.size());
    word.insert(word.begin() + at, w);
    change.oldEnd = at;
    change.newEnd = at + 1;
    return true;
  }
  // The W of this I.
  unsigned before = 0;
  for (uint32_t i = 0; i != place; ++i)
    before += word[i] == word[place];
  uint32_t at = 0;
  for (unsigned n = 0; at != word.size(); ++at)
    if (word[at] == w && n++ == before)
      break;
  if (at == word.size())
    return false;
  word[place] = MixedB * chunks + chunk;
  word.erase(word.begin() + at);
  change.oldEnd = at + 1;
  change.newEnd = at;
  return at > place;
}

Found MixedAnnealer::run(const Found &start, unsigned heat, Ticks bound,
                         Budget &budget) {
  Found best = start;
  if (start.makespan <= bound || !timing.load(start.words))
    return best;
  annealTiming(
      timing, base.numSteps(), heat, bound, random, budget,
      [&](Change &change, uint32_t place) { return propose(change, place); },
      [&] { best = {timing.words, timing.makespan}; });
  return best;
}

Found searchMixed(const MixedProblem &problem, const std::vector<Words> &starts,
                  uint64_t seed, Ticks bound, Budget &budget) {
  const Problem &base = problem.base();
  MixedTiming timing(problem);
  Filler filler(problem);
  std::vector<Found> found;
  auto offer = [&](const Words &words) {
    budget.spend(8 * uint64_t(base.numSteps()));
    if (timing.load(words))
      found.push_back({words, timing.makespan});
  };
  for (const Words &words : starts)
    offer(words);
  // The decoder visits all ranks for each step.
  uint64_t perFill = uint64_t(base.numSteps()) * (base.ranks * 2 + 20);
  Budget fills = budget.part(budget.left() / 4);
  std::vector<uint32_t> numbers = {0};
  for (uint32_t n = 1; n < 2 * base.microbatches; n *= 2)
    numbers.push_back(std::min(n, base.microbatches));
  for (const Words &words : starts)
    for (uint32_t head : numbers)
      for (uint32_t tail : numbers) {
        if (fills.done() || head + tail > base.microbatches)
          continue;
        fills.spend(perFill);
        if (auto made = filler.run(words, head, tail))
          offer(*made);
      }
  budget.spend(fills.spent());
  if (found.empty())
    return {};
  std::stable_sort(
      found.begin(), found.end(),
      [](const Found &a, const Found &b) { return a.makespan < b.makespan; });
  return annealRounds(
      found, base.numSteps(), bound, budget,
      [&](unsigned round, const Found &start, unsigned heat, Budget &own) {
        MixedAnnealer annealer(problem, seed * 1000 + round + 700);
        return annealer.run(start, heat, bound, own);
      });
}

} // namespace pipec::search
