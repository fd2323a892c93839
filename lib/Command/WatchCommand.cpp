//===- WatchCommand.cpp - The watch command -------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/OpenServer.h"
#include "Driver/Input.h"
#include "Driver/OutputName.h"
#include "Serve/ChildRun.h"
#include "Serve/ImportNames.h"
#include "Serve/ServerThread.h"
#include "Serve/SignalWait.h"
#include "Serve/WatchSite.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;

namespace pipec {

/// How often the files are looked at. A change counts when two looks are equal,
/// so that a file is not read while it is being written.
static constexpr auto lookTime = std::chrono::milliseconds(50);
/// The number of looks after which a file that disappeared counts as changed;
/// editors may rename a file for a moment when they save it.
static constexpr unsigned missingLooks = 10;

namespace {

/// What tells one version of a file from another.
struct FileVersion {
  std::string path;
  bool exists = false;
  uint64_t file = 0;
  uint64_t size = 0;
  sys::TimePoint<> time;

  bool operator==(const FileVersion &) const = default;
};

/// One run of the command.
class Watch : CommandRun {
public:
  explicit Watch(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult readOptions();
  LogicalResult startServer();
  void follow();
  void compile();
  std::string missingInput() const;
  void show(bool written, const std::string &messages);
  std::vector<FileVersion> look() const;
  void addFile(const std::string &path, std::set<std::string> &files) const;

  std::string input;
  bool isPage = false;
  std::vector<std::string> arguments;
  std::optional<SignalWait> signals;
  std::optional<WatchSite> site;
  std::optional<ServerThread> thread;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The command line of the compiler: without `watch` and `--port`.
static std::vector<std::string> compileArguments(ArrayRef<const char *> line) {
  std::vector<std::string> arguments;
  for (size_t i = 2; i < line.size(); ++i) {
    StringRef argument = line[i];
    if (argument == "--port")
      ++i;
    else if (!argument.starts_with("--port="))
      arguments.push_back(argument.str());
  }
  return arguments;
}

LogicalResult Watch::readOptions() {
  if (failed(checkPort(*this)) ||
      (args.has(Opt::Port) && failed(checkHasServer(*this))))
    return failure();
  if (!args.has(Opt::Output) || args.text(Opt::Output) == "-")
    return reportUsageError(
        diags, "watch writes a file again and again, and needs its name: -o");
  FailureOr<const EmitterInfo *> emitter = chooseEmitter(args, diags);
  if (failed(emitter))
    return failure();
  isPage = (*emitter)->name == "html";
  if (!isPage && args.has(Opt::Port))
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        args.written(Opt::Port),
                        "on --emit=" + (*emitter)->name.str() +
                            "; watch serves pages of --emit=html only");
  FailureOr<InputRequest> request = InputRequest::read(args, search, diags);
  if (failed(request))
    return failure();
  if (request->path == "-")
    return reportUsageError(diags, "standard input does not change, and watch "
                                   "needs a file");
  FailureOr<OpenedInput> opened = request->open(search, diags);
  if (failed(opened))
    return failure();
  input = opened->path;
  for (const FileVersion &file : look())
    if (sys::fs::equivalent(args.text(Opt::Output), file.path))
      return reportUsageError(diags, "watch would write `" + Twine(file.path) +
                                         "`, a file that it watches");
  arguments = compileArguments(commandLine);
  if (session.useColors(err) && !args.has(Opt::Color))
    arguments.insert(arguments.begin(), "--color=always");
  return success();
}

LogicalResult Watch::startServer() {
  unsigned port;
  FailureOr<std::unique_ptr<HttpServer>> opened = openServer(*this, port);
  if (failed(opened))
    return failure();
  Access access(port);
  site.emplace(args.text(Opt::Output).str());
  thread.emplace(
      std::move(*opened), access,
      [this](const HttpRequest &request) { return site->answer(request); });
  standardOutput() << access.address() << '\n';
  standardOutput().flush();
  return success();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Adds a file and what it imports.
void Watch::addFile(const std::string &path,
                    std::set<std::string> &files) const {
  if (!files.insert(path).second || sys::path::extension(path) != ".pipe")
    return;
  auto text = MemoryBuffer::getFile(path);
  if (!text)
    return;
  for (const std::string &import : importNames((*text)->getBuffer()))
    if (auto found = search.findImport(import, sys::path::parent_path(path)))
      addFile(*found, files);
}

std::vector<FileVersion> Watch::look() const {
  std::set<std::string> files;
  addFile(input, files);
  for (Opt option : {Opt::CostProfile, Opt::Template, Opt::With})
    if (args.has(option))
      if (auto found = search.findInput(args.text(option)))
        addFile(*found, files);
  std::vector<FileVersion> versions;
  for (const std::string &path : files) {
    FileVersion &version = versions.emplace_back();
    version.path = path;
    sys::fs::file_status status;
    version.exists = !sys::fs::status(path, status);
    if (!version.exists)
      continue;
    version.file = status.getUniqueID().getFile();
    version.size = status.getSize();
    version.time = status.getLastModificationTime();
  }
  return versions;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The message that the input cannot be read any more; empty if it can. The
/// compiler would look for a program of its name in the library.
std::string Watch::missingInput() const {
  if (sys::fs::exists(input))
    return "";
  std::string message;
  raw_string_ostream os(message);
  DiagPrinter printer = session.printerTo(os);
  printer.setColors(session.useColors(err));
  printer.setJson(args.text(Opt::DiagnosticsFormat) == "json");
  // This error does not end the run.
  DiagEngine own(session.files(), printer);
  (void)openInput(input, own, noByteLimit);
  return message;
}

/// Shows the result of a run.
void Watch::show(bool written, const std::string &messages) {
  err << messages;
  err.flush();
  if (written)
    standardOutput() << "wrote " << args.text(Opt::Output) << '\n';
  standardOutput().flush();
  if (site)
    site->update(written, messages);
}

void Watch::compile() {
  if (std::string message = missingInput(); !message.empty())
    return show(/*written=*/false, message);
  ChildRequest request;
  request.program = program;
  request.arguments = arguments;
  request.wish = [this] {
    return signals->wait(std::chrono::milliseconds(0))
               ? ChildRequest::Wish::End
               : ChildRequest::Wish::GoOn;
  };
  ChildResult result = runChild(request);
  if (result.end != ChildResult::End::Ended)
    show(result.succeeded(), result.messages);
}

/// Compiles after every change until a signal comes.
void Watch::follow() {
  std::vector<FileVersion> compiled, last;
  unsigned missing = 0;
  while (!signals->wait(lookTime)) {
    std::vector<FileVersion> now = look();
    bool isStable = now == last;
    last = now;
    if (now == compiled || !isStable) {
      missing = 0;
      continue;
    }
    bool anyMissing =
        any_of(now, [](const FileVersion &one) { return !one.exists; });
    if (anyMissing && ++missing < missingLooks)
      continue;
    missing = 0;
    compiled = std::move(now);
    compile();
  }
}

LogicalResult Watch::run() {
  if (failed(readOptions()))
    return failure();
  signals.emplace(); // before there are threads
  if (isPage && makeServer && failed(startServer()))
    return failure();
  follow();
  if (thread && !thread->end())
    leaveProcess(*this);
  return success();
}

LogicalResult runWatch(const CommandRun &run) { return Watch(run).run(); }

} // namespace pipec
