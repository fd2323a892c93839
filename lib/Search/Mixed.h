//===- Mixed.h - Words with split and whole backwards -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule may run some backwards as I and W and others as B: B where memory
// is short, or where nothing would fill the time between I and W; I and W where
// another rank waits for the gradient. All micro-batches have the same costs,
// so lemma 1 holds here, too: the n-th backward of a chunk, whether I or B, is
// that of micro-batch n, and the n-th W belongs to the n-th I. A schedule is a
// word per rank over the letters F, I, W and B of its chunks.
//
// The search anneals these words. A neighbour moves a letter, splits a B, or
// joins an I and its W.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Budget.h"
#include "Search/Decoder.h"
#include "Search/Model.h"

#include <optional>

namespace pipec::search {

/// The letters of `Problem` for split backwards, and a whole backward.
enum MixedKind : uint8_t { MixedF, MixedI, MixedW, MixedB };

class MixedProblem {
public:
  /// The problem of two models of one header, with split and with whole
  /// backwards, which must outlive it. Empty if their units of time or memory
  /// have no common one within the limits.
  static std::optional<MixedProblem> make(const Model &split,
                                          const Model &whole);

  struct Letter {
    Ticks time = 0;
    /// The sizes that the start allocates and the end frees.
    Ticks taken = 0, given = 0;
  };
  unsigned chunks() const { return base().chunks; }
  unsigned numLetters() const { return 4 * chunks(); }
  const Letter &info(unsigned rank, unsigned letter) const {
    return letters[rank * numLetters() + letter];
  }
  /// The memory of a rank.
  Ticks cap(unsigned rank) const { return caps[rank]; }
  /// The letter for which the split problem has the order, the edges and the
  /// numbers of steps: I for B.
  uint8_t like(uint8_t letter) const {
    return letter < 3 * chunks() ? letter : letter - 2 * chunks();
  }
  Ticks hop(Ticks ticks) const { return ticks * splitFactor; }
  const Problem &base() const { return split->problem; }
  const Model &model() const { return *split; }
  /// A time in ticks of this problem.
  Rational time(Ticks ticks) const;
  Ticks ticksNotBelow(Rational time) const;

  /// The words of words with one form of the backward.
  Words fromSplit(const Words &words) const { return words; }
  Words fromWhole(const Words &words) const;
  /// The words of a verified schedule without overlaps; empty if it does not
  /// have the shape of the models.
  std::optional<Words> wordsOf(const Schedule &schedule) const;
  Schedule makeSchedule(const Words &words) const;

private:
  const Model *split = nullptr;
  const Model *whole = nullptr;
  /// A tick of the split model in ticks of this problem.
  Ticks splitFactor = 1;
  std::vector<Letter> letters;
  std::vector<Ticks> caps;
};

/// Searches for words with the least makespan, from the best of `starts` on,
/// until the budget is spent or the makespan is at most `bound`. Starts that
/// cannot run are left out; the words are empty if all are.
Found searchMixed(const MixedProblem &problem, const std::vector<Words> &starts,
                  uint64_t seed, Ticks bound, Budget &budget);

} // namespace pipec::search
