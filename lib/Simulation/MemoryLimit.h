//===- MemoryLimit.h - What a rank has room for -----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_MEMORYLIMIT_H
#define PIPEC_SIMULATION_MEMORYLIMIT_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reports, with `severity`, when a rank of a verified schedule keeps more than
/// the `limit` of the memory settings: once, at the step that takes the rank
/// with the largest total there, with the number of such ranks. Reports figures
/// that do not fit 64 bits as an error. Returns true when nothing was reported;
/// a schedule without a limit is not looked at. Linear in the steps.
bool checkMemoryLimit(const Schedule &schedule, Severity severity,
                      DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_SIMULATION_MEMORYLIMIT_H
