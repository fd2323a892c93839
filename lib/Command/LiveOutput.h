//===- LiveOutput.h - --emit=live ----------------------------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_LIVEOUTPUT_H
#define PIPEC_COMMAND_LIVEOUTPUT_H

#include "Command/CommandRun.h"
#include "Emit/Emitter.h"

namespace pipec {

/// Compiles a program and writes the contents of its live page as the JSON that
/// docs/Serve.md describes, also after errors: the parameters if the program
/// can be parsed, figures and pictures if it can be compiled, and all messages,
/// including failed `expect` clauses.
llvm::LogicalResult runLive(const CommandRun &run, EmitOptions emit);

} // namespace pipec

#endif // PIPEC_COMMAND_LIVEOUTPUT_H
