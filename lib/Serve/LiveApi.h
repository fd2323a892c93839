//===- LiveApi.h - The requests of the live page -------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Program.h"
#include "Serve/ChildRun.h"
#include "Serve/Http.h"
#include "Serve/ServerFolder.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace pipec {

/// The maximum number of bytes of the program of a page.
inline constexpr size_t maxProgramBytes = size_t(1) << 18;
/// The maximum number of bytes of a cost profile that a page keeps in its
/// state: each request and each link contains it.
inline constexpr size_t maxPageProfileBytes = size_t(1) << 18;

/// The maximum nesting depth of the JSON of a request.
inline constexpr unsigned maxRequestDepth = 8;

/// A run of a command, from the body of a request: a line of JSON, followed by
/// the contents of the traces, one after the other.
///
///     {"program": "...", "options": {"D": ["ranks=4"], "cost": "F=2"},
///      "files": {"cost-profile": "..."}, "traces": [3436, 3502],
///      "tab": "...", "serial": 3}
///
/// All members are optional. Options are those that have a row PIPEC_LIVE; they
/// have a text, an integer or a list of them as value, which the command
/// checks.
struct LiveRequest {
  /// Reads a body, which must outlive the request. `library` has the files of
  /// the schedules of the library, by name. Fails at the first member that is
  /// not as above.
  static llvm::Expected<LiveRequest>
  read(llvm::StringRef body, const std::map<std::string, std::string> &library);

  /// A file that the run reads; its path follows `option` in an argument.
  struct File {
    std::string option;
    std::string name;
    std::string text;
    /// The contents of a trace, in place of `text`.
    llvm::StringRef trace;
  };

  std::string program;
  std::vector<std::string> arguments;
  std::vector<File> files;
  /// Identifies the page; a new request of a page replaces its previous one.
  std::string tab;
  /// Requests of a page with higher numbers are newer.
  int64_t serial = 0;
};

/// Runs a program: `runChild`, or a function of a test.
using RunChild = std::function<ChildResult(const ChildRequest &)>;

/// Runs of seconds to minutes, each on a thread of its own. A page polls the
/// state of a job; a job that no page polls is ended.
class Jobs {
public:
  explicit Jobs(RunChild run) : run(std::move(run)) {}
  /// Ends all jobs.
  ~Jobs();
  Jobs(const Jobs &) = delete;
  Jobs &operator=(const Jobs &) = delete;

  /// Makes the answer of a job that has ended, as JSON.
  using Finish = std::function<std::string(const ChildResult &)>;

  /// Starts a job and returns its number; empty if too many are running.
  std::optional<uint64_t> start(ChildRequest request, Finish finish);
  /// An object of JSON with `done`, `seconds`, `progress` (the last line of
  /// standard error, empty if it is a message) and, once the job is done,
  /// `answer`. Empty if the job does not exist or was forgotten.
  std::optional<std::string> state(uint64_t id);
  /// Interrupts a job, and ends it if it still runs some seconds later. False
  /// if the job does not exist or was forgotten.
  bool cancel(uint64_t id);

private:
  struct Job;

  std::shared_ptr<Job> find(uint64_t id);
  void forgetOld();

  const RunChild run;
  std::mutex mutex;
  uint64_t last = 0;
  std::map<uint64_t, std::shared_ptr<Job>> all;
};

/// The maximum number of bytes in the body of a request with traces.
inline constexpr size_t maxUploadBytes = size_t(1) << 26;

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
  /// Where the editor looks for imports; without it, it has no help.
  std::optional<SearchPath> search = std::nullopt;
  /// The page, and the one in its frame.
  std::string page, picture;
};

/// A path to which a page posts a LiveRequest, and the command that it runs
/// (LiveApi.cpp).
struct LiveCommand;

/// The answer of the language server to a request of the editor, in JSON with
/// `program`, `method` and `params` without the document, which imports from
/// `folder`. An action has its `edits`. Fails for other methods and bad
/// parameters.
llvm::Expected<llvm::json::Value> answerEditor(llvm::StringRef body,
                                               const SearchPath &search,
                                               llvm::StringRef folder);

/// Answers the requests of the live page. Knows nothing of sockets; each run of
/// a command is a process of its own, with limits.
///
///     GET  /             the page
///     GET  /picture      the page in its frame
///     GET  /ping         {}
///     POST /compile, /export, /lint      a LiveRequest: the answer of the run
///     POST /compare, /search, /derive, /plan, /calibrate
///                                        a LiveRequest: starts a job
///     POST /editor                       {"program", "method", "params"}: the
///                                        result of the language server
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
  HttpResponse helpEditor(const HttpRequest &request);
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

/// The page runs its own scripts only, and speaks with this server only.
inline constexpr llvm::StringLiteral pagePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data: blob:; connect-src 'self'; frame-src "
    "'self'; base-uri 'none'; form-action 'none'";

/// The page, complete: it loads nothing but from the server's requests. `facts`
/// are its initial contents: `name`, of the file, and `program`; `given`, what
/// the command line says about it; rows of `name` and `summary` in `library`,
/// `targets`, `backwards` and `consumers`, those of plans; `frameworks`, whose
/// rows also have the arguments of a `command` for a schedule NAME; `examples`,
/// rows of `group`, `name`, `summary` and `program`; `timedTargets`, those with
/// a pass that uses costs; and `saved` for a page without a server: `answers`
/// by path, the `picture`, and `state` (page.js), by default the one of
/// `given`.
llvm::FailureOr<std::string> livePage(llvm::json::Object facts,
                                      DiagEngine &diags);

} // namespace pipec
