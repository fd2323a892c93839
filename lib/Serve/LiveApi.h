//===- LiveApi.h - The requests of the live page -------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Serve/Http.h"
#include "Serve/Jobs.h"
#include "Serve/LiveRequest.h"
#include "Serve/ServerFolder.h"

#include <semaphore>

namespace pipec {

/// The maximum number of bytes in the body of a request with traces.
inline constexpr size_t maxTraceBytes = size_t(1) << 26;

/// The settings of a server.
struct LiveSettings {
  /// The path of pipec, and the options of each run that reads a program.
  std::string compiler;
  std::vector<std::string> options;
  /// The folder in which runs find imports first.
  std::string folder;
  /// An existing folder for files of this server.
  std::string temporary;
  /// The files of the schedules of the library by name.
  std::map<std::string, std::string> library;
  /// The page, and the one in its frame.
  std::string page, picture;
};

/// A path to which a page posts a LiveRequest, and the command that it runs
/// (LiveApi.cpp).
struct LiveCommand;

/// Answers the requests of the live page. Knows nothing of sockets; each run of
/// a command is a process of its own, with limits.
///
///     GET  /             the page
///     GET  /picture      the page in its frame
///     GET  /ping         {}
///     POST /compile, /export             a LiveRequest: the answer of the run
///     POST /compare, /search, /calibrate a LiveRequest: starts a job
///     POST /job?id=N, /cancel?id=N       the state of the job
///
/// The answer of a run, and the `answer` of a job that has ended, has
/// `diagnostics`; `output`, the JSON or for /export the text on standard
/// output; and `file`, the text of the file that the command writes. Where
/// there is none, they are null.
class LiveApi {
public:
  explicit LiveApi(LiveSettings settings, RunChild run = runChild)
      : settings(std::move(settings)), runner(run), jobs(runner) {}

  HttpResponse answer(const HttpRequest &request);
  /// The maximum number of bytes in the body of a request.
  static size_t maxBody(const HttpRequest &head);

private:
  /// The newest compilation of a page.
  struct Tab {
    int64_t serial = 0;
    std::shared_ptr<std::atomic<bool>> isOld;
  };

  HttpResponse runNow(const LiveCommand &command, const LiveRequest &request);
  HttpResponse startJob(const LiveCommand &command, const LiveRequest &request);
  HttpResponse follow(const HttpRequest &request);
  ChildRequest childOf(const LiveCommand &command, const LiveRequest &request,
                       const RunFolder &folder) const;
  std::shared_ptr<RunFolder> makeFolder();
  std::shared_ptr<std::atomic<bool>> replaceTab(const LiveRequest &request);

  const LiveSettings settings;
  const RunChild runner;
  Jobs jobs;
  std::atomic<uint64_t> lastFolder = 0;
  /// Compilations at the same time.
  static constexpr int maxCompilations = 4;
  std::counting_semaphore<maxCompilations> places{maxCompilations};
  /// Guards `tabs`, by name; `isOld` is set when a newer compilation begins.
  std::mutex mutex;
  std::map<std::string, Tab> tabs;
};

} // namespace pipec
