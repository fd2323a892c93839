//===- Commands.h - Commands of an editor that take long --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_TOOLS_PIPEC_LSP_COMMANDS_H
#define PIPEC_TOOLS_PIPEC_LSP_COMMANDS_H

#include "LanguageServer/EditorRun.h"

#include "llvm/ADT/FunctionExtras.h"

#include <atomic>
#include <map>
#include <thread>

namespace pipec::lsp {

/// The runs of `pipec` for commands of the editor. Each has a thread, which
/// follows its process; the editor is spoken to by the thread of this object
/// alone.
class Commands {
public:
  using Reply = llvm::unique_function<void(llvm::Expected<llvm::json::Value>)>;
  /// Runs a function in the thread of this object.
  using Post = std::function<void(std::function<void()>)>;
  /// Sends a request to the editor, whose answer is not needed.
  using Call =
      std::function<void(llvm::StringRef method, llvm::json::Value params)>;

  Commands(Server &server, std::string compiler, Post post,
           Server::Notify notify, Call call)
      : server(server), compiler(std::move(compiler)), post(std::move(post)),
        notify(std::move(notify)), call(std::move(call)) {}
  /// Ends all runs, and waits for them.
  ~Commands();

  /// Starts a run, which replies when it ends. `id` is that of the request, and
  /// `token` of its progress, null if the editor gave none.
  void start(EditorRun run, llvm::json::Value id, llvm::json::Value token,
             Reply reply);
  /// Ends the run of the request `id`, or with this token; ignores others.
  void cancel(const llvm::json::Value &id);
  void cancelProgress(const llvm::json::Value &token);

private:
  struct Job {
    EditorRun run;
    llvm::json::Value id = nullptr, token = nullptr;
    Reply reply;
    std::atomic<bool> isCancelled = false;
    /// Follows the process.
    std::thread thread = {};
  };
  void report(const Job &job, llvm::StringRef kind, llvm::json::Object value);
  void finish(uint64_t number, const CommandOutput &output, bool isLate);

  Server &server;
  const std::string compiler;
  Post post;
  Server::Notify notify;
  Call call;
  uint64_t last = 0;
  std::map<uint64_t, std::shared_ptr<Job>> jobs;
};

} // namespace pipec::lsp

#endif // PIPEC_TOOLS_PIPEC_LSP_COMMANDS_H
