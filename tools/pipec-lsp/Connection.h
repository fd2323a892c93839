//===- Connection.h - Messages from and to an editor ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_TOOLS_PIPEC_LSP_CONNECTION_H
#define PIPEC_TOOLS_PIPEC_LSP_CONNECTION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace pipec::lsp {

/// The maximum size in bytes of a message. Larger ones, up to the second limit,
/// are skipped with a message to the user.
inline constexpr size_t maxMessageBytes = size_t(1) << 26;
inline constexpr size_t maxSkippedBytes = size_t(1) << 32;

/// One message from the editor.
struct Message {
  /// The message; null with `error`.
  llvm::json::Value value = nullptr;
  /// Why the text is not a message; empty if it is one.
  std::string error = {};
  /// Whether the user is told, too.
  bool isShown = false;
  /// Not from the editor, but what another thread leaves to this one.
  std::function<void()> task = {};
};

/// The messages of standard input. A thread of its own reads them, so that the
/// user of the queue can tell what is still to come.
class MessageQueue {
public:
  MessageQueue();

  /// Waits for the next message; nothing at the end of the input.
  std::optional<Message> next();
  /// True if the next message is there.
  bool hasNext();
  /// True if a message that waits changes or closes the document `uri`.
  bool willChange(llvm::StringRef uri);

  /// Adds a message whose `task` is run, from any thread and also after the end
  /// of this object.
  std::function<void(std::function<void()> task)> poster() const;

private:
  /// What the thread shares. It may outlive the queue, since it may wait for
  /// input that never comes.
  struct State {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Message> waiting;
    bool ended = false;
  };
  static void run(State &state);

  std::shared_ptr<State> state = std::make_shared<State>();
};

/// Runs the language server on standard input and `out`. `program` is the
/// first argument of the program, next to which the library of schedules is
/// installed. Returns the exit status: 0 after `shutdown` and `exit`, else 1.
int serve(const char *program, llvm::raw_ostream &out);

} // namespace pipec::lsp

#endif // PIPEC_TOOLS_PIPEC_LSP_CONNECTION_H
