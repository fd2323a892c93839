//===- OpenServer.cpp - The server of serve and watch ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/OpenServer.h"

#include "Serve/ChildRun.h"
#include "Serve/Http.h"
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

SignalWait::SignalWait() {
  sigemptyset(&waited);
  sigaddset(&waited, SIGINT);
  sigaddset(&waited, SIGTERM);
  struct sigaction hangup;
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaddset(&waited, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &waited, &before);
}

SignalWait::~SignalWait() {
  // Further signals of an impatient user do not change the exit status.
  timespec now{};
  while (sigtimedwait(&waited, nullptr, &now) > 0)
    ;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool SignalWait::wait(std::optional<std::chrono::milliseconds> time) {
  while (!came) {
    timespec limit{};
    if (time) {
      limit.tv_sec = time->count() / 1000;
      limit.tv_nsec = time->count() % 1000 * 1'000'000;
    }
    int signal = time ? sigtimedwait(&waited, nullptr, &limit)
                      : sigwaitinfo(&waited, nullptr);
    came = signal > 0;
    if (!came && time && errno != EINTR)
      return false;
  }
  return true;
}

} // namespace pipec
