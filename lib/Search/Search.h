//===- Search.h - The best schedule, and how good it can be -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes blocks, raises the lower bound and anneals words, in rounds, until
// the two meet or the effort is spent. The effort goes to up to eight runs with
// seeds of their own, on any number of threads, so that the result depends on
// the problem, the seed and the effort alone.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Budget.h"
#include "Search/Decoder.h"
#include "Search/Prover.h"

#include <functional>

namespace pipec::search {

struct SearchOptions {
  /// In units of work.
  uint64_t work = 10 * workPerEffort;
  uint64_t seed = 1;
  unsigned threads = 1;
  /// Ends when the makespan is at most this many millionths above the bound.
  uint64_t within = 0;
  /// Proves by cases as well, with as much work again. Without it this is done
  /// for short words only.
  bool prove = false;
  /// Ends at a makespan of at most this.
  Ticks goal = 0;
  /// Ends when the bound is at least this.
  Ticks uselessBound = Problem::maxTicks;
  /// Set by another thread to end the search; may be null.
  const std::atomic<bool> *stop = nullptr;
  /// Called with the best results so far, by the thread that called `search`.
  std::function<void(Ticks makespan, Ticks bound, const char *phase)> progress;
};

/// The argument that a bound follows from.
enum class BoundSource { Paths, Rank, Windows, Cases, Charges };
inline const char *nameOf(BoundSource source) {
  static constexpr const char *names[] = {"paths", "rank", "windows", "cases",
                                          "charges"};
  return names[unsigned(source)];
}

struct SearchResult {
  Found best;
  Ticks bound = 0;
  BoundSource source = BoundSource::Paths;
  /// The proof of a bound by cases or charges.
  std::optional<Refutation> proof;
  /// `stop` was set before the search ended.
  bool stopped = false;
  /// The shares of the phases that ran, in units of work.
  uint64_t spent = 0;

  bool isOptimal() const { return best.makespan == bound; }
};

/// The initial bound of a search.
Ticks simpleBound(const Problem &problem);

/// Searches `problem`, in which every rank can hold one micro-batch. `starts`
/// are valid words that can run; the result is at least as good as each of
/// them.
SearchResult search(const Problem &problem, const std::vector<Words> &starts,
                    const SearchOptions &options);

} // namespace pipec::search
