//===- LiveOutput.h - --emit=live ----------------------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Command/CommandRun.h"
#include "Emit/Emitter.h"

namespace pipec {

/// Compiles a program and writes the contents of its live page as the JSON that
/// docs/Serve.md describes, also after errors: the parameters if the program
/// can be parsed, figures and pictures if it can be compiled, and all messages,
/// including failed `expect` clauses.
llvm::LogicalResult runLive(const CommandRun &run, EmitOptions emit);

} // namespace pipec
