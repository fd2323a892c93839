//===- LiveApi.h - What the live page asks for ---------------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_LIVEAPI_H
#define PIPEC_SERVE_LIVEAPI_H

#include "Serve/Http.h"
#include "Serve/Jobs.h"
#include "Serve/ProgramOrder.h"

#include <deque>
#include <semaphore>

namespace pipec {

/// What the server knows when it starts.
struct LiveSettings {
  /// The path of pipec, which compiles.
  std::string compiler;
  /// Where imports of the program are looked for first, and further folders.
  std::string folder;
  std::vector<std::string> includes;
  /// An existing folder for files of this server.
  std::string temporary;
  /// The names and roles of the parameters of each schedule of the library.
  std::map<std::string, std::vector<std::string>> library;
  /// The page, complete.
  std::string page;
};

/// Answers the requests of the live page. Knows nothing of sockets; each
/// compilation is a run of the compiler in a process of its own, with limits.
///
///     GET  /             the page
///     GET  /picture?id=  a page of --emit=html
///     GET  /ping         {}
///     POST /compile      a ProgramOrder: parameters, report, picture
///     POST /export       the same, in the format `as`
///     POST /compare, /search   the same: starts a job
///     POST /job, /cancel       {"job": N}
class LiveApi {
public:
  explicit LiveApi(LiveSettings settings, RunChild run = runChild)
      : settings(std::move(settings)), runner(run), jobs(runner) {}

  HttpResponse answer(const HttpRequest &request);

private:
  struct Compilation;

  HttpResponse compile(const ProgramOrder &order);
  HttpResponse exportAs(const ProgramOrder &order, llvm::StringRef kind);
  HttpResponse startCompare(const ProgramOrder &order);
  HttpResponse startSearch(const ProgramOrder &order);
  HttpResponse follow(const llvm::json::Object &body, bool cancel);
  HttpResponse picture(const HttpRequest &request);
  HttpResponse started(std::optional<uint64_t> job);

  std::vector<std::string> reportOfSecond(const ProgramOrder &order,
                                          const std::string &steps) const;
  ChildRequest makeRun(std::vector<std::string> arguments,
                       const ProgramOrder &order) const;
  std::string fileName(llvm::StringRef stem, llvm::StringRef extension);
  std::string writeSteps(const ProgramOrder &order);
  uint64_t keepPicture(std::string text);
  std::shared_ptr<std::atomic<bool>> replaceTab(const std::string &tab);

  const LiveSettings settings;
  const RunChild runner;
  Jobs jobs;
  /// Compilations at the same time.
  static constexpr int maxCompilations = 4;
  std::counting_semaphore<maxCompilations> places{maxCompilations};
  /// Guards the members below.
  std::mutex mutex;
  /// Set for the compilation of a page when a newer one begins.
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> tabs;
  std::deque<std::pair<uint64_t, std::string>> pictures;
  uint64_t lastPicture = 0;
  uint64_t lastFile = 0;
};

} // namespace pipec

#endif // PIPEC_SERVE_LIVEAPI_H
