//===- ProfileWriter.h - Cost profiles of measurements ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_CALIBRATE_PROFILEWRITER_H
#define PIPEC_CALIBRATE_PROFILEWRITER_H

#include "Cost/Settings.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Writes costs and sizes per stage as a profile for `readCostProfile`.
void writeCostProfile(const CostSettings &costs, const MemorySettings &memory,
                      llvm::raw_ostream &os);

} // namespace pipec

#endif // PIPEC_CALIBRATE_PROFILEWRITER_H
