//===- Anneal.cpp - Better words by moving letters ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Anneal.h"

#include "Search/Tuning.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace pipec::search {

/// Counts of letters are kept at every place that this divides.
static constexpr uint32_t countEvery = 16;

/// How many ranks have one least time.
static constexpr unsigned blockSize = 64;

Annealer::Annealer(const Problem &problem, uint64_t seed)
    : problem(problem), random(seed), timing(problem), counts(problem.ranks),
      running(problem.numLetters()),
      isDirty(problem.ranks, std::vector<char>(problem.wordLength())),
      firstDirty(problem.ranks), dirtyTimes(problem.ranks, Problem::never),
      blockTimes((problem.ranks + blockSize - 1) / blockSize, Problem::never) {
  for (auto &table : counts)
    table.resize((problem.wordLength() / countEvery + 1) *
                 problem.numLetters());
}

//===----------------------------------------------------------------------===//
// The current words
//===----------------------------------------------------------------------===//

/// Counts letters from place `from`, where a count is kept, to place `to`.
void Annealer::countWord(unsigned rank, uint32_t from, uint32_t to) {
  unsigned letters = problem.numLetters();
  uint32_t *row = &counts[rank][from / countEvery * letters];
  std::copy(row, row + letters, running.begin());
  for (uint32_t i = from; i != to;) {
    ++running[words[rank][i]];
    if (++i % countEvery == 0) {
      row += letters;
      std::copy(running.begin(), running.end(), row);
    }
  }
}

bool Annealer::load(const Words &start) {
  words = start;
  if (!timing.run(words))
    return false;
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    countWord(rank, 0, problem.wordLength());
  newEnds = timing.ends;
  makespan = timing.makespan;
  sumOfEnds = 0;
  for (Ticks end : timing.rankEnds)
    sumOfEnds += end;
  timing.findTails();
  findCritical();
  return true;
}

void Annealer::findCritical() {
  critical.clear();
  for (uint32_t step = 0; step != problem.numSteps(); ++step)
    if (timing.ends[step] + timing.tails[step] == makespan)
      critical.push_back(step);
  work += problem.numSteps() * 6;
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

bool Annealer::propose(Move &move) {
  uint32_t length = problem.wordLength();
  uint32_t place;
  if (!critical.empty() && random.chance(tuning::criticalChance)) {
    uint32_t step = critical[random.below(critical.size())];
    move.rank = step / length;
    place = timing.places[step];
    if (place && random.chance(tuning::precedingChance))
      --place;
  } else {
    move.rank = random.below(problem.ranks);
    place = random.below(length);
  }
  uint32_t most = tuning::shortMove;
  if (!random.chance(tuning::shortChance))
    most = random.chance(tuning::middleChance) ? 3 * problem.chunks + 3
                                               : 6 * problem.ranks;
  uint32_t distance = 1 + random.below(most);
  move.forward = random.chance(50);
  const Word &word = words[move.rank];
  uint8_t letter = word[place];
  if (move.forward) {
    move.begin = place;
    move.end = std::min(place + distance + 1, length);
    // Swapping equal letters changes nothing.
    while (move.end - move.begin > 1 && word[move.begin + 1] == letter)
      ++move.begin;
    while (move.end - move.begin > 1 && word[move.end - 1] == letter)
      --move.end;
  } else {
    move.begin = place > distance ? place - distance : 0;
    move.end = place + 1;
    while (move.end - move.begin > 1 && word[move.end - 2] == letter)
      --move.end;
    while (move.end - move.begin > 1 && word[move.begin] == letter)
      ++move.begin;
  }
  uint32_t size = move.end - move.begin;
  if (size < 2)
    return false;
  if (!frozen.empty() && move.begin < frozen[move.rank].second &&
      move.end > frozen[move.rank].first)
    return false;
  segment.resize(size);
  const uint8_t *old = &word[move.begin];
  if (move.forward) {
    std::copy(old + 1, old + size, segment.begin());
    segment.back() = letter;
  } else {
    segment.front() = letter;
    std::copy(old, old + size - 1, segment.begin() + 1);
  }
  return true;
}

/// Whether the rank can run the changed word; numbers its steps.
bool Annealer::fits(const Move &move) {
  unsigned letters = problem.numLetters();
  const Word &word = words[move.rank];
  uint32_t from = move.begin / countEvery * countEvery;
  const uint32_t *row = &counts[move.rank][move.begin / countEvery * letters];
  std::copy(row, row + letters, running.begin());
  for (uint32_t i = from; i != move.begin; ++i)
    ++running[word[i]];
  const Letter *infos = &problem.info(move.rank, 0);
  Ticks held = 0;
  for (unsigned letter = 0; letter != letters; ++letter)
    held += running[letter] * (infos[letter].taken - infos[letter].given);
  uint32_t base = problem.base(move.rank, 0);
  segmentSteps.resize(segment.size());
  work += (move.begin - from) / 4 + segment.size();
  for (size_t i = 0; i != segment.size(); ++i) {
    uint8_t letter = segment[i];
    const Letter &own = infos[letter];
    uint32_t n = running[letter]++;
    for (uint8_t other : problem.before(own))
      if (running[other] <= n)
        return false;
    held += own.taken;
    if (held > problem.caps[move.rank])
      return false;
    held -= own.given;
    segmentSteps[i] = base + letter * problem.microbatches + n;
  }
  return true;
}

/// False if the longest path through the changed part exceeds `limit`, with the
/// current times of the other ranks.
bool Annealer::isPromising(const Move &move, Ticks limit) {
  size_t size = segment.size();
  const auto &list = timing.steps[move.rank];
  const Letter *infos = &problem.info(move.rank, 0);
  uint32_t base = problem.base(move.rank, 0);
  Ticks now = move.begin ? timing.ends[list[move.begin - 1]] : 0;
  segmentEnds.resize(size);
  for (size_t i = 0; i != size; ++i) {
    const Letter &own = infos[segment[i]];
    uint32_t n = segmentSteps[i] - base - segment[i] * problem.microbatches;
    for (const Transfer &source : problem.sources(own))
      now = std::max(now, timing.ends[source.base + n] + source.hop);
    now += own.time;
    segmentEnds[i] = now;
  }
  work += size * 2;
  Ticks tail = 0;
  if (move.end != list.size()) {
    uint32_t next = list[move.end];
    tail = timing.tails[next] + infos[words[move.rank][move.end]].time;
  }
  for (size_t i = size; i-- != 0;) {
    const Letter &own = infos[segment[i]];
    uint32_t n = segmentSteps[i] - base - segment[i] * problem.microbatches;
    for (const Transfer &user : problem.users(own))
      tail = std::max(tail, timing.tails[user.base + n] +
                                problem.infoOf(user.base).time + user.hop);
    if (segmentEnds[i] + tail > limit)
      return false;
    tail += own.time;
  }
  return true;
}

/// Exchanges the changed part and the current one.
void Annealer::exchange(const Move &move) {
  Word &word = words[move.rank];
  auto &list = timing.steps[move.rank];
  for (size_t i = 0; i != segment.size(); ++i) {
    uint32_t place = move.begin + i;
    std::swap(word[place], segment[i]);
    std::swap(list[place], segmentSteps[i]);
    timing.places[list[place]] = place;
  }
}

/// Queues a place for re-timing.
void Annealer::mark(unsigned rank, uint32_t place) {
  if (isDirty[rank][place])
    return;
  isDirty[rank][place] = true;
  if (dirtyTimes[rank] != Problem::never && firstDirty[rank] <= place)
    return;
  firstDirty[rank] = place;
  dirtyTimes[rank] = place ? newEnds[timing.steps[rank][place - 1]] : 0;
  horizon = std::min(horizon, dirtyTimes[rank]);
  Ticks &ofBlock = blockTimes[rank / blockSize];
  ofBlock = std::min(ofBlock, dirtyTimes[rank]);
}

/// Finds the least time of the block of a rank, whose own has changed.
void Annealer::findBlockTime(unsigned rank) {
  unsigned begin = rank / blockSize * blockSize;
  unsigned end = std::min(begin + blockSize, problem.ranks);
  blockTimes[rank / blockSize] =
      *std::min_element(dirtyTimes.begin() + begin, dirtyTimes.begin() + end);
}

/// The first rank with the least time, and the least time of the others.
std::pair<unsigned, Ticks> Annealer::firstDirtyRank() const {
  auto block = std::min_element(blockTimes.begin(), blockTimes.end());
  Ticks others = Problem::never;
  for (auto it = blockTimes.begin(); it != blockTimes.end(); ++it)
    if (it != block)
      others = std::min(others, *it);
  unsigned first = (block - blockTimes.begin()) * blockSize;
  unsigned end = std::min(first + blockSize, problem.ranks);
  for (unsigned rank = first + 1; rank < end; ++rank)
    if (dirtyTimes[rank] < dirtyTimes[first]) {
      others = std::min(others, dirtyTimes[first]);
      first = rank;
    } else {
      others = std::min(others, dirtyTimes[rank]);
    }
  return {first, others};
}

/// Finds the times of a rank from its first dirty place until nothing changes,
/// or until another rank has earlier work. False if they exceed `limit`.
bool Annealer::runRank(unsigned rank, const Move &move, Ticks limit) {
  uint32_t length = problem.wordLength();
  const uint32_t *list = timing.steps[rank].data();
  const uint8_t *word = words[rank].data();
  const Letter *infos = &problem.info(rank, 0);
  uint32_t base = problem.base(rank, 0);
  char *dirty = isDirty[rank].data();
  uint32_t i = firstDirty[rank];
  // The step after the changed part has a new predecessor.
  uint32_t forced = rank == move.rank ? std::min(move.end + 1, length) : 0;
  Ticks now = i ? newEnds[list[i - 1]] : 0;
  dirtyTimes[rank] = Problem::never;
  for (;;) {
    dirty[i] = false;
    uint32_t step = list[i];
    const Letter &own = infos[word[i]];
    uint32_t n = step - base - word[i] * problem.microbatches;
    for (const Transfer &source : problem.sources(own))
      now = std::max(now, newEnds[source.base + n] + source.hop);
    now += own.time;
    ++looked;
    bool other = now != newEnds[step];
    if (other) {
      bool inside = rank == move.rank && i >= move.begin && i < move.end;
      if (now + (inside ? 0 : timing.tails[step]) > limit)
        return false;
      changed.push_back(step);
      newEnds[step] = now;
      for (const Transfer &user : problem.users(own))
        mark(user.rank, timing.places[user.base + n]);
    }
    if (++i == length)
      return true;
    if (!other && i >= forced && !dirty[i]) {
      auto *next = static_cast<char *>(std::memchr(dirty + i, 1, length - i));
      if (!next)
        return true;
      i = next - dirty;
      firstDirty[rank] = i;
      dirtyTimes[rank] = newEnds[list[i - 1]];
      return true;
    }
    if (now > horizon) {
      dirty[i] = true;
      firstDirty[rank] = i;
      dirtyTimes[rank] = now;
      return true;
    }
  }
}

/// Finds the times that change with a move, about in the order of time.
bool Annealer::propagate(const Move &move, Ticks limit) {
  changed.clear();
  looked = 0;
  // `forced` covers the rest of the changed part, unless another rank comes
  // first: then its first place is marked.
  for (uint32_t i = move.begin;
       i != std::min(move.end + 1, problem.wordLength()); ++i)
    mark(move.rank, i);
  for (;;) {
    unsigned first;
    std::tie(first, horizon) = firstDirtyRank();
    if (dirtyTimes[first] == Problem::never)
      return true;
    work += problem.ranks / 8;
    if (!runRank(first, move, limit) || looked > 4 * problem.numSteps())
      return false;
    if (blockTimes.size() > 1)
      findBlockTime(first);
  }
}

/// Finds the times of the words after a move. False if they exceed `limit`, or
/// if the words deadlock, which may be slow to detect.
bool Annealer::evaluate(const Move &move, Ticks limit) {
  bool good = propagate(move, limit);
  work += 8 + looked * 8;
  // The ranks only count if there are very many of them.
  if (problem.ranks > 1024)
    work += problem.ranks / 2;
  if (!good) {
    std::fill(dirtyTimes.begin(), dirtyTimes.end(), Problem::never);
    std::fill(blockTimes.begin(), blockTimes.end(), Problem::never);
    for (auto &flags : isDirty)
      std::fill(flags.begin(), flags.end(), false);
    work += problem.numSteps() / 16;
    return false;
  }
  newMakespan = 0;
  newSum = 0;
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    Ticks end = newEnds[timing.steps[rank].back()];
    newMakespan = std::max(newMakespan, end);
    newSum += end;
  }
  return true;
}

void Annealer::keep(const Move &move) {
  for (uint32_t step : changed)
    timing.ends[step] = newEnds[step];
  makespan = newMakespan;
  sumOfEnds = newSum;
  countWord(move.rank, move.begin / countEvery * countEvery, move.end);
}

//===----------------------------------------------------------------------===//
// A round
//===----------------------------------------------------------------------===//

Ticks Annealer::cost(Ticks makespan, Ticks sumOfEnds) const {
  return tuning::makespanWeight * Ticks(problem.ranks) * makespan +
         tuning::endsWeight * sumOfEnds;
}

Found Annealer::run(const Found &start, unsigned heat, Ticks bound,
                    Budget &budget) {
  Found best = start;
  if (start.makespan <= bound || !load(start.words))
    return best;
  using namespace tuning;
  Ticks perTick = makespanWeight * Ticks(problem.ranks);
  Ticks temperature = Ticks(__int128(makespan) * perTick * heat / 1'000'000);
  uint64_t all = budget.left(), begin = budget.spent();
  unsigned level = 0;
  uint32_t renewEvery = problem.numSteps() / renewals + 1, accepted = 0;
  while (!budget.done()) {
    while (level + 1 < numLevels &&
           budget.spent() - begin > all / numLevels * (level + 1)) {
      ++level;
      temperature = Ticks(__int128(temperature) * cooling / coolingDivisor);
    }
    for (unsigned n = 0; n != movesPerCheck; ++n) {
      // One neighbour of very long words can be slow.
      if (budget.isStopped() || work > budget.left() + workPerEffort / 8)
        break;
      work += 6;
      Move move;
      if (!propose(move) || !fits(move))
        continue;
      Ticks threshold =
          cost(makespan, sumOfEnds) +
          Ticks(__int128(temperature) * random.exponential() >> 16);
      Ticks limit =
          (threshold - endsWeight * (sumOfEnds - sumOfEnds / 64)) / perTick;
      if (!isPromising(move, limit))
        continue;
      exchange(move);
      if (!evaluate(move, limit) || cost(newMakespan, newSum) > threshold) {
        for (uint32_t step : changed)
          newEnds[step] = timing.ends[step];
        exchange(move);
        continue;
      }
      keep(move);
      bool isBest = makespan < best.makespan;
      // Steps without duration may wait for each other unnoticed.
      if (isBest || ++accepted % renewEvery == 0) {
        if (timing.run(words) != makespan) {
          load(best.words);
          continue;
        }
        timing.findTails();
        findCritical();
      }
      if (isBest) {
        best = {words, makespan};
        if (makespan <= bound) {
          budget.spend(work);
          work = 0;
          return best;
        }
      }
    }
    budget.spend(work);
    work = 0;
  }
  return best;
}

} // namespace pipec::search
