//===- StepParser.h - Step IR from text -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Parses one schedule in the text form of docs/StepIR.md. `text` must be a
/// file of the engine's `SourceFiles`. Errors are reported at their position;
/// the source of each step is its line.
llvm::FailureOr<Schedule> parseSteps(llvm::StringRef text, DiagEngine &diags);

} // namespace pipec
