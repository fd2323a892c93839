//===- Problem.h - The search problem in integers ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scheduling problem for pipelines. docs/Rationale/Bounds.md has the lemmas.
//
// Components: stages, the edges between them, a map from stages to ranks on
// which each rank has the same number of chunks, micro-batches, and kinds of
// steps: F and the whole backward, which is called I, or F, I and W. All times
// and sizes are integers.
//
// Words: all micro-batches have the same costs, so some optimal schedule runs
// each kind of step of each stage in the order of the micro-batches (lemma 1).
// A schedule is then one word per rank. A letter is a kind and a chunk of the
// rank, and its n-th occurrence is micro-batch n.
//
// Constraints: a step starts after its predecessors on its rank
// (`Problem::before`), after its sources on other ranks plus their hops
// (`Problem::sources`), and after the previous letter of its word. F allocates
// memory, I and W free it, and a rank never exceeds its cap.
//
// A solution is one word per rank, such that `Problem::isValid` (each letter
// once per micro-batch, predecessors first, within the cap) and `Timing::run`
// succeeds (the words do not deadlock). The objective is the makespan that
// `Timing::run` returns. A rank that stays in states for which
// `Problem::isSafe` holds can always finish its word.
//
//===----------------------------------------------------------------------===//

#pragma once

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

/// Durations and memory of one stage.
struct StageFigures {
  /// Durations by `LetterKind`.
  Ticks time[3] = {};
  /// The sizes that I and W free when they end; F allocates both when it
  /// starts. An I that allocates memory for its W has a negative size.
  Ticks givenByI = 0;
  Ticks givenByW = 0;
  /// The size that a step of each kind holds only while it runs.
  Ticks during[3] = {};

  Ticks taken() const { return givenByI + givenByW; }
  /// The largest size that a micro-batch holds between steps.
  Ticks mostHeld() const { return std::max(taken(), givenByW); }
};

/// The F of `to`, a later stage, uses the result of the F of `from`, and the I
/// of `from` uses the result of the I of `to`.
struct Edge {
  uint32_t from;
  uint32_t to;
  /// From the end of F (I) of one stage until the other can start; 0 within a
  /// rank.
  Ticks hopF = 0;
  Ticks hopI = 0;
};

/// A letter of another rank that produces or uses a result.
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
  /// The sizes that the start allocates and the end frees.
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
  /// Later than every time of a run.
  static constexpr Ticks never = maxTicks * 4096;
  static constexpr uint32_t maxSteps = 1u << 22;

  unsigned ranks = 0;
  unsigned chunks = 0;
  unsigned microbatches = 0;
  /// Backwards are split into I and W.
  bool split = true;
  /// The rank of each stage.
  std::vector<uint32_t> map;
  std::vector<StageFigures> stages;
  /// In ascending order of `from`, then of `to`. Every stage has a path to the
  /// last one, or to the last one of its direction.
  std::vector<Edge> edges;
  /// The memory of each rank.
  std::vector<Ticks> caps;

  /// Computes the tables below. Must be called after each change of the above.
  void finish();

  unsigned numStages() const { return map.size(); }
  /// True if each stage feeds the next stage only.
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
  /// The letters of other ranks whose results a letter uses.
  std::span<const Transfer> sources(const Letter &letter) const {
    return {sourceTable.data() + letter.sources.begin,
            sourceTable.data() + letter.sources.end};
  }
  /// The letters of other ranks that use its result.
  std::span<const Transfer> users(const Letter &letter) const {
    return {userTable.data() + letter.users.begin,
            userTable.data() + letter.users.end};
  }
  /// The letters of the same rank whose n-th occurrences precede its own,
  /// without indirect predecessors.
  std::span<const uint8_t> before(const Letter &letter) const {
    return {beforeTable.data() + letter.before.begin,
            beforeTable.data() + letter.before.end};
  }
  /// True if nothing precedes the letter.
  bool isFirst(const Letter &letter) const {
    return sources(letter).empty() && before(letter).empty();
  }
  /// The number of the first step of a letter; the step of micro-batch n is n
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

  /// True if other letters than F allocate memory, or an F holds more while it
  /// runs than after it.
  bool hasMoreTakers() const { return moreTakers; }
  /// False if no run can finish in which `rank` has started the F of
  /// `started[chunk]` micro-batches (lemma 2).
  bool canFollow(unsigned rank, const uint32_t *started) const;
  /// True if a rank with these counts and `held` memory can run `letter` next
  /// and then finish its word. Without more takers, the answer is exact, and I
  /// and W are always safe.
  bool isSafe(unsigned rank, uint32_t *counts, Ticks held,
              unsigned letter) const;
  /// The memory that a rank needs for one micro-batch in one order of its
  /// chunks, in the direction that needs most. This is the least of all orders
  /// if `roomForOneIsLeast`.
  Ticks roomForOne(unsigned rank) const;
  bool roomForOneIsLeast() const {
    return !moreTakers || chunks == 1 || isChain();
  }
  /// The first rank that cannot hold one micro-batch; `ranks` if all can.
  unsigned firstWithoutRoom() const;

  /// True if each word has each letter once per micro-batch, in an order that
  /// its rank can run within its cap. `Timing` checks for deadlocks.
  bool isValid(const Words &words) const;
  /// The peak memory of the word of a rank.
  Ticks peak(unsigned rank, const Word &word) const;

private:
  void findBefore(unsigned rank, bool isChain);
  void findTransfers();
  /// True if the F of the chunk `other` precedes the I of `chunk`.
  bool areTogether(unsigned rank, unsigned chunk, unsigned other) const {
    return together[rank * chunks + chunk] >> other & 1;
  }
  bool canFinish(unsigned rank, uint32_t *counts, Ticks held, Ticks cap) const;

  std::vector<uint32_t> stageTable;
  std::vector<uint32_t> chunkTable;
  std::vector<Letter> letters;
  /// By rank and chunk, the bits of the chunks whose F precedes its I.
  std::vector<uint32_t> together;
  bool moreTakers = false;
  /// By rank: an upper bound of the memory that an unfinished micro-batch can
  /// still allocate.
  std::vector<Ticks> extras;
  std::vector<Transfer> sourceTable, userTable;
  std::vector<uint8_t> beforeTable;
};

} // namespace pipec::search
