//===- TickCosts.h - Durations as whole numbers -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_ANALYSIS_TICKCOSTS_H
#define PIPEC_ANALYSIS_TICKCOSTS_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/StringMap.h"

#include <array>
#include <vector>

namespace pipec {

/// The costs of a schedule in ticks: one unit of time is as many ticks as the
/// least common multiple of the denominators of all costs, so that every
/// duration is a whole number and `==` of two times means equal.
class TickCosts {
public:
  /// Reports costs whose ticks do not fit 64 bits, and schedules in which all
  /// durations and transfers one after the other would pass a quarter of that:
  /// no sum of times of one run can overflow.
  static llvm::FailureOr<TickCosts> make(const Schedule &schedule,
                                         DiagEngine &diags);

  /// Ticks a unit of time.
  int64_t perUnit() const { return ticksPerUnit; }
  /// The time that a transfer between two ranks takes.
  int64_t hop() const { return hopTicks; }
  int64_t hop(unsigned from, unsigned to) const {
    return from == to ? 0 : hopTicks;
  }

  /// How long the group [begin, end) of `list` keeps its rank busy: nothing
  /// when it does not compute.
  int64_t duration(llvm::ArrayRef<Step> list, size_t begin, size_t end) const {
    Step first = list[begin];
    if (!isCompute(first.kind()))
      return 0;
    if (end - begin == 1)
      return single[first.stage()][unsigned(first.kind())];
    return overlapDuration(list.slice(begin, end - begin));
  }

  /// A number of ticks as a time.
  Rational time(int64_t ticks) const;

private:
  TickCosts() = default;
  int64_t overlapDuration(llvm::ArrayRef<Step> members) const;

  int64_t ticksPerUnit = 1;
  int64_t hopTicks = 0;
  /// By stage and kind.
  std::vector<std::array<int64_t, 4>> single;
  /// Overlaps with a cost of their own, by the kinds of their members.
  llvm::StringMap<int64_t> overlaps;
};

} // namespace pipec

#endif // PIPEC_ANALYSIS_TICKCOSTS_H
