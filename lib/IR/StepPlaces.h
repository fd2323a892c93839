//===- StepPlaces.h - Steps and their places in messages --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_STEPPLACES_H
#define PIPEC_IR_STEPPLACES_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <string>
#include <vector>

namespace pipec {

/// Names steps the way every message does: "rank 0 step 5, `F s0 m1`". The
/// position counts from 0 the lines of a rank's list: an overlap, a batch and a
/// bubble are one each, as a cell of a CSV is.
class StepPlaces {
public:
  explicit StepPlaces(const Schedule &schedule) : schedule(schedule) {}

  /// The position of the step at `index` of the list of `rank`. The first
  /// question about a rank walks over its list, every other one over a few
  /// steps, so that any number of messages is cheap.
  unsigned position(unsigned rank, size_t index);

  /// `rank 0 step 5, `F s0 m1``
  StepPlace name(unsigned rank, size_t index);
  /// `F s0 m1`, without backticks.
  std::string text(Step step) const { return stepText(schedule, step); }
  /// The whole overlap or batch that the step is a member of:
  /// `F s0 m1 & B s0 m0`, `SEND_F s0 m1 -> r1, RECV_B s0 m0 <- r1`.
  std::string groupText(unsigned rank, size_t index) const;
  /// The step as one event in time: an overlap as a whole, of a batch the
  /// member alone.
  std::string eventText(unsigned rank, size_t index) const;

private:
  static constexpr size_t stride = 256;

  const Schedule &schedule;
  /// By rank, the position of every `stride`-th step; empty before the first
  /// question.
  std::vector<std::vector<unsigned>> marks;
};

} // namespace pipec

#endif // PIPEC_IR_STEPPLACES_H
