//===- StateSpace.h - What one rank can have done ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state of a rank is how often each letter has run. The states that the order
// of a micro-batch, the cap and lemma 2 allow are few when memory is tight, and
// they repeat: a state is the count of one letter, the base, and how far the
// others are from it, the lags. The lags that can occur are listed once.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_STATESPACE_H
#define PIPEC_SEARCH_STATESPACE_H

#include "Search/Problem.h"

#include <cstddef>

namespace pipec::search {

class StateSpace {
public:
  /// More states than this of one rank are not looked at.
  static constexpr uint64_t maxStates = 2'500'000;
  static constexpr uint32_t none = ~0u;

  StateSpace(const Problem &problem, unsigned rank);

  /// False when there are too many states.
  bool isListed() const { return listed; }
  uint32_t numTuples() const { return numListed; }
  uint64_t numStates() const {
    return uint64_t(numListed) * (microbatches + 1);
  }
  /// The letter that the base counts: the I of the last chunk, which moves to
  /// the next base.
  unsigned baseLetter() const { return base; }
  /// The tuple whose offsets are all 0: that of the first state and of the
  /// last.
  uint32_t start() const { return startTuple; }
  /// The tuple after `letter` ran, of this base or for `baseLetter` of the next
  /// one; `none` when the rank cannot run it. The order of tuples is such that
  /// it is later, within a base.
  uint32_t next(uint32_t tuple, unsigned letter) const {
    return nexts[size_t(tuple) * letters + letter];
  }
  /// How often `letter` has run in a state, without the base.
  int offset(uint32_t tuple, unsigned letter) const {
    return offsets[size_t(tuple) * letters + letter];
  }

private:
  unsigned letters;
  unsigned microbatches;
  unsigned base;
  bool listed = true;
  uint32_t numListed = 0;
  uint32_t startTuple = 0;
  std::vector<uint32_t> nexts;
  std::vector<int16_t> offsets;
};

} // namespace pipec::search

#endif // PIPEC_SEARCH_STATESPACE_H
