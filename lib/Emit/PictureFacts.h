//===- PictureFacts.h - The figures around a picture ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Emit/Picture.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pipec {

/// The durations of the steps of a kind, in ticks.
struct KindFacts {
  int64_t shortest = 0, longest = 0, count = 0;
  __int128 sum = 0;
  void add(int64_t duration) {
    shortest = count ? std::min(shortest, duration) : duration;
    longest = std::max(longest, duration);
    sum += duration;
    ++count;
  }
};

/// The figures of the part of a schedule that a picture shows. Linear in the
/// steps.
class PictureFacts {
public:
  explicit PictureFacts(const Picture &picture);

  /// `costs: F 1, B 2 to 3, p2p 0.25`; empty without compute steps. `~` marks
  /// those that were assumed.
  std::string costsText() const;
  /// The costs of steps on the lane of FSDP actions are not in it.
  const KindFacts &of(StepKind kind) const { return kinds[unsigned(kind)]; }
  /// The average duration of the compute steps, and the smallest of the
  /// averages of their kinds, in ticks; 0 without compute steps.
  int64_t average() const;
  int64_t smallestAverage() const;

  /// The peak of the memory of a rank in the window, and the limit of the rank
  /// rounded down, as integers of the memory model; a limit of 0 if there is
  /// none.
  int64_t peak(unsigned rank) const { return peaks[rank]; }
  int64_t limit(unsigned rank) const { return limits[rank]; }
  /// The highest peak, at least 1.
  int64_t highestPeak() const { return highest; }

private:
  const Picture &picture;
  std::array<KindFacts, numStepKinds> kinds;
  std::vector<int64_t> peaks, limits;
  int64_t highest = 1;
};

} // namespace pipec
