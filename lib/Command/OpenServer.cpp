//===- OpenServer.cpp - The server of serve and watch ---------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/OpenServer.h"

#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/Support/Process.h"

#include <cerrno>

using namespace llvm;

namespace pipec {

LogicalResult checkHasServer(const CommandRun &run) {
  if (run.makeServer)
    return success();
  return run.diags.report(DiagLoc(), diag::OptionNeeds,
                          run.args.syntax().command,
                          "a server, without which this pipec was built");
}

FailureOr<std::unique_ptr<HttpServer>> openServer(const CommandRun &run,
                                                  unsigned &port) {
  unsigned wanted = run.args.number(Opt::Port).value_or(0);
  std::unique_ptr<HttpServer> server = run.makeServer();
  if (!server)
    return reportUsageError(run.diags,
                            "the server cannot be started: " +
                                std::generic_category().message(errno));
  port = server->open(wanted);
  if (!port)
    return reportUsageError(
        run.diags, "port " + Twine(wanted) + " of 127.0.0.1 cannot be used: " +
                       std::generic_category().message(errno));
  return server;
}

void leaveProcess(const CommandRun &run) {
  run.standardOutput().flush();
  sys::Process::Exit(0, /*NoCleanup=*/true);
}

} // namespace pipec
