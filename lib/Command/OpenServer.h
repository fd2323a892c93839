//===- OpenServer.h - The server of serve and watch ----------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_OPENSERVER_H
#define PIPEC_COMMAND_OPENSERVER_H

#include "Command/CommandRun.h"

namespace pipec {

/// Reports if pipec was built without a server.
llvm::LogicalResult checkHasServer(const CommandRun &run);
/// Opens the port of --port, or any; reports if it cannot be had. There must be
/// a server.
llvm::FailureOr<std::unique_ptr<HttpServer>> openServer(const CommandRun &run,
                                                        unsigned &port);

/// Ends the process with status 0 although threads are still running.
[[noreturn]]
void leaveProcess(const CommandRun &run);

} // namespace pipec

#endif // PIPEC_COMMAND_OPENSERVER_H
