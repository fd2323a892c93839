//===- StepNumbers.h - Numbering the steps of a schedule --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace pipec {

/// The index of the first member of the group (overlap, batch or single step)
/// that contains the step at `index` of `list`; `Schedule::groupEnd` returns
/// its end.
inline size_t groupBegin(llvm::ArrayRef<Step> list, size_t index) {
  while (index != 0 && list[index - 1].joined())
    --index;
  return index;
}

/// Numbers the steps of all ranks consecutively, rank by rank, so that analyses
/// can use flat arrays. Requires fewer than 2^32 - 1 steps (`fits`).
class StepNumbers {
public:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

  explicit StepNumbers(const Schedule &schedule) {
    begins.reserve(schedule.ranks.size() + 1);
    uint64_t next = 0;
    for (const StepList &list : schedule.ranks) {
      begins.push_back(uint32_t(next));
      next += list.size();
    }
    assert(next < none && "more steps than numbers");
    begins.push_back(uint32_t(next));
    blockRanks.reserve((next >> blockShift) + 2);
    for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank)
      while (blockRanks.size() << blockShift < begins[rank + 1])
        blockRanks.push_back(rank);
    blockRanks.push_back(unsigned(schedule.ranks.size()) - 1);
  }

  /// True if `schedule` has few enough steps.
  static bool fits(const Schedule &schedule) {
    return schedule.numSteps() < none;
  }

  uint32_t size() const { return begins.back(); }
  uint32_t begin(unsigned rank) const { return begins[rank]; }
  uint32_t end(unsigned rank) const { return begins[rank + 1]; }
  uint32_t of(StepRef ref) const { return begins[ref.rank] + ref.index; }
  uint32_t of(unsigned rank, size_t index) const {
    return begins[rank] + uint32_t(index);
  }
  unsigned rankOf(uint32_t number) const {
    auto block = blockRanks.begin() + (number >> blockShift);
    auto it = std::upper_bound(begins.begin() + block[0] + 1,
                               begins.begin() + block[1] + 1, number);
    return unsigned(it - begins.begin()) - 1;
  }
  StepRef at(uint32_t number) const {
    unsigned rank = rankOf(number);
    return {rank, number - begins[rank]};
  }

private:
  static constexpr unsigned blockShift = 10;

  std::vector<uint32_t> begins;
  /// The rank of the first step of each block of 1024 steps, so that lookups
  /// only search a few ranks. The last element is the last rank.
  std::vector<uint32_t> blockRanks;
};

} // namespace pipec
