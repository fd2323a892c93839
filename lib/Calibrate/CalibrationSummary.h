//===- CalibrationSummary.h - The result of a calibration -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_CALIBRATE_CALIBRATIONSUMMARY_H
#define PIPEC_CALIBRATE_CALIBRATIONSUMMARY_H

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

#endif // PIPEC_CALIBRATE_CALIBRATIONSUMMARY_H
