//===- StepPrinter.h - Step IR as text --------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_STEPTEXT_STEPPRINTER_H
#define PIPEC_STEPTEXT_STEPPRINTER_H

#include "IR/Schedule.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Writes `schedule` in the text form of docs/StepIR.md; `parseSteps` reads it
/// back to an equal schedule.
void printSteps(const Schedule &schedule, llvm::raw_ostream &os);

} // namespace pipec

#endif // PIPEC_STEPTEXT_STEPPRINTER_H
