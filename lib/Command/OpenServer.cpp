//===- OpenServer.cpp - The server of serve and watch ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/OpenServer.h"

#include "Serve/Access.h"
#include "Serve/ChildRun.h"
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

LogicalResult LocalServer::start(const CommandRun &run, HttpServer::Site site,
                                 HttpServer::BodyLimit limit) {
  auto reason = [] { return std::generic_category().message(errno); };
  unsigned wanted = run.args.number(Opt::Port).value_or(0);
  server = run.makeServer();
  if (!server)
    return reportUsageError(run.diags,
                            "the server cannot be started: " + reason());
  unsigned port = server->open(wanted);
  if (!port)
    return reportUsageError(run.diags,
                            "port " + Twine(wanted) +
                                " of 127.0.0.1 cannot be used: " + reason());
  Access access(port);
  thread = std::thread(
      [this, access, site = std::move(site), limit = std::move(limit)] {
        server->run(
            [&](const HttpRequest &request) { return access.refuse(request); },
            limit, site);
        ended = true;
      });
  return run.announce(access.address());
}

LocalServer::~LocalServer() {
  if (!thread.joinable())
    return;
  server->stop();
  thread.join();
}

bool LocalServer::end() {
  server->stop();
  endChildren();
  for (int i = 0; i != 50 && !ended; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return ended;
}

void leaveProcess(const CommandRun &run) {
  run.standardOutput().flush();
  sys::Process::Exit(0, /*NoCleanup=*/true);
}

} // namespace pipec
