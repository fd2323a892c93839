//===- PresentRanks.h - The ranks whose lists are known ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace pipec {

/// The ranks of a schedule whose lists are known. The other lists are empty and
/// say nothing about what their ranks do.
class PresentRanks {
public:
  /// All ranks.
  PresentRanks() = default;
  /// These ranks of `numRanks`, which must be below it.
  PresentRanks(llvm::ArrayRef<unsigned> ranks, unsigned numRanks)
      : present(numRanks) {
    for (unsigned rank : ranks)
      present[rank] = true;
  }

  bool all() const { return present.empty(); }
  bool contains(unsigned rank) const { return all() || present[rank]; }
  /// The other ranks, in ascending order.
  std::vector<unsigned> absent() const {
    std::vector<unsigned> ranks;
    for (unsigned rank = 0; rank != present.size(); ++rank)
      if (!present[rank])
        ranks.push_back(rank);
    return ranks;
  }

private:
  /// By rank; empty if all are.
  std::vector<bool> present;
};

} // namespace pipec
