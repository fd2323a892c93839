//===- RankFilter.cpp - The windows that one rank can keep ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/RankFilter.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec::search {

static constexpr Ticks never = std::numeric_limits<Ticks>::max() / 2;

void RankFilter::copyWindows(unsigned rank, const StateSpace &space,
                             const StepWindows &windows) {
  steps.assign(size_t(space.stride()) * problem.numLetters(),
               {0, -1, 0, never, -1});
  for (unsigned letter = 0; letter != problem.numLetters(); ++letter) {
    uint32_t first = problem.base(rank, letter);
    Ticks time = problem.info(rank, letter).time;
    Window *row = &steps[size_t(letter) * space.stride()];
    for (uint32_t j = 0; j != problem.microbatches; ++j)
      row[j] = {windows.starts[first + j], windows.ends[first + j] - time, time,
                never, -1};
  }
}

//===----------------------------------------------------------------------===//
// The work of W, for states without it
//===----------------------------------------------------------------------===//

/// Finds the W of the I of each tuple, and the memory held without any W.
void RankFilter::findWork(unsigned rank, const StateSpace &space) {
  workOfEach = heldOfEach = 0;
  workOfTuple.assign(space.numTuples(), 0);
  heldOfTuple.assign(space.numTuples(), -problem.caps[rank]);
  givers.clear();
  givesUnit = 0;
  for (unsigned chunk = 0; chunk != problem.chunks; ++chunk) {
    unsigned forward = problem.letter(LetterF, chunk);
    unsigned backward = problem.letter(LetterI, chunk);
    const StageFigures &own = problem.stages[problem.stageOf(rank, chunk)];
    Ticks time = problem.split ? own.time[LetterW] : 0;
    workOfEach += time;
    heldOfEach += own.givenByW;
    for (uint32_t t = 0; t != space.numTuples(); ++t) {
      ArrayRef<int16_t> offsets = space.offsets(t);
      workOfTuple[t] += time * offsets[backward];
      heldOfTuple[t] +=
          own.taken() * offsets[forward] - own.givenByI * offsets[backward];
    }
    if (own.givenByW)
      givers.push_back({backward, time, own.givenByW});
    givesUnit = std::gcd(givesUnit, own.givenByW);
  }
  std::stable_sort(
      givers.begin(), givers.end(), [](const Giver &a, const Giver &b) {
        return __int128(a.time) * b.gives < __int128(b.time) * a.gives;
      });
}

/// The least time of the W that must have run before a rank in this state can
/// allocate `taken`.
Ticks RankFilter::leastWork(uint32_t base, uint32_t tuple, Ticks taken,
                            const StateSpace &space) const {
  Ticks needed = heldOfEach * base + heldOfTuple[tuple] + taken;
  if (needed <= 0)
    return 0;
  needed = (needed + givesUnit - 1) / givesUnit * givesUnit;
  Ticks work = 0;
  for (const Giver &giver : givers) {
    Ticks all = giver.gives * (base + space.offsets(tuple)[giver.letter]);
    if (needed <= all)
      return work + Ticks(__int128(giver.time) * needed / giver.gives);
    needed -= all;
    work += giver.time * (all / giver.gives);
  }
  return work;
}

/// The same before a step.
Ticks RankFilter::leastBefore(unsigned rank, uint32_t base, uint32_t tuple,
                              StateSpace::Transition to,
                              const StateSpace &space) const {
  auto shifted = uint32_t(to.place + int32_t(problem.microbatches));
  // An F keeps the memory that it allocates.
  if (!problem.hasMoreTakers())
    return shifted < problem.chunks * space.stride()
               ? leastWork(base, to.next, 0, space)
               : 0;
  const Letter &own = problem.info(rank, shifted / space.stride());
  return own.taken ? leastWork(base, tuple, own.taken, space) : 0;
}

//===----------------------------------------------------------------------===//
// The times of states
//===----------------------------------------------------------------------===//

/// False when no order is left.
template <bool withW>
bool RankFilter::findEarliest(unsigned rank, const StateSpace &space,
                              Ticks makespan) {
  uint32_t tuples = space.numTuples(), m = problem.microbatches;
  earliest.assign(size_t(m + 2) * tuples, never);
  earliest[space.start()] = 0;
  if constexpr (!withW)
    earliestLess = earliest;
  for (uint32_t base = 0; base <= m; ++base) {
    Ticks *row = &earliest[size_t(base) * tuples];
    Ticks *less = withW ? nullptr : &earliestLess[size_t(base) * tuples];
    const Window *window = steps.data() + base;
    for (uint32_t t = 0; t != tuples; ++t) {
      Ticks now = row[t];
      if (now == never)
        continue;
      Ticks work = withW ? 0 : workOfEach * base + workOfTuple[t];
      for (StateSpace::Transition to : space.transitions(t)) {
        const Window &step = window[to.place];
        Ticks start = std::max(now, step.start);
        if constexpr (!withW)
          start =
              std::max(start, less[t] + leastBefore(rank, base, t, to, space));
        if (start > step.lastStart)
          continue;
        row[to.next] = std::min(row[to.next], start + step.time);
        if constexpr (!withW)
          less[to.next] = std::min(
              less[to.next], std::max(less[t], step.start - work) + step.time);
      }
    }
  }
  size_t end = size_t(m) * tuples + space.start();
  return earliest[end] != never &&
         (withW || earliestLess[end] + workOfEach * m <= makespan);
}

/// False when no order is left.
template <bool withW>
bool RankFilter::findLatest(unsigned rank, const StateSpace &space,
                            Ticks makespan) {
  uint32_t tuples = space.numTuples(), m = problem.microbatches;
  Ticks none = withW ? -1 : -makespan - workOfEach * m - 1;
  latest.assign(size_t(2) * tuples, none);
  if constexpr (!withW)
    latestLess = latest;
  for (uint32_t base = m + 1; base-- != 0;) {
    const Ticks *row = &earliest[size_t(base) * tuples];
    const Ticks *less = withW ? nullptr : &earliestLess[size_t(base) * tuples];
    Window *window = steps.data() + base;
    auto nextRow = [&](std::vector<Ticks> &rows, Ticks atEnd) {
      std::copy_n(rows.begin(), tuples, rows.begin() + tuples);
      std::fill_n(rows.begin(), tuples, none);
      if (base == m)
        rows[space.start()] = atEnd;
    };
    nextRow(latest, makespan);
    if constexpr (!withW)
      nextRow(latestLess, makespan - workOfEach * m);
    for (uint32_t t = tuples; t-- != 0;) {
      Ticks now = row[t];
      if (now == never)
        continue;
      Ticks work = withW ? 0 : workOfEach * base + workOfTuple[t];
      Ticks last = latest[t], lastLess = withW ? 0 : latestLess[t];
      for (StateSpace::Transition to : space.transitions(t)) {
        Window &step = window[to.place];
        Ticks start = std::max(now, step.start);
        Ticks lastStart = std::min(latest[to.next] - step.time, step.lastStart);
        if constexpr (!withW) {
          Ticks least = leastBefore(rank, base, t, to, space);
          Ticks nextLess = latestLess[to.next] - step.time;
          start = std::max(start, least ? less[t] + least : 0);
          lastStart = std::min(lastStart, nextLess + work);
          if (std::max(less[t], step.start - work) > nextLess)
            continue;
          if (start <= lastStart)
            lastLess =
                std::max(lastLess, std::min(nextLess, lastStart - least));
        }
        if (start > lastStart)
          continue;
        last = std::max(last, lastStart);
        step.newStart = std::min(step.newStart, start);
        step.newEnd = std::max(step.newEnd, lastStart + step.time);
      }
      latest[t] = last;
      if constexpr (!withW)
        latestLess[t] = lastLess;
    }
  }
  return withW || latest[space.start()] != none;
}

Filtered RankFilter::run(unsigned rank, const StateSpace &space, Ticks makespan,
                         StepWindows &windows, Budget &budget) {
  copyWindows(rank, space, windows);
  budget.spend((space.hasW() ? 6 : 8) * space.numStates());
  if (!space.hasW())
    findWork(rank, space);
  if (!(space.hasW() ? findEarliest<true>(rank, space, makespan) &&
                           findLatest<true>(rank, space, makespan)
                     : findEarliest<false>(rank, space, makespan) &&
                           findLatest<false>(rank, space, makespan)))
    return Filtered::Refuted;
  Filtered result = Filtered::Unchanged;
  unsigned letters = space.hasW() ? problem.numLetters() : 2 * problem.chunks;
  for (unsigned letter = 0; letter != letters; ++letter)
    for (uint32_t j = 0; j != problem.microbatches; ++j) {
      uint32_t step = problem.base(rank, letter) + j;
      const Window &window = steps[size_t(letter) * space.stride() + j];
      if (windows.starts[step] != window.newStart ||
          windows.ends[step] != window.newEnd)
        result = Filtered::Narrowed;
      windows.starts[step] = window.newStart;
      windows.ends[step] = window.newEnd;
    }
  return result;
}

} // namespace pipec::search
