//===- Problem.h - What is searched, in whole numbers -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A problem is a split of the model into stages, the edges between them, a map
// from stages to ranks, a number of micro-batches, and whole numbers for times
// and sizes. Every rank has the same number of chunks.
//
// All micro-batches cost the same, so some optimal schedule runs each kind of
// step of each stage in the order of the micro-batches
// (docs/Rationale/Bounds.md, lemma 1). A schedule is then one word per rank: a
// letter is a kind and a chunk, and its n-th occurrence is micro-batch n.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_PROBLEM_H
#define PIPEC_SEARCH_PROBLEM_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace pipec::search {

/// A time or a size.
using Ticks = int64_t;

/// The kinds of letters. Without a split of the backward, `I` is the whole
/// backward and there is no `W`.
enum LetterKind : uint8_t { LetterF, LetterI, LetterW };

/// The word of each rank.
using Word = std::vector<uint8_t>;
using Words = std::vector<Word>;

/// What one stage takes.
struct StageFigures {
  /// Durations by `LetterKind`.
  Ticks time[3] = {};
  /// What I and W give back when they end; F takes both when it starts. An I
  /// that takes memory for its W gives back a negative size.
  Ticks givenByI = 0;
  Ticks givenByW = 0;
  /// What each kind takes when it starts and gives back when it ends.
  Ticks during[3] = {};

  Ticks taken() const { return givenByI + givenByW; }
  /// The most that a micro-batch holds between steps.
  Ticks mostHeld() const { return std::max(taken(), givenByW); }
};

/// The F of `to`, a later stage, takes the result of the F of `from`, and the I
/// of `from` that of the I of `to`.
struct Edge {
  uint32_t from;
  uint32_t to;
  /// From the end of F (I) of one stage until the other can start; 0 within a
  /// rank.
  Ticks hopF = 0;
  Ticks hopI = 0;
};

/// A letter of another rank that makes or takes a result.
struct Transfer {
  uint32_t rank;
  /// `Problem::base` of the letter.
  uint32_t base;
  Ticks hop;
};

/// One letter of one rank. `Problem` has its transfers.
struct Letter {
  LetterKind kind;
  uint8_t chunk;
  uint32_t stage;
  Ticks time;
  /// What the start takes and the end gives back.
  Ticks taken;
  Ticks given;
  /// The places of its sources, users and preceding letters in the tables of
  /// the problem.
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  Range sources, users, before;
};

/// The placement `loop` or `v` of `chunks` chunks on each of `ranks` ranks.
std::vector<uint32_t> placementMap(bool isV, unsigned ranks, unsigned chunks);

class Problem {
public:
  /// The largest number of letters of a rank.
  static constexpr unsigned maxLetters = 96;
  /// The largest sum of all times, and the largest size: sums of costs in the
  /// search cannot overflow.
  static constexpr Ticks maxTicks = Ticks(1) << 40;
  static constexpr uint32_t maxSteps = 1u << 22;

  unsigned ranks = 0;
  unsigned chunks = 0;
  unsigned microbatches = 0;
  /// Backwards are split into I and W.
  bool split = true;
  /// The rank of each stage.
  std::vector<uint32_t> map;
  std::vector<StageFigures> stages;
  /// In ascending order of `from`, then of `to`; from every stage there is a
  /// way to the last one.
  std::vector<Edge> edges;
  /// What each rank has room for.
  std::vector<Ticks> caps;

  /// Fills in what follows from the above, after each change of it.
  void finish();

  unsigned numStages() const { return map.size(); }
  /// True if each stage feeds the next one, and no other.
  bool isChain() const;
  unsigned numKinds() const { return split ? 3 : 2; }
  /// Letters of a rank: `kind * chunks + chunk`.
  unsigned numLetters() const { return numKinds() * chunks; }
  unsigned letter(LetterKind kind, unsigned chunk) const {
    return kind * chunks + chunk;
  }
  /// Length of every word.
  uint32_t wordLength() const { return numLetters() * microbatches; }
  uint32_t numSteps() const { return ranks * wordLength(); }
  unsigned stageOf(unsigned rank, unsigned chunk) const {
    return stageTable[rank * chunks + chunk];
  }
  const Letter &info(unsigned rank, unsigned letter) const {
    return letters[rank * numLetters() + letter];
  }
  /// The letters of other ranks whose results a letter takes.
  std::span<const Transfer> sources(const Letter &letter) const {
    return {sourceTable.data() + letter.sources.begin,
            sourceTable.data() + letter.sources.end};
  }
  /// Those that take its result.
  std::span<const Transfer> users(const Letter &letter) const {
    return {userTable.data() + letter.users.begin,
            userTable.data() + letter.users.end};
  }
  /// The letters of the same rank whose n-th occurrences precede that of this
  /// one, without those that precede one of these.
  std::span<const uint8_t> before(const Letter &letter) const {
    return {beforeTable.data() + letter.before.begin,
            beforeTable.data() + letter.before.end};
  }
  /// True if nothing precedes the letter.
  bool isFirst(const Letter &letter) const {
    return sources(letter).empty() && before(letter).empty();
  }
  /// The number of the first step of a letter; that of micro-batch n is n
  /// higher.
  uint32_t base(unsigned rank, unsigned letter) const {
    return (rank * numLetters() + letter) * microbatches;
  }
  /// The number of a step by its stage.
  uint32_t step(LetterKind kind, unsigned stage, unsigned microbatch) const {
    return base(map[stage], letter(kind, chunkTable[stage])) + microbatch;
  }
  /// The chunk of a stage on its rank.
  unsigned chunkOf(unsigned stage) const { return chunkTable[stage]; }
  /// The letter and the duration of a step by its number.
  const Letter &infoOf(uint32_t step) const {
    return letters[step / microbatches];
  }

  /// The work of a rank.
  Ticks work(unsigned rank) const;
  /// The largest of all ranks.
  Ticks maxWork() const;

  /// False when no letter takes memory but F, and nothing is given back but by
  /// I and W.
  bool hasMoreTakers() const { return moreTakers; }
  /// False when no run can be finished whose `rank` has started the F of
  /// `started[chunk]` micro-batches (lemma 2).
  bool canFollow(unsigned rank, const uint32_t *started) const;
  /// True when a rank that has run each letter so often, and holds `held`, can
  /// run `letter` next and then the rest of its word. Only without more takers
  /// it is false for nothing but this; I and W can then always run.
  bool isSafe(unsigned rank, uint32_t *counts, Ticks held,
              unsigned letter) const;
  /// What a rank needs for one micro-batch, in one order of its chunks; the
  /// least of all orders where they are a chain, or nothing but F takes memory.
  Ticks roomForOne(unsigned rank) const;
  bool roomForOneIsLeast() const {
    return !moreTakers || chunks == 1 || isChain();
  }
  /// The first rank that has no room for one micro-batch; `ranks` when all
  /// have.
  unsigned firstWithoutRoom() const;

  /// True when each word has each letter once per micro-batch, in an order that
  /// its rank can run within its cap. Whether the words together can run is up
  /// to `Timing`.
  bool isValid(const Words &words) const;
  /// The most that the word of a rank holds.
  Ticks peak(unsigned rank, const Word &word) const;

private:
  void findBefore(unsigned rank, bool isChain);
  void findTransfers();
  bool canFinish(unsigned rank, uint32_t *counts, Ticks held, Ticks cap) const;

  std::vector<uint32_t> stageTable;
  std::vector<uint32_t> chunkTable;
  std::vector<Letter> letters;
  bool moreTakers = false;
  /// By rank: a bound of what a micro-batch that is not finished can take
  /// beyond what it holds.
  std::vector<Ticks> extras;
  std::vector<Transfer> sourceTable, userTable;
  std::vector<uint8_t> beforeTable;
};

} // namespace pipec::search

#endif // PIPEC_SEARCH_PROBLEM_H
