//===- MixedTiming.h - The times of mixed words -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Search/Mixed.h"

namespace pipec::search {

/// Words with their times.
class MixedTiming {
public:
  explicit MixedTiming(const MixedProblem &problem)
      : problem(problem), base(problem.base()), words(base.ranks),
        ids(base.ranks), ends(base.ranks), tails(base.ranks),
        stepEnds(base.numSteps()), stepTails(base.numSteps()),
        newEnds(base.ranks), newStepEnds(base.numSteps()),
        stamps(base.numSteps()), firsts(base.ranks) {}

  /// A changed part of the word of a rank: the letters from `begin` to `oldEnd`
  /// become those of the new word from `begin` to `newEnd`.
  struct Change {
    unsigned rank;
    uint32_t begin, oldEnd, newEnd;
  };

  /// Adopts words; false if they cannot run.
  bool load(const Words &given);
  /// Numbers the steps of a word, which is that of a rank if it can run within
  /// its cap.
  bool number(unsigned rank, const Word &word,
              std::vector<uint32_t> &steps) const;
  /// False if the longest path through the changed part exceeds `limit`, with
  /// the current times of the other ranks.
  bool isPromising(const Change &change, Ticks limit);
  /// Finds the times of the words with the changed part, and returns false if
  /// they exceed `limit` or deadlock.
  bool tryChange(const Change &change, Ticks limit);
  /// Adopts the times that `tryChange` found.
  void keep(const Change &change);
  void findTails();

  const MixedProblem &problem;
  const Problem &base;
  Words words;
  /// By rank and place: the number of each step in the split problem, its end,
  /// and its tail. The I of a micro-batch stands for its B, too.
  std::vector<std::vector<uint32_t>> ids;
  std::vector<std::vector<Ticks>> ends, tails;
  /// The ends and tails of F, I and B by their numbers.
  std::vector<Ticks> stepEnds, stepTails;
  Ticks makespan = 0, sum = 0;
  Ticks newMakespan = 0, newSum = 0;
  /// The changed word and its steps.
  Word word;
  std::vector<uint32_t> steps;
  uint64_t work = 0;

private:
  bool isW(uint8_t letter) const { return letter / problem.chunks() == MixedW; }
  const Letter &edgesOf(unsigned rank, uint8_t letter) const {
    return base.info(rank, problem.like(letter));
  }
  uint32_t microbatchOf(unsigned rank, uint8_t letter, uint32_t step) const {
    return step - base.base(rank, problem.like(letter));
  }
  bool run(const Change *change, Ticks limit);
  bool runRank(unsigned rank, const Change *change, Ticks limit);

  /// Those of a change that is tried, from the first place of each rank on.
  std::vector<std::vector<Ticks>> newEnds;
  std::vector<Ticks> newStepEnds;
  std::vector<uint32_t> stamps;
  uint32_t stamp = 0;
  std::vector<uint32_t> firsts, places;
  /// Steps that end before this do not change.
  Ticks unchanged = 0;
  std::vector<Ticks> partEnds, partTails;
};

} // namespace pipec::search
