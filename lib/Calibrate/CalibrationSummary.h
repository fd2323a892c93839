//===- CalibrationSummary.h - The result of a calibration -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Calibrate/Calibration.h"

#include "llvm/Support/JSON.h"

namespace pipec {

/// Prints the figures with their spreads, what was left out, and the clocks.
void printCalibration(const Recording &recording,
                      const Calibration &calibration, llvm::raw_ostream &os);

/// Writes the same as the attributes of an object.
void writeCalibration(const Recording &recording,
                      const Calibration &calibration,
                      llvm::json::OStream &json);

} // namespace pipec
