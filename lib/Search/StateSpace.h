//===- StateSpace.h - The states of one rank --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A state of a rank is how often each letter has run. The states that the order
// of a micro-batch, the cap and lemma 2 allow are few when memory is tight, and
// they repeat: a state is the count of one letter, the base, and how far the
// others are from it, the lags. The lags that can occur are listed once.
//
// States without W have the counts of F and I only and are far fewer; each I
// then also frees the memory that its W frees.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Problem.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>

namespace pipec::search {

class StateSpace {
public:
  /// The largest number of states of a rank that are listed.
  static constexpr uint64_t maxStates = 2'500'000;

  /// With all letters of the rank, or with F and I alone.
  StateSpace(const Problem &problem, unsigned rank, bool withW);

  /// False when there are too many states.
  bool isListed() const { return listed; }
  bool hasW() const { return withW; }
  uint32_t numTuples() const { return numListed; }
  uint64_t numStates() const {
    return uint64_t(numListed) * (microbatches + 1);
  }
  /// The tuple of the first and the last state: all offsets are 0.
  uint32_t start() const { return startTuple; }
  /// The offsets of the letters of a tuple: how often they have run beyond the
  /// base.
  llvm::ArrayRef<int16_t> offsets(uint32_t tuple) const {
    return llvm::ArrayRef(allOffsets)
        .slice(size_t(tuple) * numLetters, numLetters);
  }

  /// A step that the rank can run in a state.
  struct Transition {
    /// The tuple of the next state: of this base, or, with `numTuples` added,
    /// of the next one. The order of tuples is such that it is later.
    uint32_t next;
    /// The letter times `stride`, plus how often it has run without the base.
    int32_t place;
  };
  /// More than the count of any letter can reach above the base.
  uint32_t stride() const { return 2 * microbatches + 1; }
  llvm::ArrayRef<Transition> transitions(uint32_t tuple) const {
    return llvm::ArrayRef(all).slice(begins[tuple],
                                     begins[tuple + 1] - begins[tuple]);
  }

private:
  unsigned microbatches;
  bool withW;
  unsigned numLetters;
  bool listed = true;
  uint32_t numListed = 0;
  uint32_t startTuple = 0;
  std::vector<int16_t> allOffsets;
  std::vector<uint32_t> begins;
  std::vector<Transition> all;
};

} // namespace pipec::search
