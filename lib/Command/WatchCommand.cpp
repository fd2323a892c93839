//===- WatchCommand.cpp - The watch command -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/OpenServer.h"
#include "Driver/Input.h"
#include "Parse/Parser.h"
#include "Serve/ChildRun.h"
#include "Serve/WatchSite.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>
#include <set>

using namespace llvm;

namespace pipec {

/// The interval between two polls of the files. A change counts when two polls
/// agree, so that a file is not read while it is being written.
static constexpr auto lookTime = std::chrono::milliseconds(50);
/// The number of polls after which a file that disappeared counts as changed;
/// editors may rename a file for a moment when they save it.
static constexpr unsigned missingLooks = 10;
/// The time between SIGINT to the compiler and its end.
static constexpr auto patience = std::chrono::seconds(2);

namespace {

/// The attributes that differ between versions of a file.
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
  void follow();
  void compile();
  std::string missingInput() const;
  void show(bool written, const std::string &messages);
  bool isOutput(llvm::StringRef path) const;
  std::vector<FileVersion> look();
  void addProgram(const std::string &path, std::set<std::string> &files);

  /// The imports of a program; after a syntax error, of its last good version.
  struct Imports {
    FileVersion read;
    std::vector<std::string> names;
  };
  std::map<std::string, Imports> programs;
  std::string input;
  bool isProgram = false;
  bool isPage = false;
  std::vector<std::string> arguments;
  std::optional<SignalWait> signals;
  std::optional<WatchSite> site;
  std::optional<LocalServer> server;
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
  if (args.has(Opt::Port) && failed(checkHasServer(*this)))
    return failure();
  FailureOr<const EmitterInfo *> emitter = chooseEmitter(args, diags);
  if (failed(emitter))
    return failure();
  isPage = (*emitter)->name == "html";
  if (!isPage && args.has(Opt::Port))
    return args.reportUseless(Opt::Port,
                              "on --emit=" + (*emitter)->name +
                                  "; watch serves pages of --emit=html only",
                              diags);
  FailureOr<InputRequest> request = InputRequest::read(args, search, diags);
  if (failed(request))
    return failure();
  if (request->path == "-")
    return diags.report(DiagLoc(), diag::OptionNeeds, "pipec watch",
                        "a file: standard input does not change");
  FailureOr<OpenedInput> opened = request->open(search, diags);
  if (failed(opened))
    return failure();
  input = opened->path;
  isProgram = opened->kind == InputKind::Program;
  for (const FileVersion &file : look())
    if (sys::fs::equivalent(args.text(Opt::Output), file.path))
      return reportUsageError(diags, "watch would write `" + Twine(file.path) +
                                         "`, a file that it watches");
  arguments = compileArguments(commandLine);
  if (session.useColors(err) && !args.has(Opt::Color))
    arguments.insert(arguments.begin(), "--color=always");
  return success();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// True for the name of the output, which may not exist yet.
bool Watch::isOutput(StringRef path) const {
  StringRef output = args.text(Opt::Output);
  return sys::path::filename(path) == sys::path::filename(output) &&
         sys::fs::equivalent(path, output);
}

static FileVersion versionOf(const std::string &path) {
  FileVersion version;
  version.path = path;
  sys::fs::file_status status;
  version.exists = !sys::fs::status(path, status);
  if (version.exists) {
    version.file = status.getUniqueID().getFile();
    version.size = status.getSize();
    version.time = status.getLastModificationTime();
  }
  return version;
}

/// Reads the names of the imports of a program; keeps `names` if the program
/// has syntax errors.
static void readImports(StringRef path, std::vector<std::string> &names) {
  auto text = MemoryBuffer::getFile(path);
  if (!text)
    return;
  SourceFiles files;
  DiagEngine silent(files, [](const Diagnostic &) {});
  ast::Context context;
  FailureOr<ast::Module *> module =
      parsePipe(path, (*text)->getBuffer(), context, silent);
  if (failed(module))
    return;
  names.clear();
  for (const ast::ImportDecl &import : (*module)->imports)
    names.push_back(import.path.value.str());
}

/// Adds a program and its imports, also missing ones.
void Watch::addProgram(const std::string &path, std::set<std::string> &files) {
  if (!files.insert(path).second || !sys::fs::is_regular_file(path))
    return;
  Imports &imports = programs[path];
  if (FileVersion now = versionOf(path); !(now == imports.read)) {
    imports.read = now;
    readImports(path, imports.names);
  }
  StringRef folder = sys::path::parent_path(path);
  for (const std::string &import : imports.names) {
    SmallString<256> expected(folder);
    sys::path::append(expected, import);
    auto found = search.findImport(import, folder);
    addProgram(found.value_or(std::string(expected)), files);
  }
}

std::vector<FileVersion> Watch::look() {
  std::set<std::string> files;
  if (isProgram)
    addProgram(input, files);
  files.insert(input);
  for (Opt option : {Opt::CostProfile, Opt::Template})
    if (args.has(option))
      files.insert(args.text(option).str());
  // The partials of a template are in its folder.
  if (args.has(Opt::Template)) {
    StringRef folder = sys::path::parent_path(args.text(Opt::Template));
    std::error_code error;
    for (sys::fs::directory_iterator
             it(folder.empty() ? StringRef(".") : folder, error),
         end;
         it != end && !error; it.increment(error))
      if (sys::path::extension(it->path()) == ".mustache" &&
          !isOutput(it->path()))
        files.insert(it->path());
  }
  if (args.has(Opt::With)) {
    std::string name = args.text(Opt::With).str();
    std::string path = search.findInput(name).value_or(name);
    if (sys::path::extension(path) == ".pipe")
      addProgram(path, files);
    files.insert(path);
  }
  std::vector<FileVersion> versions;
  for (const std::string &path : files)
    versions.push_back(versionOf(path));
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
    (void)announce("wrote " + args.text(Opt::Output));
  if (site)
    site->update(written, messages);
}

void Watch::compile() {
  if (std::string message = missingInput(); !message.empty())
    return show(/*written=*/false, message);
  ChildRequest request;
  request.program = program;
  request.arguments = arguments;
  // An interrupted compiler removes its temporary file.
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> interrupted;
  request.wish = [&] {
    if (!signals->wait(std::chrono::milliseconds(0)))
      return ChildRequest::Wish::GoOn;
    if (!interrupted)
      interrupted = Clock::now();
    return Clock::now() - *interrupted > patience
               ? ChildRequest::Wish::End
               : ChildRequest::Wish::Interrupt;
  };
  ChildResult result = runChild(request);
  if (result.end == ChildResult::End::Ended)
    return;
  if (result.end != ChildResult::End::Exited)
    result.messages +=
        "pipec: error: the compiler could not be run, or crashed\n";
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
  if (isPage && makeServer) {
    site.emplace(args.text(Opt::Output).str());
    auto answer = [this](const HttpRequest &request) {
      return site->answer(request);
    };
    if (failed(server.emplace().start(*this, answer)))
      return failure();
  }
  follow();
  if (server && !server->end())
    leaveProcess(*this);
  return success();
}

LogicalResult runWatch(const CommandRun &run) { return Watch(run).run(); }

} // namespace pipec
