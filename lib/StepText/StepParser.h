//===- StepParser.h - Step IR from text -------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_STEPTEXT_STEPPARSER_H
#define PIPEC_STEPTEXT_STEPPARSER_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Parses one schedule in the text form of docs/StepIR.md. `text` must be a
/// file of the engine's `SourceFiles`. Errors are reported at their position;
/// the source of each step is its line.
llvm::FailureOr<Schedule> parseSteps(llvm::StringRef text, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_STEPTEXT_STEPPARSER_H
