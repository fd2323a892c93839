//===- LiveApi.cpp - The requests of the live page ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/LiveApi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pipec {

/// How long a compilation waits for a place.
static constexpr auto waitTime = std::chrono::seconds(10);
static constexpr uint64_t maxMemory = uint64_t(4) << 30;
static constexpr size_t maxTabs = 64;

struct LiveCommand {
  StringLiteral path;
  /// The command and its first arguments, separated by blanks.
  StringLiteral arguments;
  /// The run is ended after this time.
  std::chrono::seconds time = std::chrono::seconds(10);
  /// The name of the file that the command writes, if it writes one.
  StringLiteral file = "";
  size_t maxBody = maxBodyBytes;
  bool isJob = false;
  /// The output is not JSON.
  bool writesText = false;
  /// Standard error has lines that are not messages.
  bool tellsProgress = false;
  /// The command reads the program of the page.
  bool readsProgram = true;
};

static constexpr auto jobTime = std::chrono::seconds(180);
static constexpr LiveCommand commands[] = {
    {.path = "/compile",
     .arguments = "compile - --max-steps=1048576 --emit=live"},
    {.path = "/export",
     .arguments = "compile - --max-steps=1048576",
     .writesText = true},
    {.path = "/lint", .arguments = "lint - --input=pipe --format=json"},
    {.path = "/compare",
     .arguments = "compare - --input=pipe --format=json",
     .time = jobTime,
     .isJob = true},
    {.path = "/search",
     .arguments = "search --progress --format=json",
     .time = jobTime,
     .file = "found.steps",
     .isJob = true,
     .tellsProgress = true},
    {.path = "/derive",
     .arguments = "derive - --input=pipe --format=json",
     .time = jobTime,
     .isJob = true},
    {.path = "/plan",
     .arguments = "plan --format=json",
     .time = jobTime,
     .file = "plan",
     .isJob = true,
     .readsProgram = false},
    {.path = "/calibrate",
     .arguments = "calibrate --format=json",
     .time = jobTime,
     .file = "costs.json",
     .maxBody = maxUploadBytes,
     .isJob = true,
     .readsProgram = false},
};

static const LiveCommand *findLiveCommand(StringRef path) {
  const auto *it = find_if(
      commands, [&](const LiveCommand &row) { return row.path == path; });
  return it == std::end(commands) ? nullptr : it;
}

//===----------------------------------------------------------------------===//
// Responses
//===----------------------------------------------------------------------===//

/// The end of the page in the frame, which exchanges messages with the page.
static constexpr char pictureScript[] =
#include "Serve/picture.js.inc"
    ;

/// The frame is a page of its own without access to this one or to the server.
static constexpr StringLiteral picturePolicy =
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri "
    "'none'; form-action 'none'";

static HttpResponse reply(std::string json, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(json);
  return response;
}

static HttpResponse refuse(int status, StringRef why) {
  std::string text;
  raw_string_ostream(text) << json::Value(
      json::Object{{"error", json::fixUTF8(why)}});
  return reply(std::move(text), status);
}

static HttpResponse html(std::string text, StringRef policy) {
  HttpResponse response;
  response.type = "text/html; charset=utf-8";
  response.body = std::move(text);
  response.policy = policy.str();
  return response;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Writes the messages of a run, lines of JSON on standard error, and why it
/// was ended.
static void writeMessages(json::OStream &json, const ChildResult &result,
                          const LiveCommand &command) {
  using End = ChildResult::End;
  auto error = [&](const Twine &message) {
    json.object([&] {
      json.attribute("severity", "error");
      json.attribute("message", json::fixUTF8(message.str()));
    });
  };
  bool skipsText = command.tellsProgress && result.end == End::Exited;
  for (StringRef line : split(result.messages, '\n'))
    // An excerpt in a message of an inner run may be JSON, too.
    if (line.starts_with("{\"kind\":") && line.ends_with("}"))
      json.rawValue(line);
    else if (!line.empty() && !skipsText)
      error(line);
  if (result.end == End::TimeOut)
    error("the compiler was ended after " + Twine(command.time.count()) +
          " seconds");
  if (result.end == End::TooMuchOutput)
    error("the output is larger than this page shows");
  if (result.end == End::Crashed)
    error("the compiler could not be run, or crashed");
}

/// The answer of a run, in which files have their names without the folder.
static std::string answerOf(const ChildResult &result,
                            const LiveCommand &command,
                            const RunFolder &folder) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    json.attributeArray("diagnostics",
                        [&] { writeMessages(json, result, command); });
    StringRef output = result.output;
    json.attributeBegin("output");
    if (command.writesText && result.succeeded())
      json.value(json::fixUTF8(output));
    else if (!command.writesText && result.end == ChildResult::End::Exited &&
             output.ends_with("}\n"))
      json.rawValue(output.drop_back());
    else
      json.value(nullptr);
    json.attributeEnd();
    std::optional<std::string> file = folder.read(command.file);
    bool isWritten = file && result.end == ChildResult::End::Exited;
    json.attribute("file",
                   isWritten ? json::fixUTF8(*file) : json::Value(nullptr));
  });
  std::string path;
  raw_string_ostream(path) << json::Value(json::fixUTF8(folder.path() + "/"));
  StringRef quoted = path;
  for (size_t at = 0; (at = text.find(quoted.slice(1, quoted.size() - 1),
                                      at)) != std::string::npos;)
    text.erase(at, quoted.size() - 2);
  return text;
}

std::shared_ptr<RunFolder> LiveApi::makeFolder() {
  return std::make_shared<RunFolder>(settings.temporary + "/" +
                                     utostr(++lastFolder));
}

/// The run of a command, whose files are in `folder`.
ChildRequest LiveApi::childOf(const LiveCommand &command,
                              const LiveRequest &request,
                              const RunFolder &folder) const {
  ChildRequest run;
  run.program = settings.compiler;
  for (StringRef argument : split(command.arguments, ' '))
    run.arguments.push_back(argument.str());
  run.arguments.push_back("--diagnostics-format=json");
  if (command.readsProgram)
    llvm::append_range(run.arguments, settings.options);
  llvm::append_range(run.arguments, request.arguments);
  if (!command.file.empty())
    run.arguments.push_back("--output=" + folder.file(command.file));
  for (const LiveRequest::File &file : request.files) {
    folder.write(file.name, file.option.empty() ? file.trace : file.text);
    run.arguments.push_back(file.option + folder.file(file.name));
  }
  run.input = request.program;
  run.folder = settings.folder;
  run.time = command.time;
  run.memory = maxMemory;
  return run;
}

std::shared_ptr<std::atomic<bool>>
LiveApi::replaceTab(const LiveRequest &request) {
  auto flag = std::make_shared<std::atomic<bool>>(false);
  if (request.tab.empty())
    return flag;
  std::lock_guard<std::mutex> lock(mutex);
  if (tabs.size() >= maxTabs)
    tabs.clear();
  Tab &tab = tabs[request.tab];
  // Requests on different connections may arrive in another order.
  if (request.serial < tab.serial) {
    *flag = true;
    return flag;
  }
  if (tab.isOld)
    *tab.isOld = true;
  tab = {request.serial, flag};
  return flag;
}

/// Runs a command until a newer request of the same page begins.
HttpResponse LiveApi::runNow(const LiveCommand &command,
                             const LiveRequest &request) {
  using Clock = std::chrono::steady_clock;
  std::shared_ptr<std::atomic<bool>> old = replaceTab(request);
  bool hasPlace = false;
  for (auto end = Clock::now() + waitTime;
       !hasPlace && !*old && Clock::now() < end;)
    hasPlace = places.try_acquire_for(std::chrono::milliseconds(20));
  auto leave = make_scope_exit([&] {
    if (hasPlace)
      places.release();
  });
  if (!hasPlace && !*old)
    return refuse(503, "too many programs are being compiled");
  std::string text;
  if (hasPlace) {
    std::shared_ptr<RunFolder> folder = makeFolder();
    ChildRequest run = childOf(command, request, *folder);
    run.wish = [old] {
      return *old ? ChildRequest::Wish::End : ChildRequest::Wish::GoOn;
    };
    text = answerOf(runner(run), command, *folder);
  }
  if (*old)
    return refuse(409, "a newer version of the program is being compiled");
  return reply(std::move(text));
}

HttpResponse LiveApi::startJob(const LiveCommand &command,
                               const LiveRequest &request) {
  std::shared_ptr<RunFolder> folder = makeFolder();
  ChildRequest run = childOf(command, request, *folder);
  std::optional<uint64_t> job =
      jobs.start(std::move(run), [&command, folder = std::move(folder)](
                                     const ChildResult &result) mutable {
        std::string text = answerOf(result, command, *folder);
        folder.reset();
        return text;
      });
  if (job)
    return reply("{\"job\":" + utostr(*job) + "}");
  return refuse(503, "too many comparisons, searches and calibrations are "
                     "running");
}

HttpResponse LiveApi::follow(const HttpRequest &request) {
  uint64_t id = 0;
  (void)to_integer(request.parameter("id"), id);
  if (request.path == "/cancel")
    (void)jobs.cancel(id);
  std::optional<std::string> state = jobs.state(id);
  return state ? reply(std::move(*state)) : refuse(404, "there is no such job");
}

HttpResponse LiveApi::helpEditor(const HttpRequest &request) {
  if (!places.try_acquire_for(waitTime))
    return refuse(503, "too many programs are being compiled");
  auto leave = make_scope_exit([&] { places.release(); });
  Expected<json::Value> answer =
      answerEditor(request.body, *settings.search, settings.folder);
  if (!answer)
    return refuse(400, toString(answer.takeError()));
  std::string text;
  raw_string_ostream(text) << json::Value(json::Object{{"result", *answer}});
  return reply(std::move(text));
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

size_t LiveApi::maxBody(const HttpRequest &head) {
  const LiveCommand *command = findLiveCommand(head.path);
  return command ? command->maxBody : maxBodyBytes;
}

HttpResponse LiveApi::answer(const HttpRequest &request) {
  StringRef path = request.path;
  bool reads = path == "/" || path == "/picture" || path == "/ping";
  bool follows = path == "/job" || path == "/cancel";
  bool helps = path == "/editor" && settings.search;
  const LiveCommand *command = findLiveCommand(path);
  if (!reads && !follows && !helps && !command)
    return refuse(404, "there is nothing at this path");
  bool isGet = request.method == "GET" || request.method == "HEAD";
  if (reads ? !isGet : request.method != "POST")
    return refuse(405, reads ? "this path is read with GET"
                             : "this path takes POST");
  if (path == "/")
    return html(settings.page, (pagePolicy + "; frame-ancestors 'none'").str());
  if (path == "/picture")
    return html(settings.picture + "<script>\n\"use strict\";\n" +
                    pictureScript + "</script>\n",
                picturePolicy);
  if (path == "/ping")
    return reply("{}");
  if (helps)
    return helpEditor(request);
  if (follows)
    return follow(request);
  Expected<LiveRequest> read =
      LiveRequest::read(request.body, settings.library);
  if (!read)
    return refuse(400, toString(read.takeError()));
  return command->isJob ? startJob(*command, *read) : runNow(*command, *read);
}

} // namespace pipec
