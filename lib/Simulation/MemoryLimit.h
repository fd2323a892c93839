//===- MemoryLimit.h - The memory limit per rank ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reports, with `severity`, if ranks of a verified schedule keep more than the
/// `limit` of the memory settings: one diagnostic with their number, at the
/// step where the rank with the largest peak reaches it. Reports figures that
/// do not fit 64 bits as an error. Returns true if nothing was reported. Linear
/// in the steps; returns immediately if there is no limit.
bool checkMemoryLimit(const Schedule &schedule, Severity severity,
                      DiagEngine &diags);

} // namespace pipec
