//===- LiveApi.cpp - What the live page asks for --------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/LiveApi.h"

#include "Serve/OrderFiles.h"
#include "Serve/RunAnswer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <future>

using namespace llvm;

namespace pipec {

/// A compilation is ended after this time.
static constexpr auto compileTime = std::chrono::seconds(10);
/// How long a compilation waits for a place.
static constexpr auto waitTime = std::chrono::seconds(10);
static constexpr unsigned maxPictures = 32;
static constexpr size_t maxPictureBytes = size_t(1) << 28;
static constexpr size_t maxTabs = 64;

/// The end of a picture that the page shows, which no other page has: it takes
/// and sends messages.
static constexpr char pictureScript[] =
#include "Serve/picture.js.inc"
    ;

static constexpr const char *reportArguments[] = {"--emit=report",
                                                  "--format=json"};

//===----------------------------------------------------------------------===//
// Responses
//===----------------------------------------------------------------------===//

static HttpResponse reply(json::Object object, int status = 200) {
  HttpResponse response;
  response.status = status;
  raw_string_ostream os(response.body);
  os << json::Value(std::move(object));
  return response;
}

static HttpResponse refuse(int status, StringRef why) {
  return reply(json::Object{{"error", json::fixUTF8(why)}}, status);
}

static HttpResponse refuseOld() {
  return refuse(409, "a newer version of the program is being compiled");
}

static HttpResponse html(std::string text, StringRef policy) {
  HttpResponse response;
  response.type = "text/html; charset=utf-8";
  response.body = std::move(text);
  response.policy = policy.str();
  return response;
}

//===----------------------------------------------------------------------===//
// Compilations
//===----------------------------------------------------------------------===//

/// Runs the compiler for one order, until a newer one of the same page begins.
struct LiveApi::Compilation {
  Compilation(LiveApi &api, const ProgramOrder &order)
      : api(api), order(order), old(api.replaceTab(order)),
        hasPlace(waitForPlace()), files(order, api.folder) {}
  ~Compilation() {
    if (hasPlace)
      api.places.release();
  }

  ChildResult run(std::vector<std::string> arguments) {
    ChildRequest request = api.settings.runProgram(std::move(arguments),
                                                   order.program, compileTime);
    request.wish = [this] {
      return *old ? ChildRequest::Wish::End : ChildRequest::Wish::GoOn;
    };
    return api.runner(request);
  }

  /// True with a place; false after `waitTime`, or when a newer order comes.
  bool waitForPlace() {
    auto end = std::chrono::steady_clock::now() + waitTime;
    while (!*old && std::chrono::steady_clock::now() < end)
      if (api.places.try_acquire_for(std::chrono::milliseconds(20)))
        return true;
    return false;
  }

  LiveApi &api;
  const ProgramOrder &order;
  std::shared_ptr<std::atomic<bool>> old;
  const bool hasPlace;
  const OrderFiles files;
};

std::shared_ptr<std::atomic<bool>>
LiveApi::replaceTab(const ProgramOrder &order) {
  auto flag = std::make_shared<std::atomic<bool>>(false);
  if (order.tab.empty())
    return flag;
  std::lock_guard<std::mutex> lock(mutex);
  if (tabs.size() >= maxTabs)
    tabs.clear();
  Tab &tab = tabs[order.tab];
  // Orders on different connections may arrive in another order.
  if (order.serial < tab.serial) {
    *flag = true;
    return flag;
  }
  if (tab.isOld)
    *tab.isOld = true;
  tab = {order.serial, flag};
  return flag;
}

uint64_t LiveApi::keepPicture(std::string text) {
  std::lock_guard<std::mutex> lock(mutex);
  pictures.emplace_back(++lastPicture, std::move(text));
  size_t bytes = 0;
  for (const auto &[id, picture] : pictures)
    bytes += picture.size();
  while (pictures.size() > 1 &&
         (pictures.size() > maxPictures || bytes > maxPictureBytes)) {
    bytes -= pictures.front().second.size();
    pictures.pop_front();
  }
  return lastPicture;
}

HttpResponse LiveApi::compile(const ProgramOrder &order) {
  Compilation compilation(*this, order);
  if (*compilation.old)
    return refuseOld();
  if (!compilation.hasPlace)
    return refuse(503, "too many programs are being compiled");
  // The runs are independent of each other; most of each is the start of the
  // program.
  auto start = [&](std::vector<std::string> arguments) {
    return std::async(std::launch::async,
                      [&, arguments = std::move(arguments)] {
                        return compilation.run(arguments);
                      });
  };
  auto described = start({"-", "--input=pipe", "--describe", "--format=json",
                          "--diagnostics-format=json"});
  const OrderPaths &paths = compilation.files.paths();
  std::vector<std::string> arguments = order.lowering(paths);
  llvm::append_range(arguments, order.withSecond(paths));
  std::vector<std::string> drawing = arguments;
  llvm::append_range(arguments, reportArguments);
  auto report = start(std::move(arguments));
  auto checked = start(order.checking(paths));
  drawing.push_back("--emit=html");
  ChildResult drawn = compilation.run(std::move(drawing));

  json::Object answer;
  // The parameters exist where the program can be parsed, even if it cannot be
  // compiled.
  if (auto object = readObject(described.get().output))
    answer = std::move(*object);
  json::Array messages = messagesOf(drawn, compileTime);
  // Other errors of the check are those of the picture, too.
  if (drawn.succeeded())
    for (json::Value &one : messagesOf(checked.get(), compileTime))
      if (one.getAsObject()->getString("kind") == "ExpectFailed")
        messages.push_back(std::move(one));
  answer["diagnostics"] = std::move(messages);
  showNames(answer, compilation.files.names());
  if (drawn.succeeded()) {
    answer["picture"] = int64_t(keepPicture(std::move(drawn.output) +
                                            "<script>\n\"use strict\";\n" +
                                            pictureScript + "</script>\n"));
    if (auto object = readReport(report.get())) {
      if (json::Object *second = object->getObject("with"))
        answer["with"] = std::move(*second);
      object->erase("with");
      answer["report"] = std::move(*object);
    }
  }
  if (*compilation.old)
    return refuseOld();
  return reply(std::move(answer));
}

HttpResponse LiveApi::exportAs(const ProgramOrder &order, StringRef kind) {
  static constexpr std::pair<StringLiteral, StringLiteral> kinds[] = {
      {"svg", "svg"}, {"csv", "csv"}, {"steps", "ir"}, {"html", "html"}};
  const auto *it =
      find_if(kinds, [&](const auto &row) { return row.first == kind; });
  if (it == std::end(kinds))
    return refuse(400, "`as` is not svg, csv, steps or html");
  // An export does not end the compilation of its page.
  ProgramOrder alone = order;
  alone.tab.clear();
  Compilation compilation(*this, alone);
  if (!compilation.hasPlace)
    return refuse(503, "too many programs are being compiled");
  const OrderPaths &paths = compilation.files.paths();
  std::vector<std::string> arguments = order.lowering(paths);
  arguments.push_back("--emit=" + it->second.str());
  // Costs without an effect are an error of the compiler.
  auto target = settings.targets.find(order.target);
  bool usesCosts =
      kind != "csv" || (target != settings.targets.end() && target->second);
  if (!usesCosts)
    llvm::erase_if(arguments, [](StringRef argument) {
      return argument.starts_with("--cost=") ||
             argument.starts_with("--cost-profile=");
    });
  if (kind == "html")
    llvm::append_range(arguments, order.withSecond(paths));
  ChildResult result = compilation.run(std::move(arguments));
  json::Object answer;
  answer["diagnostics"] = messagesOf(result, compileTime);
  showNames(answer, compilation.files.names());
  if (result.succeeded())
    answer["text"] = json::fixUTF8(result.output);
  return reply(std::move(answer));
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

HttpResponse LiveApi::started(std::optional<uint64_t> job) {
  if (!job)
    return refuse(503, "too many comparisons, searches and calibrations are "
                       "running");
  return reply(json::Object{{"job", int64_t(*job)}});
}

HttpResponse LiveApi::startJob(const ProgramOrder &order, StringRef path) {
  if (!order.ranks || !order.microbatches)
    return refuse(400, "`ranks` and `microbatches` are needed");
  return started(path == "/compare" ? jobs.compare(order) : jobs.search(order));
}

HttpResponse LiveApi::calibrate(StringRef body) {
  TraceUpload traces;
  if (std::string error = traces.read(body); !error.empty())
    return refuse(400, error);
  return started(jobs.calibrate(traces));
}

HttpResponse LiveApi::follow(const json::Object &body, bool cancel) {
  int64_t id = body.getInteger("job").value_or(0);
  if (cancel && !jobs.cancel(id))
    return refuse(404, "there is no such job");
  std::optional<json::Object> state = jobs.state(id);
  if (!state)
    return refuse(404, "there is no such job");
  return reply(std::move(*state));
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// The page runs its own scripts only, and speaks with this server only.
static constexpr StringLiteral pagePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data: blob:; connect-src 'self'; frame-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A picture is a page of its own without access to this one or to the server.
static constexpr StringLiteral picturePolicy =
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri "
    "'none'; form-action 'none'";

/// The only path whose body may be longer than `maxBodyBytes`.
static constexpr StringLiteral calibratePath = "/calibrate";

size_t LiveApi::maxBody(const HttpRequest &head) {
  return head.path == calibratePath ? maxTraceBytes : maxBodyBytes;
}

HttpResponse LiveApi::picture(const HttpRequest &request) {
  uint64_t id = 0;
  (void)to_integer(request.parameter("id"), id);
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &[number, text] : pictures)
    if (number == id)
      return html(text, picturePolicy);
  return refuse(404, "the picture is not kept any more");
}

HttpResponse LiveApi::answer(const HttpRequest &request) {
  StringRef path = request.path;
  if (path == "/" || path == "/picture" || path == "/ping") {
    if (request.method != "GET" && request.method != "HEAD")
      return refuse(405, "this path is read with GET");
    if (path == "/")
      return html(settings.page, pagePolicy);
    return path == "/ping" ? reply({}) : picture(request);
  }
  static constexpr StringLiteral posts[] = {"/compile",   "/export", "/compare",
                                            "/search",    "/job",    "/cancel",
                                            calibratePath};
  if (!is_contained(posts, path))
    return refuse(404, "there is nothing at this path");
  if (request.method != "POST")
    return refuse(405, "this path takes POST");
  if (path == calibratePath)
    return calibrate(request.body);
  std::optional<json::Object> body = readObject(request.body);
  if (!body)
    return refuse(400, "the body is not an object of JSON");
  if (path == "/job" || path == "/cancel")
    return follow(*body, path == "/cancel");
  ProgramOrder order;
  if (std::string error = order.read(*body); !error.empty())
    return refuse(400, error);
  if (!order.withName.empty()) {
    auto it = settings.library.find(order.withName);
    if (it == settings.library.end())
      return refuse(400, "`withName` is not a schedule of the library");
    order.withFile = it->second;
  }
  if (!order.target.empty() && !settings.targets.count(order.target))
    return refuse(400, "`target` is not a target");
  if (!order.backward.empty() && !settings.backwards.count(order.backward))
    return refuse(400, "`backward` is not a form of backwards");
  if (path == "/export")
    return exportAs(order, body->getString("as").value_or(""));
  return path == "/compile" ? compile(order) : startJob(order, path);
}

} // namespace pipec
