//===- Periodic.h - Words whose middle repeats ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block that has each letter equally often can be repeated any number of
// times: memory and the order of letters depend on differences of counts, which
// the block does not change. Words for few micro-batches so become words for
// many, which are also short to write: a ramp, a repeated block, a ramp.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Search.h"

#include <optional>

namespace pipec::search {

/// Words in which each rank runs a block of letters several times in a row.
struct Periodic {
  Found found;
  /// Where the first block of each rank begins.
  std::vector<uint32_t> begins;
  /// A block has each letter this often.
  uint32_t batch = 0;
  uint32_t copies = 0;

  /// The micro-batches of one block and of the ramps.
  uint32_t written(const Problem &problem) const {
    return problem.microbatches - (copies - 1) * batch;
  }
};

/// The same problem with another number of micro-batches.
Problem withMicrobatches(const Problem &problem, uint32_t microbatches);

/// Makes periodic words of others, and keeps the best.
class PeriodFinder {
public:
  explicit PeriodFinder(const Problem &problem)
      : problem(problem), timing(problem) {}

  /// Words for fewer micro-batches, repeating one of their blocks.
  void grow(const Problem &small, const Words &words, Budget &budget);
  /// Words for `problem` that repeat already.
  void take(const Words &words, Budget &budget);

  /// The words with the least makespan; of several, those with the fewest
  /// letters to write.
  const std::optional<Periodic> &best() const { return found; }

private:
  template <typename Visitor>
  void forCuts(const Problem &of, const Words &words, uint32_t batch,
               Visitor visit);
  void offer(Periodic made);

  const Problem &problem;
  Timing timing;
  std::optional<Periodic> found;
};

/// Searches periodic words: from `best` and `starts`, words of `problem`, and
/// from searches with fewer micro-batches. Ends at a makespan of `bound`.
/// Returns nothing if none are found, such as with one micro-batch.
std::optional<Periodic> searchPeriodic(const Problem &problem,
                                       const Found &best,
                                       const std::vector<Words> &starts,
                                       Ticks bound,
                                       const SearchOptions &options);

} // namespace pipec::search
