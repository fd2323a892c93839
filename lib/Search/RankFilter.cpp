//===- RankFilter.cpp - The windows that one rank can keep ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/RankFilter.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec::search {

namespace {

/// The offsets of all letters.
using Tuple = SmallVector<int16_t, 12>;

/// Finds the tuples that can be reached from all counts being 0; differences of
/// counts are at most the number of micro-batches.
class Lister {
public:
  Lister(const Problem &problem, unsigned rank, unsigned base, unsigned letters)
      : problem(problem), rank(rank), base(base), letters(letters),
        bits(std::bit_width(2 * problem.microbatches)),
        started(problem.chunks) {}

  /// False when there are more than `limit`, or their numbers are too large.
  bool run(uint64_t limit) {
    if (bits * letters > 64 || problem.microbatches >= 1u << 14)
      return false;
    Tuple tuple(letters, 0);
    add(tuple);
    for (uint32_t i = 0; i != size(); ++i)
      for (unsigned letter = 0; letter != letters; ++letter) {
        tuple.assign(at(i).begin(), at(i).end());
        if (step(tuple, letter))
          add(tuple);
        if (size() > limit)
          return false;
      }
    return true;
  }

  /// Runs `letter` if the rank can.
  bool step(MutableArrayRef<int16_t> tuple, unsigned letter) {
    const Letter &own = problem.info(rank, letter);
    for (uint8_t other : problem.before(own))
      if (tuple[other] <= tuple[letter])
        return false;
    if (own.taken && held(tuple) + own.taken > problem.caps[rank])
      return false;
    if (letter == base) {
      for (unsigned other = 0; other != tuple.size(); ++other)
        tuple[other] -= other != base;
    } else {
      ++tuple[letter];
    }
    auto [least, most] = std::minmax_element(tuple.begin(), tuple.end());
    if (*most - *least > int(problem.microbatches))
      return false;
    return own.kind != LetterF || canFollow(tuple, *least);
  }

  uint32_t size() const { return tuples.size() / letters; }
  ArrayRef<int16_t> at(uint32_t i) const {
    return ArrayRef(tuples).slice(size_t(i) * letters, letters);
  }
  uint32_t number(ArrayRef<int16_t> tuple) const {
    return numbers.lookup(key(tuple));
  }

private:
  uint64_t key(ArrayRef<int16_t> tuple) const {
    uint64_t key = 0;
    for (int16_t offset : tuple)
      key = key << bits | uint64_t(offset + int(problem.microbatches));
    return key;
  }

  void add(ArrayRef<int16_t> tuple) {
    if (numbers.try_emplace(key(tuple), size()).second)
      tuples.insert(tuples.end(), tuple.begin(), tuple.end());
  }

  /// The memory between steps; without W, as if all W had run.
  Ticks held(ArrayRef<int16_t> tuple) const {
    Ticks held = 0;
    for (unsigned chunk = 0; chunk != problem.chunks; ++chunk) {
      int f = tuple[problem.letter(LetterF, chunk)];
      int i = tuple[problem.letter(LetterI, chunk)];
      const StageFigures &own = problem.stages[problem.stageOf(rank, chunk)];
      held += own.taken() * (f - i);
      if (letters > 2 * problem.chunks)
        held += own.givenByW * (i - tuple[problem.letter(LetterW, chunk)]);
    }
    return held;
  }

  bool canFollow(ArrayRef<int16_t> tuple, int least) {
    for (unsigned chunk = 0; chunk != problem.chunks; ++chunk)
      started[chunk] = tuple[problem.letter(LetterF, chunk)] - least;
    return problem.canFollow(rank, started.data());
  }

  const Problem &problem;
  unsigned rank;
  unsigned base;
  unsigned letters;
  unsigned bits;
  std::vector<uint32_t> started;
  std::vector<int16_t> tuples;
  DenseMap<uint64_t, uint32_t> numbers;
};

} // namespace

std::vector<Ticks> StateSpace::key(const Problem &problem, unsigned rank,
                                   bool withW) {
  std::vector<Ticks> key = {withW, problem.caps[rank]};
  for (unsigned chunk = 0; chunk != problem.chunks; ++chunk) {
    const StageFigures &own = problem.stages[problem.stageOf(rank, chunk)];
    if (withW) {
      key.push_back(own.givenByI);
      key.push_back(own.givenByW);
    } else {
      key.push_back(own.taken());
    }
    for (unsigned kind = 0; problem.hasMoreTakers() && kind != 3; ++kind)
      key.push_back(own.during[kind]);
    if (problem.hasMoreTakers())
      key.push_back(own.givenByI);
  }
  for (unsigned letter = 0; letter != problem.numLetters(); ++letter) {
    auto before = problem.before(problem.info(rank, letter));
    key.push_back(before.size());
    key.insert(key.end(), before.begin(), before.end());
  }
  return key;
}

StateSpace::StateSpace(const Problem &problem, unsigned rank, bool withW,
                       uint64_t maxTuples)
    : microbatches(problem.microbatches), withW(withW),
      numLetters(withW ? problem.numLetters() : 2 * problem.chunks) {
  unsigned base = problem.letter(LetterI, problem.chunks - 1);
  Lister lister(problem, rank, base, numLetters);
  listed = lister.run(maxTuples);
  if (!listed)
    return;
  // Every letter except the base letter raises the sum of the offsets.
  numListed = lister.size();
  std::vector<int> sums(numListed);
  for (uint32_t i = 0; i != numListed; ++i)
    sums[i] = std::accumulate(lister.at(i).begin(), lister.at(i).end(), 0);
  std::vector<uint32_t> order(numListed), place(numListed);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(sums[a], a) < std::pair(sums[b], b);
  });
  for (uint32_t i = 0; i != numListed; ++i)
    place[order[i]] = i;
  startTuple = place[0];
  Tuple tuple;
  for (uint32_t i = 0; i != numListed; ++i) {
    begins.push_back(all.size());
    ArrayRef<int16_t> from = lister.at(order[i]);
    allOffsets.insert(allOffsets.end(), from.begin(), from.end());
    for (unsigned letter = 0; letter != numLetters; ++letter) {
      tuple.assign(from.begin(), from.end());
      if (!lister.step(tuple, letter))
        continue;
      uint32_t next = place[lister.number(tuple)];
      all.push_back({letter == base ? next + numListed : next,
                     int32_t(letter * stride()) + from[letter]});
    }
  }
  begins.push_back(all.size());
}

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
