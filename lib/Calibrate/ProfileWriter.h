//===- ProfileWriter.h - Cost profiles of measurements ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/Settings.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Writes costs and sizes per stage as a profile for `readCostProfile`.
void writeCostProfile(const CostSettings &costs, const MemorySettings &memory,
                      llvm::raw_ostream &os);

} // namespace pipec
