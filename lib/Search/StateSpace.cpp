//===- StateSpace.cpp - The states of one rank ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/StateSpace.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <bit>
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

StateSpace::StateSpace(const Problem &problem, unsigned rank, bool withW)
    : microbatches(problem.microbatches), withW(withW),
      numLetters(withW ? problem.numLetters() : 2 * problem.chunks) {
  unsigned base = problem.letter(LetterI, problem.chunks - 1);
  Lister lister(problem, rank, base, numLetters);
  listed = lister.run(maxStates / (microbatches + 1));
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

} // namespace pipec::search
