//===- Steady.h - Blocks of the least period --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steady state of long runs: a block of letters per rank, repeated without
// end. Its period is the largest ratio, over the cycles of waiting steps, of
// the time around the cycle and the blocks that it spans. A search over blocks
// minimises the period alone, without ramps; words for any number of
// micro-batches follow from a block.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Decoder.h"
#include "Search/Random.h"

namespace pipec::search {

/// A block for each rank, with `batch` micro-batches of each letter.
struct SteadyBlock {
  struct Entry {
    uint8_t letter;
    /// The micro-batch in the block of number 0; the next one has `batch` more.
    int32_t microbatch;
  };
  uint32_t batch = 0;
  std::vector<std::vector<Entry>> ranks;
  /// The time of one block, in sixteenths of a tick.
  Ticks period = 0;
};

/// The words that repeat a block, without steps of micro-batches that do not
/// exist.
Words wordsOfBlock(const Problem &problem, const SteadyBlock &block);

/// The same steady state, with a block of several.
SteadyBlock repeated(const SteadyBlock &block, uint32_t times);

/// Looks for the block of the least period with a given number of
/// micro-batches.
class SteadySearch {
public:
  SteadySearch(const Problem &problem, uint32_t batch, uint64_t seed);

  /// Takes the block as a start if it is valid and the best so far.
  void offer(SteadyBlock block);
  /// Offers blocks of words: the next micro-batches of all letters from some
  /// time on.
  void offerFrom(const Words &words, Budget &budget);
  /// Moves letters of the best block, and accepts blocks whose period exceeds
  /// the least one by less and less.
  void run(Budget &budget);

  /// Without ranks if no valid block was offered.
  const SteadyBlock &best() const { return bestBlock; }

private:
  using Entry = SteadyBlock::Entry;
  static constexpr Ticks parts = 16;
  /// A letter of the block; its start in block 0 is `starts`.
  uint32_t node(unsigned rank, Entry entry) const;
  /// The block of a micro-batch.
  int32_t round(int32_t microbatch) const;
  bool fits(unsigned rank) const;
  void load(const SteadyBlock &block);
  bool raise(uint32_t node, Ticks start, uint32_t from);
  bool raiseNext(unsigned rank, uint32_t place);
  bool settle();
  bool settleAll();
  bool tryPeriod(Ticks period);
  Ticks leastPeriod(Ticks most);
  bool isCritical(unsigned rank, uint32_t place, uint32_t count) const;
  bool tryMove(bool &mayShorten);

  const Problem &problem;
  uint32_t batch;
  uint32_t length;
  Random random;
  SteadyBlock block;
  SteadyBlock bestBlock;
  Ticks period = 0;
  /// By node: its place in the block of its rank, its start, the node that it
  /// waits for, and in which trial both have changed, and how often.
  std::vector<uint32_t> places;
  std::vector<Ticks> starts;
  std::vector<uint32_t> parents;
  std::vector<uint32_t> trials;
  std::vector<uint8_t> changes;
  uint32_t trial = 0;
  /// During a move: the node whose new successor is settled, and by node the
  /// last trial in which its new successor still has to be.
  static constexpr uint32_t none = ~uint32_t(0);
  uint32_t newest = none;
  std::vector<uint32_t> later;
  /// By node: it is on a cycle that allows no smaller period.
  std::vector<char> critical;
  std::vector<uint32_t> queue;
  std::vector<std::pair<uint32_t, Ticks>> log;
  uint64_t work = 0;
};

/// The best words that repeat a block of few micro-batches: from the blocks of
/// `starts`, words of the problem, within the budget. Without words if the run
/// is too short for blocks.
Found searchSteady(const Problem &problem, const std::vector<Words> &starts,
                   uint64_t seed, Budget &budget);

} // namespace pipec::search
