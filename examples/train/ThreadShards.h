//===- ThreadShards.h - Copies that share memory ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_EXAMPLES_TRAIN_THREADSHARDS_H
#define PIPEC_EXAMPLES_TRAIN_THREADSHARDS_H

#include "Model.h"

#include <pipec/runtime/Errors.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace train {

/// What the copies of one rank show each other: of each member and stage where
/// the parameters and gradients are.
class ShardBoard {
public:
  ShardBoard(int size, int stages)
      : size(size), entries(std::size_t(size) * std::size_t(stages)) {}

  /// A copy failed: the others stop waiting for it.
  void close() { closed.store(true); }

private:
  friend class ThreadShards;

  struct Entry {
    const Values *parameters = nullptr;
    const Values *gradients = nullptr;
    /// How many REDUCE_GRAD have been reached.
    std::atomic<int> ready{0};
  };
  Entry &at(int member, int stage) {
    return entries[std::size_t(stage * size + member)];
  }

  int size;
  std::vector<Entry> entries;
  std::atomic<bool> closed{false};
};

class ThreadShards : public Shards {
public:
  /// Shows the stages of `model` to the others.
  ThreadShards(ShardBoard &board, int member, Model &model,
               const std::vector<int> &stages)
      : Shards(member, board.size), board(board) {
    for (int stage : stages) {
      board.at(member, stage).parameters = &model.parameters(stage);
      board.at(member, stage).gradients = &model.gradients(stage);
    }
  }

  /// Parameters do not change during a run, so there is nothing to wait for.
  void gather(int stage, Values &parameters) override {
    for (int other = 0; other != members; ++other) {
      if (other == own)
        continue;
      const Values &theirs = *board.at(other, stage).parameters;
      Range range = rangeOf(other, parameters.size());
      std::copy(theirs.begin() + std::ptrdiff_t(range.begin),
                theirs.begin() + std::ptrdiff_t(range.end),
                parameters.begin() + std::ptrdiff_t(range.begin));
    }
  }

  void startReduce(int stage, const Values &, bool, Values &) override {
    board.at(own, stage).ready.fetch_add(1);
  }
  void finishReduce(int stage, const Values &gradients, bool sharded,
                    Values &sum) override {
    int round = board.at(own, stage).ready.load();
    auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (int other = 0; other != members; ++other)
      while (board.at(other, stage).ready.load() < round) {
        if (board.closed.load())
          throw pipec::runtime::StoppedError(
              "another copy of the pipeline failed");
        if (std::chrono::steady_clock::now() > deadline)
          throw std::runtime_error("another copy of the pipeline does not "
                                   "come to its REDUCE_GRAD");
        std::this_thread::yield();
      }
    std::size_t all = gradients.size();
    Range range = sharded ? ownRange(all) : Range{0, all};
    sum.assign(all, 0);
    for (std::size_t i = range.begin; i != range.end; ++i)
      for (int other = 0; other != members; ++other)
        sum[i] += (*board.at(other, stage).gradients)[i];
  }

private:
  ShardBoard &board;
};

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_THREADSHARDS_H
