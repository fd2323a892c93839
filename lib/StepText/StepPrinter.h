//===- StepPrinter.h - Step IR as text --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Writes `schedule` in the text form of docs/StepIR.md; `parseSteps` reads it
/// back to an equal schedule.
void printSteps(const Schedule &schedule, llvm::raw_ostream &os);

} // namespace pipec
