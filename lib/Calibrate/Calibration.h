//===- Calibration.h - Figures of a real run --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Calibrate/Measured.h"

#include "llvm/Support/JSON.h"

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

/// The figures that traces contain.
struct Calibration {
  CostSettings costs;
  MemorySettings memory;
  /// In the order of the table of figures and of their places.
  std::vector<MeasuredFigure> figures;
  /// One line per figure that could not be measured, with the reason.
  std::vector<std::string> leftOut;
  Clocks clocks;
  /// The least, median and greatest time of a training step in milliseconds,
  /// from the first start to the last end over all ranks. Empty if the clocks
  /// of some ranks are unknown.
  std::optional<std::array<Rational, 3>> stepTime;
  size_t numSteps = 0;
  /// The first start and the last end of each training step, in nanoseconds of
  /// the clock of rank 0. Empty if the clocks of some ranks are unknown.
  std::vector<std::pair<int64_t, int64_t>> spans;
};

/// Finds the figures that are in a recording.
Calibration calibrate(const Recording &recording);

/// Converts to milliseconds: at most six digits, at least three of them after
/// the point.
Rational milliseconds(int64_t nanoseconds);

/// Prints the figures with their spreads, the omitted data, and the clocks.
void printCalibration(const Recording &recording,
                      const Calibration &calibration, llvm::raw_ostream &os);

/// Writes the same as the attributes of an object.
void writeCalibration(const Recording &recording,
                      const Calibration &calibration,
                      llvm::json::OStream &json);

/// Writes costs and sizes per stage as a profile for `readCostProfile`, with
/// the largest spread of the times of steps.
void writeCostProfile(const Calibration &calibration, llvm::raw_ostream &os);

} // namespace pipec
