//===- RankFilter.cpp - The windows that one rank can keep ----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/RankFilter.h"

#include <algorithm>
#include <limits>

namespace pipec::search {

static constexpr Ticks never = std::numeric_limits<Ticks>::max() / 2;

bool RankFilter::findEarliest(unsigned rank, const StateSpace &space,
                              const StepWindows &windows) {
  unsigned letters = problem.numLetters();
  uint32_t tuples = space.numTuples(), m = problem.microbatches;
  earliest.assign(size_t(m + 1) * tuples, never);
  earliest[space.start()] = 0;
  for (uint32_t base = 0; base <= m; ++base) {
    Ticks *row = &earliest[size_t(base) * tuples];
    for (uint32_t t = 0; t != tuples; ++t) {
      Ticks now = row[t];
      if (now == never)
        continue;
      for (unsigned letter = 0; letter != letters; ++letter) {
        uint32_t next = space.next(t, letter);
        if (next == StateSpace::none)
          continue;
        uint32_t j = base + space.offset(t, letter);
        if (j >= m)
          continue;
        uint32_t step = problem.base(rank, letter) + j;
        Ticks end = std::max(now, windows.starts[step]) +
                    problem.info(rank, letter).time;
        if (end > windows.ends[step])
          continue;
        Ticks &cell =
            letter == space.baseLetter() ? row[tuples + next] : row[next];
        cell = std::min(cell, end);
      }
    }
  }
  return earliest[size_t(m) * tuples + space.start()] != never;
}

Filtered RankFilter::run(unsigned rank, const StateSpace &space, Ticks makespan,
                         StepWindows &windows, Budget &budget) {
  unsigned letters = problem.numLetters();
  uint32_t tuples = space.numTuples(), m = problem.microbatches;
  uint32_t first = problem.base(rank, 0), length = problem.wordLength();
  if (!findEarliest(rank, space, windows)) {
    budget.spend(space.numStates());
    return Filtered::Refuted;
  }
  budget.spend(2 * space.numStates());
  newStarts.assign(length, never);
  newEnds.assign(length, -1);
  latestOfNext.assign(tuples, -1);
  for (uint32_t base = m + 1; base-- != 0;) {
    latest.assign(tuples, -1);
    const Ticks *row = &earliest[size_t(base) * tuples];
    if (base == m)
      latest[space.start()] = makespan;
    for (uint32_t t = tuples; t-- != 0;) {
      Ticks now = row[t];
      if (now == never)
        continue;
      for (unsigned letter = 0; letter != letters; ++letter) {
        uint32_t next = space.next(t, letter);
        if (next == StateSpace::none)
          continue;
        uint32_t j = base + space.offset(t, letter);
        if (j >= m)
          continue;
        uint32_t place = letter * m + j;
        Ticks end =
            letter == space.baseLetter() ? latestOfNext[next] : latest[next];
        end = std::min(end, windows.ends[first + place]);
        Ticks begin = std::max(now, windows.starts[first + place]);
        Ticks time = problem.info(rank, letter).time;
        if (begin + time > end)
          continue;
        latest[t] = std::max(latest[t], end - time);
        newStarts[place] = std::min(newStarts[place], begin);
        newEnds[place] = std::max(newEnds[place], end);
      }
    }
    std::swap(latest, latestOfNext);
  }
  Filtered result = Filtered::Unchanged;
  for (uint32_t i = 0; i != length; ++i) {
    if (windows.starts[first + i] != newStarts[i] ||
        windows.ends[first + i] != newEnds[i])
      result = Filtered::Narrowed;
    windows.starts[first + i] = newStarts[i];
    windows.ends[first + i] = newEnds[i];
  }
  return result;
}

} // namespace pipec::search
