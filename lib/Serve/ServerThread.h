//===- ServerThread.h - A running local server ---------------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_SERVERTHREAD_H
#define PIPEC_SERVE_SERVERTHREAD_H

#include "Serve/Access.h"

#include <atomic>
#include <thread>

namespace pipec {

/// A server on a thread of its own.
class ServerThread {
public:
  /// Serves the open port of `server`, for the requests that `access` admits.
  /// `limit` is that of the bodies of requests.
  ServerThread(
      std::unique_ptr<HttpServer> server, const Access &access,
      HttpServer::Site site,
      HttpServer::BodyLimit limit = [](const HttpRequest &) {
        return maxBodyBytes;
      });
  ~ServerThread();
  ServerThread(const ServerThread &) = delete;
  ServerThread &operator=(const ServerThread &) = delete;

  /// Ends the server and all runs of the compiler. False if connections are
  /// still held by slow clients after a moment: the process must then be left
  /// without destructors.
  bool end();

private:
  std::unique_ptr<HttpServer> server;
  std::atomic<bool> ended = false;
  std::thread thread;
};

} // namespace pipec

#endif // PIPEC_SERVE_SERVERTHREAD_H
