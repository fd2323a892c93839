//===- Commands.cpp - Commands of an editor that take long ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "LanguageServer/EditorRun.h"
#include "Serve/ChildRun.h"

#include "mlir/Tools/lsp-server-support/Protocol.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace pipec::lsp {

/// The limits of a run.
static constexpr std::chrono::seconds maxTime(30);
static constexpr uint64_t maxCommandMemory = uint64_t(4) << 30;
static constexpr size_t maxRuns = 2;

static Error failedWith(mlir::lsp::ErrorCode code, const Twine &why) {
  return make_error<mlir::lsp::LSPError>(why.str(), code);
}

Commands::~Commands() {
  endChildren();
  for (auto &[number, job] : jobs)
    job->thread.join();
}

void Commands::report(const Job &job, StringRef kind, json::Object value) {
  if (job.token == nullptr)
    return;
  value["kind"] = kind;
  notify("$/progress",
         json::Object{{"token", job.token}, {"value", std::move(value)}});
}

/// Runs the program in this thread.
static ChildResult runCommand(const EditorRun &run, std::string compiler,
                              const std::atomic<bool> &isCancelled,
                              std::function<void(StringRef)> onMessages,
                              std::string &file) {
  ChildRequest request;
  request.program = std::move(compiler);
  request.arguments = run.arguments;
  request.input = run.text;
  request.folder = run.folder;
  request.time = maxTime;
  request.memory = maxCommandMemory;
  request.onMessages = std::move(onMessages);
  request.wish = [&] {
    return isCancelled ? ChildRequest::Wish::End : ChildRequest::Wish::GoOn;
  };
  SmallString<128> path;
  if (run.isSearch && !sys::fs::createTemporaryFile("pipec", "pipe", path))
    request.arguments.push_back("--output=" + path.str().str());
  // A folder that does not exist cannot hold imports either.
  if (!sys::fs::is_directory(request.folder))
    request.folder.clear();
  ChildResult result = runChild(request);
  if (!path.empty()) {
    if (auto text = MemoryBuffer::getFile(path))
      file = (*text)->getBuffer().str();
    sys::fs::remove(path);
  }
  return result;
}

void Commands::start(EditorRun run, json::Value id, json::Value token,
                     Reply reply) {
  if (jobs.size() == maxRuns)
    return reply(failedWith(mlir::lsp::ErrorCode::RequestFailed,
                            "two other commands are running"));
  uint64_t number = ++last;
  if (token == nullptr && server.showsProgress()) {
    token = "pipec-" + utostr(number);
    call("window/workDoneProgress/create", json::Object{{"token", token}});
  }
  auto job = std::make_shared<Job>();
  job->run = std::move(run);
  job->id = std::move(id);
  job->token = std::move(token);
  job->reply = std::move(reply);
  jobs[number] = job;
  report(*job, "begin",
         json::Object{{"title", job->run.title()}, {"cancellable", true}});
  job->thread =
      std::thread([this, job, number, compiler = compiler, post = post] {
        auto onMessages = [&](StringRef text) {
          std::string line = progressIn(text).str();
          if (!line.empty())
            post([this, job, line] {
              report(*job, "report", json::Object{{"message", line}});
            });
        };
        CommandOutput output;
        ChildResult result = runCommand(job->run, compiler, job->isCancelled,
                                        onMessages, output.file);
        output.succeeded = result.succeeded();
        output.output = std::move(result.output);
        output.messages = std::move(result.messages);
        bool isLate = result.end == ChildResult::End::TimeOut;
        post([this, number, output = std::move(output), isLate] {
          finish(number, output, isLate);
        });
      });
}

void Commands::finish(uint64_t number, const CommandOutput &output,
                      bool isLate) {
  std::shared_ptr<Job> job = std::move(jobs[number]);
  jobs.erase(number);
  job->thread.join();
  report(*job, "end", json::Object());
  if (job->isCancelled)
    return job->reply(failedWith(mlir::lsp::ErrorCode::RequestCancelled,
                                 "`" + job->run.title() + "` was cancelled"));
  if (isLate)
    return job->reply(failedWith(mlir::lsp::ErrorCode::RequestFailed,
                                 "`" + job->run.title() + "` took more than " +
                                     Twine(maxTime.count()) + " seconds"));
  Expected<CommandResult> result = server.resultOf(job->run, output);
  if (!result) {
    handleAllErrors(result.takeError(), [&](const RequestError &error) {
      job->reply(failedWith(mlir::lsp::ErrorCode(error.code), error.message));
    });
    return;
  }
  if (result->edit != nullptr)
    call("workspace/applyEdit",
         json::Object{{"label", job->run.title()}, {"edit", result->edit}});
  notify(
      "window/showMessage",
      json::Object{{"type", 3}, {"message", json::fixUTF8(result->message)}});
  job->reply(std::move(result->answer));
}

void Commands::cancel(const json::Value &id) {
  for (auto &[number, job] : jobs)
    if (job->id == id)
      job->isCancelled = true;
}

void Commands::cancelProgress(const json::Value &token) {
  for (auto &[number, job] : jobs)
    if (token != nullptr && job->token == token)
      job->isCancelled = true;
}

} // namespace pipec::lsp
