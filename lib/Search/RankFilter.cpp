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

bool RankFilter::findEarliest(const StateSpace &space) {
  uint32_t tuples = space.numTuples(), m = problem.microbatches;
  earliest.assign(size_t(m + 2) * tuples, never);
  earliest[space.start()] = 0;
  for (uint32_t base = 0; base <= m; ++base) {
    Ticks *row = &earliest[size_t(base) * tuples];
    const Window *window = steps.data() + base;
    for (uint32_t t = 0; t != tuples; ++t) {
      Ticks now = row[t];
      if (now == never)
        continue;
      for (StateSpace::Transition to : space.transitions(t)) {
        const Window &step = window[to.place];
        Ticks start = std::max(now, step.start);
        if (start <= step.lastStart)
          row[to.next] = std::min(row[to.next], start + step.time);
      }
    }
  }
  return earliest[size_t(m) * tuples + space.start()] != never;
}

void RankFilter::findLatest(const StateSpace &space, Ticks makespan) {
  uint32_t tuples = space.numTuples(), m = problem.microbatches;
  latest.assign(size_t(2) * tuples, -1);
  for (uint32_t base = m + 1; base-- != 0;) {
    const Ticks *row = &earliest[size_t(base) * tuples];
    Window *window = steps.data() + base;
    std::copy_n(latest.begin(), tuples, latest.begin() + tuples);
    std::fill_n(latest.begin(), tuples, -1);
    if (base == m)
      latest[space.start()] = makespan;
    for (uint32_t t = tuples; t-- != 0;) {
      Ticks now = row[t];
      if (now == never)
        continue;
      Ticks last = latest[t];
      for (StateSpace::Transition to : space.transitions(t)) {
        Window &step = window[to.place];
        Ticks start = std::max(now, step.start);
        Ticks lastStart = std::min(latest[to.next] - step.time, step.lastStart);
        if (start > lastStart)
          continue;
        last = std::max(last, lastStart);
        step.newStart = std::min(step.newStart, start);
        step.newEnd = std::max(step.newEnd, lastStart + step.time);
      }
      latest[t] = last;
    }
  }
}

Filtered RankFilter::run(unsigned rank, const StateSpace &space, Ticks makespan,
                         StepWindows &windows, Budget &budget) {
  copyWindows(rank, space, windows);
  budget.spend(3 * space.numStates());
  if (!findEarliest(space))
    return Filtered::Refuted;
  budget.spend(3 * space.numStates());
  findLatest(space, makespan);
  Filtered result = Filtered::Unchanged;
  for (unsigned letter = 0; letter != problem.numLetters(); ++letter)
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
