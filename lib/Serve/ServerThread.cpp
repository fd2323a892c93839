//===- ServerThread.cpp - A running local server --------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/ServerThread.h"

#include "Serve/ChildRun.h"

namespace pipec {

ServerThread::ServerThread(std::unique_ptr<HttpServer> opened,
                           const Access &access, HttpServer::Site site,
                           HttpServer::BodyLimit limit)
    : server(std::move(opened)) {
  thread = std::thread(
      [this, access, site = std::move(site), limit = std::move(limit)] {
        server->run(
            [&](const HttpRequest &request) { return access.refuse(request); },
            limit, site);
        ended = true;
      });
}

ServerThread::~ServerThread() {
  server->stop();
  thread.join();
}

bool ServerThread::end() {
  server->stop();
  endChildren();
  for (int i = 0; i != 50 && !ended; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return ended;
}

} // namespace pipec
