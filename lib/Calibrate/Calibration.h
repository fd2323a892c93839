//===- Calibration.h - Figures of a real run --------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_CALIBRATE_CALIBRATION_H
#define PIPEC_CALIBRATE_CALIBRATION_H

#include "Calibrate/MeasuredTransfers.h"
#include "Calibrate/Samples.h"
#include "Cost/Settings.h"

namespace pipec {

/// A figure with its spread: milliseconds, bytes, or a factor.
struct MeasuredFigure {
  FigureBlock block;
  Figure figure;
  Place place;
  /// Of an overlap its kinds.
  llvm::SmallVector<StepKind, 2> members;
  Rational value;
  /// The quartiles.
  Rational lower, upper;
  size_t samples;
  Evidence evidence;
};

/// What traces say about costs and memory.
struct Calibration {
  CostSettings costs;
  MemorySettings memory;
  /// In the order of the table of figures and of their places.
  std::vector<MeasuredFigure> figures;
  /// What is not known, and why; a line each.
  std::vector<std::string> leftOut;
  Clocks clocks;
  /// The time of a training step, first start to last end over all ranks, in
  /// milliseconds: the smallest, the median and the largest; nothing when the
  /// clocks are not known.
  std::optional<std::array<Rational, 3>> stepTime;
  size_t numSteps = 0;
  /// The first start and the last end of each training step, in nanoseconds of
  /// the clock of rank 0; nothing when the clocks are not known.
  std::vector<std::pair<int64_t, int64_t>> spans;
};

/// Finds the figures that are in a recording.
Calibration calibrate(const Recording &recording);

/// Milliseconds with at most six digits, of which at least three are after the
/// point.
Rational milliseconds(int64_t nanoseconds);

} // namespace pipec

#endif // PIPEC_CALIBRATE_CALIBRATION_H
