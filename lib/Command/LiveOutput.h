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

/// Compiles a program and writes all that a page shows of it, also after
/// errors, as the JSON that docs/Serve.md describes: the parameters as soon as
/// the program can be parsed, figures and pictures if it can be compiled, and
/// the messages, to which those of `expect` clauses belong.
llvm::LogicalResult runLive(const CommandRun &run, EmitOptions emit);

} // namespace pipec

#endif // PIPEC_COMMAND_LIVEOUTPUT_H
