//===- MixedTiming.cpp - The times of mixed words -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/MixedTiming.h"

#include <algorithm>
#include <array>

namespace pipec::search {

bool MixedTiming::number(unsigned rank, const Word &word,
                         std::vector<uint32_t> &steps) const {
  unsigned chunks = problem.chunks();
  // By letter of the split problem.
  std::array<uint32_t, Problem::maxLetters> counts = {};
  std::array<uint32_t, Problem::maxLetters / 3> open = {};
  Ticks held = 0;
  steps.resize(word.size());
  for (size_t i = 0; i != word.size(); ++i) {
    uint8_t letter = word[i], like = problem.like(letter);
    unsigned chunk = letter % chunks;
    const MixedProblem::Letter &own = problem.info(rank, letter);
    uint32_t n = counts[like]++;
    if (isW(letter)) {
      if (!open[chunk]--)
        return false;
    } else {
      if (n == base.microbatches)
        return false;
      for (uint8_t other : base.before(base.info(rank, like)))
        if (counts[other] <= n)
          return false;
      open[chunk] += letter / chunks == MixedI;
    }
    held += own.taken;
    if (held > problem.cap(rank))
      return false;
    held -= own.given;
    steps[i] = base.base(rank, like) + n;
  }
  for (unsigned chunk = 0; chunk != chunks; ++chunk)
    if (open[chunk] || counts[chunk] != base.microbatches ||
        counts[chunks + chunk] != base.microbatches)
      return false;
  return true;
}

/// Runs a rank until it waits for a step whose time is not known.
bool MixedTiming::runRank(unsigned rank, const Change *change, Ticks limit) {
  bool isChanged = change && change->rank == rank;
  const Word &own = isChanged ? word : words[rank];
  const std::vector<uint32_t> &list = isChanged ? steps : ids[rank];
  std::vector<Ticks> &times = newEnds[rank];
  uint32_t &i = places[rank];
  Ticks now = i ? times[i - 1] : 0;
  for (; i != own.size(); ++i) {
    uint8_t letter = own[i];
    uint32_t step = list[i];
    Ticks start = now;
    if (!isW(letter)) {
      const Letter &edges = edgesOf(rank, letter);
      uint32_t n = step - base.base(rank, problem.like(letter));
      for (const Transfer &source : base.sources(edges)) {
        uint32_t from = source.base + n;
        Ticks end;
        if (stamps[from] == stamp)
          end = newStepEnds[from];
        else if (change && stepEnds[from] < unchanged)
          end = stepEnds[from];
        else
          return true;
        start = std::max(start, end + problem.hop(source.hop));
      }
    }
    now = start + problem.info(rank, letter).time;
    ++work;
    if (change) {
      // The tails of the changed part are not known yet.
      bool isInside = isChanged && i >= change->begin && i < change->newEnd;
      uint32_t old = isChanged && i >= change->newEnd
                         ? i - change->newEnd + change->oldEnd
                         : i;
      if (now + (isInside ? 0 : tails[rank][old]) > limit)
        return false;
    }
    times[i] = now;
    if (!isW(letter)) {
      newStepEnds[step] = now;
      stamps[step] = stamp;
    }
  }
  return true;
}

bool MixedTiming::run(const Change *change, Ticks limit) {
  ++stamp;
  places.assign(base.ranks, 0);
  unchanged = 0;
  if (change && change->begin)
    unchanged = ends[change->rank][change->begin - 1];
  for (unsigned rank = 0; rank != base.ranks; ++rank) {
    bool isChanged = change && change->rank == rank;
    newEnds[rank].resize(isChanged ? word.size() : words[rank].size());
    if (!change)
      continue;
    auto first =
        std::lower_bound(ends[rank].begin(), ends[rank].end(), unchanged);
    places[rank] = first - ends[rank].begin();
    if (isChanged)
      places[rank] = std::min(places[rank], change->begin);
    if (places[rank])
      newEnds[rank][places[rank] - 1] = ends[rank][places[rank] - 1];
  }
  firsts = places;
  uint32_t length = 0;
  for (bool any = true; any;) {
    any = false;
    length = 0;
    for (unsigned rank = 0; rank != base.ranks; ++rank) {
      uint32_t before = places[rank];
      if (before == newEnds[rank].size())
        continue;
      if (!runRank(rank, change, limit))
        return false;
      any |= places[rank] != before;
      length += newEnds[rank].size() - places[rank];
    }
    work += base.ranks / 2;
  }
  if (length)
    return false;
  newMakespan = newSum = 0;
  for (unsigned rank = 0; rank != base.ranks; ++rank) {
    Ticks end = newEnds[rank].empty() ? 0 : newEnds[rank].back();
    newMakespan = std::max(newMakespan, end);
    newSum += end;
  }
  return true;
}

bool MixedTiming::load(const Words &given) {
  if (given.size() != base.ranks)
    return false;
  words = given;
  for (unsigned rank = 0; rank != base.ranks; ++rank)
    if (!number(rank, words[rank], ids[rank]))
      return false;
  if (!run(nullptr, Problem::never))
    return false;
  ends = newEnds;
  stepEnds = newStepEnds;
  makespan = newMakespan;
  sum = newSum;
  findTails();
  return true;
}

/// Runs the ranks backwards, from the end of the run.
void MixedTiming::findTails() {
  ++stamp;
  std::vector<uint32_t> left(base.ranks);
  for (unsigned rank = 0; rank != base.ranks; ++rank) {
    left[rank] = words[rank].size();
    tails[rank].resize(left[rank]);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned rank = 0; rank != base.ranks; ++rank)
      for (uint32_t &i = left[rank]; i; --i) {
        uint8_t letter = words[rank][i - 1];
        uint32_t step = ids[rank][i - 1];
        Ticks tail = 0;
        if (i != words[rank].size())
          tail = tails[rank][i] + problem.info(rank, words[rank][i]).time;
        bool isKnown = true;
        if (!isW(letter)) {
          uint32_t n = microbatchOf(rank, letter, step);
          for (const Transfer &user : base.users(edgesOf(rank, letter))) {
            isKnown &= stamps[user.base + n] == stamp;
            tail = std::max(tail,
                            stepTails[user.base + n] + problem.hop(user.hop));
          }
        }
        if (!isKnown)
          break;
        tails[rank][i - 1] = tail;
        if (!isW(letter)) {
          // With the time of the step itself.
          stepTails[step] = tail + problem.info(rank, letter).time;
          stamps[step] = stamp;
        }
        any = true;
      }
  }
  work += base.numSteps();
}

bool MixedTiming::isPromising(const Change &change, Ticks limit) {
  unsigned rank = change.rank;
  size_t size = change.newEnd - change.begin;
  partEnds.resize(size);
  partTails.resize(size);
  Ticks now = change.begin ? ends[rank][change.begin - 1] : 0;
  work += size + 2;
  for (size_t i = 0; i != size; ++i) {
    uint8_t letter = word[change.begin + i];
    if (!isW(letter)) {
      uint32_t n = microbatchOf(rank, letter, steps[change.begin + i]);
      for (const Transfer &source : base.sources(edgesOf(rank, letter)))
        now =
            std::max(now, stepEnds[source.base + n] + problem.hop(source.hop));
    }
    now += problem.info(rank, letter).time;
    partEnds[i] = now;
  }
  Ticks tail = 0;
  if (change.oldEnd != words[rank].size())
    tail = tails[rank][change.oldEnd] +
           problem.info(rank, words[rank][change.oldEnd]).time;
  for (size_t i = size; i-- != 0;) {
    uint8_t letter = word[change.begin + i];
    if (!isW(letter)) {
      uint32_t n = microbatchOf(rank, letter, steps[change.begin + i]);
      for (const Transfer &user : base.users(edgesOf(rank, letter)))
        tail = std::max(tail, stepTails[user.base + n] + problem.hop(user.hop));
    }
    if (partEnds[i] + tail > limit)
      return false;
    partTails[i] = tail;
    tail += problem.info(rank, letter).time;
  }
  return true;
}

bool MixedTiming::tryChange(const Change &change, Ticks limit) {
  return run(&change, limit);
}

void MixedTiming::keep(const Change &change) {
  unsigned rank = change.rank;
  std::vector<Ticks> &own = tails[rank];
  own.erase(own.begin() + change.begin, own.begin() + change.oldEnd);
  own.insert(own.begin() + change.begin, partTails.begin(), partTails.end());
  std::swap(words[rank], word);
  std::swap(ids[rank], steps);
  for (unsigned r = 0; r != base.ranks; ++r) {
    ends[r].resize(newEnds[r].size());
    std::copy(newEnds[r].begin() + firsts[r], newEnds[r].end(),
              ends[r].begin() + firsts[r]);
    for (uint32_t i = firsts[r]; i != ends[r].size(); ++i)
      if (!isW(words[r][i]))
        stepEnds[ids[r][i]] = ends[r][i];
  }
  for (uint32_t i = change.begin; i != change.newEnd; ++i)
    if (!isW(words[rank][i]))
      stepTails[ids[rank][i]] =
          own[i] + problem.info(rank, words[rank][i]).time;
  makespan = newMakespan;
  sum = newSum;
}

} // namespace pipec::search
