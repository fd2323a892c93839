//===- ServerProgram.h - The program with a server ------------ -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_SERVERPROGRAM_H
#define PIPEC_COMMAND_SERVERPROGRAM_H

#include "Command/CommandRun.h"
#include "Serve/LivePage.h"

namespace pipec {

/// Continues as `pipec-serve`, the program beside this one that has a server,
/// with the same command line. Returns only if there is none, which it reports.
llvm::LogicalResult runServerProgram(const CommandRun &run);
/// True if there is such a program.
bool hasServerProgram(const CommandRun &run);

/// The path of pipec: the program without a server, which starts faster.
std::string compilerPath(const CommandRun &run);

/// Reports a value of --port that is not a port.
llvm::LogicalResult checkPort(const CommandRun &run);
/// Opens the port of --port, or any; reports if it cannot be had.
llvm::FailureOr<std::unique_ptr<HttpServer>> openServer(const CommandRun &run,
                                                        unsigned &port);

/// Ends the process with status 0 although threads are still running.
[[noreturn]]
void leaveProcess(const CommandRun &run);

} // namespace pipec

#endif // PIPEC_COMMAND_SERVERPROGRAM_H
