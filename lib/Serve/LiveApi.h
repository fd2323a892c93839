//===- LiveApi.h - What the live page asks for ---------------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_LIVEAPI_H
#define PIPEC_SERVE_LIVEAPI_H

#include "Serve/Http.h"
#include "Serve/LiveJobs.h"

#include <deque>
#include <mutex>
#include <semaphore>

namespace pipec {

/// Answers the requests of the live page. Knows nothing of sockets; each
/// compilation is a run of the compiler in a process of its own, with limits.
///
///     GET  /             the page
///     GET  /picture?id=  a page of --emit=html
///     GET  /ping         {}
///     POST /compile      a ProgramOrder: parameters, report, picture
///     POST /export       the same, in the format `as`
///     POST /compare, /search   the same: starts a job
///     POST /calibrate  a TraceUpload: starts a job
///     POST /job, /cancel       {"job": N}
class LiveApi {
public:
  explicit LiveApi(LiveSettings settings, RunChild run = runChild)
      : settings(std::move(settings)), runner(run),
        folder(this->settings.temporary), jobs(this->settings, folder, runner) {
  }

  HttpResponse answer(const HttpRequest &request);
  /// The maximum number of bytes in the body of a request.
  static size_t maxBody(const HttpRequest &head);

private:
  struct Compilation;
  /// The newest compilation of a page.
  struct Tab {
    int64_t serial = 0;
    std::shared_ptr<std::atomic<bool>> isOld;
  };

  HttpResponse compile(const ProgramOrder &order);
  HttpResponse exportAs(const ProgramOrder &order, llvm::StringRef kind);
  HttpResponse startJob(const ProgramOrder &order, llvm::StringRef path);
  HttpResponse calibrate(llvm::StringRef body);
  HttpResponse follow(const llvm::json::Object &body, bool cancel);
  HttpResponse picture(const HttpRequest &request);
  HttpResponse started(std::optional<uint64_t> job);

  uint64_t keepPicture(std::string text);
  std::shared_ptr<std::atomic<bool>> replaceTab(const ProgramOrder &order);

  const LiveSettings settings;
  const RunChild runner;
  TemporaryFolder folder;
  LiveJobs jobs;
  /// Compilations at the same time.
  static constexpr int maxCompilations = 4;
  std::counting_semaphore<maxCompilations> places{maxCompilations};
  /// Guards the members below.
  std::mutex mutex;
  /// By name; `isOld` is set when a newer compilation begins.
  std::map<std::string, Tab> tabs;
  std::deque<std::pair<uint64_t, std::string>> pictures;
  uint64_t lastPicture = 0;
};

} // namespace pipec

#endif // PIPEC_SERVE_LIVEAPI_H
