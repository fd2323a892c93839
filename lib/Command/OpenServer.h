//===- OpenServer.h - The server of serve and watch ----------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Command/CommandRun.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

namespace pipec {

/// Reports if pipec was built without a server.
llvm::LogicalResult checkHasServer(const CommandRun &run);
/// A server on a thread of its own. There must be one in the program.
class LocalServer {
public:
  LocalServer() = default;
  ~LocalServer();
  LocalServer(const LocalServer &) = delete;
  LocalServer &operator=(const LocalServer &) = delete;

  /// Serves the port of --port, or any, for requests with the token, and prints
  /// its address. Reports a port that cannot be used. `limit` limits the
  /// bodies of requests.
  llvm::LogicalResult start(
      const CommandRun &run, HttpServer::Site site,
      HttpServer::BodyLimit limit = [](const HttpRequest &) {
        return maxBodyBytes;
      });
  /// Ends the server and all runs of the compiler. False if slow clients still
  /// hold connections after a moment: `leaveProcess` must follow.
  bool end();

private:
  std::unique_ptr<HttpServer> server;
  std::atomic<bool> ended = false;
  std::thread thread;
};

/// While it lives, SIGINT, SIGTERM and SIGHUP, unless that is ignored (nohup),
/// do not end the program but are waited for. Must be created before the
/// threads of the program.
class SignalWait {
public:
  SignalWait();
  ~SignalWait();
  SignalWait(const SignalWait &) = delete;
  SignalWait &operator=(const SignalWait &) = delete;

  /// Waits for a signal, at most for `time` if it is given. True if one came
  /// now or before.
  bool wait(std::optional<std::chrono::milliseconds> time = std::nullopt);

private:
  sigset_t waited, before;
  bool came = false;
};

/// Ends the process with status 0 although threads are still running.
[[noreturn]]
void leaveProcess(const CommandRun &run);

} // namespace pipec
