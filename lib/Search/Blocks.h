//===- Blocks.h - Targets that repeat ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets of a building block: each kind of step of each stage has an
// offset, and the target of micro-batch n is n periods later. Few numbers
// describe a whole schedule; the decoder makes words of them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Search/Decoder.h"
#include "Search/Random.h"

namespace pipec::search {

struct Block {
  /// By kind and stage.
  std::vector<Ticks> offsets;
  Ticks period = 0;
  Ticks patience = 0;
  std::vector<uint32_t> inFlight;
  Targets::Hold hold = Targets::Hold::None;
};

/// Looks for the best block of a problem.
class BlockSearch {
public:
  BlockSearch(const Problem &problem, uint64_t seed);

  /// Goes on until the budget is spent or a makespan of `bound` is found:
  /// samples blocks first, then changes the best.
  void run(Budget &budget, Ticks bound);

  /// The best words; without any before the first run.
  const Found &best() const { return found; }

private:
  Block sample();
  Block change(const Block &block);
  Ticks evaluate(const Block &block);

  const Problem &problem;
  Random random;
  Decoder decoder;
  Timing timing;
  Targets targets;
  Ticks meanTime;
  Ticks periodOfWork;
  Found found;
  Block bestBlock;
};

} // namespace pipec::search
