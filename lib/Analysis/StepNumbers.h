//===- StepNumbers.h - One number for every step of a schedule -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_ANALYSIS_STEPNUMBERS_H
#define PIPEC_ANALYSIS_STEPNUMBERS_H

#include "IR/Schedule.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace pipec {

/// A step by its place: the rank and the index in that rank's list.
struct StepRef {
  uint32_t rank = 0;
  uint32_t index = 0;
  friend bool operator==(StepRef, StepRef) = default;
};

/// Numbers the steps of all ranks through, rank by rank, so that an analysis
/// keeps its facts in flat arrays. A schedule has fewer than 2^32 - 1 steps
/// (`fits`).
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
  }

  /// True when `schedule` is small enough to be numbered.
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
    return unsigned(llvm::upper_bound(begins, number) - begins.begin()) - 1;
  }
  StepRef at(uint32_t number) const {
    unsigned rank = rankOf(number);
    return {rank, number - begins[rank]};
  }

private:
  std::vector<uint32_t> begins;
};

} // namespace pipec

#endif // PIPEC_ANALYSIS_STEPNUMBERS_H
