//===- StepPlaces.h - Steps and their places in messages --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/DataFlow.h"
#include "Support/DiagEngine.h"

#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// Writes the number of a micro-batch, or with slices `m.k` for slice k of m.
void printUnit(llvm::raw_ostream &os, unsigned unit, unsigned slices);

/// Writes a step in the form that messages use: `F s0 m1`, with slices `F s0
/// m1.0`, `SEND_F s0 m1 -> r1`, `UNSHARD s2`, `REDUCE_TIED t0`, `bubble`. A
/// transfer on an edge that is not one of a chain names the stage at the other
/// end: `SEND_F s0 m1 -> s3`.
void printStep(llvm::raw_ostream &os, const DataFlow &flow, Step step);
std::string stepText(const DataFlow &flow, Step step);
/// The same for the only step of a message.
std::string stepText(const Schedule &schedule, Step step);

/// Describes steps as all messages do: "rank 0 step 5, `F s0 m1`". The position
/// counts the lines of a rank's list from 0: an overlap, a batch and a bubble
/// are one line each, like a cell of a CSV.
class StepPlaces {
public:
  explicit StepPlaces(const Schedule &schedule) : schedule(schedule) {}

  /// The position of the step at `index` of the list of `rank`. The first call
  /// for a rank walks over its list, all others over a few steps.
  unsigned position(unsigned rank, size_t index);

  /// `rank 0 step 5, `F s0 m1``
  StepPlace name(unsigned rank, size_t index);
  /// `F s0 m1`, without backticks.
  std::string text(Step step) const;
  /// The overlap or batch that contains the step: `F s0 m1 & B s0 m0`, `SEND_F
  /// s0 m1 -> r1, RECV_B s0 m0 <- r1`.
  std::string groupText(unsigned rank, size_t index) const;
  /// The step as one event in time: the whole overlap, but only the member of a
  /// batch.
  std::string eventText(unsigned rank, size_t index) const;

private:
  static constexpr size_t stride = 256;

  const Schedule &schedule;
  /// Made for the first P2P step.
  mutable std::optional<DataFlow> flow;
  /// By rank, the position of every `stride`-th step; empty before the first
  /// call for that rank.
  std::vector<std::vector<unsigned>> marks;
};

/// `4 ranks, 4 stages, 8 micro-batches`, with slices `8 micro-batches of 4
/// slices`.
std::string sizesText(const Schedule &schedule);

} // namespace pipec
