//===- Shards.h - Stages sharded over copies of the pipeline -----*- C++
//-*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fully sharded data parallelism, done with threads: `size` copies of the whole
// pipeline work on different micro-batches, and each keeps one segment of the
// parameters of every stage. UNSHARD gathers the segments of the others,
// RESHARD gives them up again (they become NaN, so that a use of them shows),
// and REDUCE_GRAD sums the gradient of the own segment over all copies.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXAMPLES_TRAIN_SHARDS_H
#define PIPEC_EXAMPLES_TRAIN_SHARDS_H

#include "Network.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

namespace train {

/// What the copies of one rank share. Every stage has one entry a copy.
class ShardGroup {
public:
  ShardGroup(int size, int stages)
      : size(size), members(std::size_t(size) * std::size_t(stages)) {}

  /// A segment of a stage's parameters: one of `size` parts of nearly the same
  /// length.
  struct Range {
    std::size_t begin, end;
  };
  Range rangeOf(int copy, std::size_t parameters) const {
    return {parameters * std::size_t(copy) / std::size_t(size),
            parameters * std::size_t(copy + 1) / std::size_t(size)};
  }

  void join(int copy, int stage, Stage &member) {
    at(copy, stage).member = &member;
  }

  /// Copies the segments of all others. They do not change during a run.
  void gather(int copy, int stage) {
    Values &own = at(copy, stage).member->parameters();
    for (int other = 0; other != size; ++other) {
      if (other == copy)
        continue;
      const Values &theirs = at(other, stage).member->parameters();
      Range range = rangeOf(other, own.size());
      std::copy(theirs.begin() + std::ptrdiff_t(range.begin),
                theirs.begin() + std::ptrdiff_t(range.end),
                own.begin() + std::ptrdiff_t(range.begin));
    }
  }

  /// Gives up all segments but the own one.
  void drop(int copy, int stage) {
    Values &own = at(copy, stage).member->parameters();
    Range range = rangeOf(copy, own.size());
    for (std::size_t i = 0; i != own.size(); ++i)
      if (i < range.begin || i >= range.end)
        own[i] = std::numeric_limits<double>::quiet_NaN();
  }

  /// Waits until all copies have the gradient of this step, and sums the own
  /// segment, or all of a stage that is not sharded. Other copies may still
  /// read this one's gradient, so the sum goes to a place of its own until
  /// `finishStep`.
  void reduce(int copy, int stage, int step, bool sharded) {
    at(copy, stage).ready.store(step, std::memory_order_release);
    auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (int other = 0; other != size; ++other)
      while (at(other, stage).ready.load(std::memory_order_acquire) < step) {
        if (std::chrono::steady_clock::now() > deadline)
          throw std::runtime_error("another copy of the pipeline does not "
                                   "come to its REDUCE_GRAD");
        std::this_thread::yield();
      }
    Member &own = at(copy, stage);
    std::size_t all = own.member->gradients().size();
    Range range = sharded ? rangeOf(copy, all) : Range{0, all};
    own.sum.assign(all, 0);
    for (std::size_t i = range.begin; i != range.end; ++i)
      for (int other = 0; other != size; ++other)
        own.sum[i] += at(other, stage).member->gradients()[i];
  }

  /// When all copies have ended their runs: the sums become the gradients.
  void finishStep(int copy, int stage) {
    Member &own = at(copy, stage);
    if (!own.sum.empty())
      own.member->gradients().swap(own.sum);
    own.sum.clear();
  }

private:
  struct Member {
    Stage *member = nullptr;
    std::atomic<int> ready{0};
    Values sum;
  };
  Member &at(int copy, int stage) {
    return members[std::size_t(stage * size + copy)];
  }

  int size;
  std::vector<Member> members;
};

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_SHARDS_H
