//===- Connection.cpp - Messages from and to an editor --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Connection.h"
#include "Commands.h"

#include "LanguageServer/Server.h"
#include "Support/Json.h"

#include "mlir/Tools/lsp-server-support/Logging.h"
#include "mlir/Tools/lsp-server-support/Protocol.h"
#include "mlir/Tools/lsp-server-support/Transport.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

using namespace llvm;

namespace pipec::lsp {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// The bytes of standard input. A `FILE` would be locked while it waits, also
/// at the exit of the program.
class Input {
public:
  /// The next byte; nothing at the end.
  std::optional<char> next() {
    if (at == size && !fill())
      return std::nullopt;
    return buffer[at++];
  }
  /// Reads `text.size()` bytes; false at the end.
  bool read(std::string &text) {
    for (size_t done = 0; done != text.size();) {
      if (at == size && !fill())
        return false;
      size_t part = std::min(text.size() - done, size - at);
      std::copy_n(buffer.begin() + at, part, text.begin() + done);
      at += part;
      done += part;
    }
    return true;
  }
  /// Reads `count` bytes that are not needed; false at the end.
  bool skip(size_t count) {
    while (count) {
      if (at == size && !fill())
        return false;
      size_t part = std::min(count, size - at);
      at += part;
      count -= part;
    }
    return true;
  }

private:
  bool fill() {
    Expected<size_t> count =
        sys::fs::readNativeFile(sys::fs::getStdinHandle(), buffer);
    at = 0;
    size = count ? *count : 0;
    if (!count)
      consumeError(count.takeError());
    return size != 0;
  }

  std::array<char, 1 << 16> buffer;
  size_t at = 0;
  size_t size = 0;
};

} // namespace

/// Reads the header of the next message: the size of its body. Text that is not
/// a header is skipped. Nothing at the end of the input.
static std::optional<size_t> readHeader(Input &in) {
  std::optional<size_t> size;
  std::string line;
  while (std::optional<char> c = in.next()) {
    if (*c != '\n') {
      // Longer lines are not headers.
      if (line.size() == 256)
        line.erase(0, 128);
      line += *c;
      continue;
    }
    StringRef text = StringRef(line).trim();
    // After a message with a wrong size, its rest may precede a header.
    StringRef key = "Content-Length:";
    if (size_t at = text.rfind_insensitive(key); at != StringRef::npos) {
      size_t number = 0;
      size.reset();
      if (!text.drop_front(at + key.size()).trim().getAsInteger(10, number) &&
          number != 0 && number <= maxSkippedBytes)
        size = number;
    } else if (text.empty() && size) {
      return size;
    }
    line.clear();
  }
  return std::nullopt;
}

static Message parseMessage(StringRef text) {
  // Text that is not UTF-8 is not JSON either; what can be read is used.
  std::string fixed;
  if (!json::isUTF8(text))
    text = fixed = json::fixUTF8(text);
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return {nullptr, toString(value.takeError())};
  return {std::move(*value)};
}

MessageQueue::MessageQueue() {
  std::thread([state = state] { run(*state); }).detach();
}

void MessageQueue::run(State &state) {
  auto in = std::make_unique<Input>();
  std::string text;
  while (std::optional<size_t> size = readHeader(*in)) {
    Message message;
    if (*size > maxMessageBytes) {
      if (!in->skip(*size))
        break;
      message = {nullptr,
                 "a message of " + std::to_string(*size) +
                     " bytes is larger than the limit of " +
                     std::to_string(maxMessageBytes) + " bytes",
                 /*isShown=*/true};
    } else {
      text.resize(*size);
      if (!in->read(text))
        break;
      message = parseMessage(text);
    }
    std::lock_guard lock(state.mutex);
    state.waiting.push_back(std::move(message));
    state.wake.notify_one();
  }
  std::lock_guard lock(state.mutex);
  state.ended = true;
  state.wake.notify_one();
}

std::optional<Message> MessageQueue::next() {
  std::unique_lock lock(state->mutex);
  state->wake.wait(lock,
                   [&] { return !state->waiting.empty() || state->ended; });
  if (state->waiting.empty())
    return std::nullopt;
  Message message = std::move(state->waiting.front());
  state->waiting.pop_front();
  return message;
}

std::function<void(std::function<void()>)> MessageQueue::poster() const {
  return [state = state](std::function<void()> task) {
    std::lock_guard lock(state->mutex);
    state->waiting.push_back({.task = std::move(task)});
    state->wake.notify_one();
  };
}

bool MessageQueue::hasNext() {
  std::lock_guard lock(state->mutex);
  return !state->waiting.empty() || state->ended;
}

bool MessageQueue::willChange(StringRef uri) {
  std::lock_guard lock(state->mutex);
  for (const Message &message : state->waiting) {
    const json::Object *object = message.value.getAsObject();
    std::optional<StringRef> method;
    if (object)
      method = object->getString("method");
    if (!method || (*method != "textDocument/didChange" &&
                    *method != "textDocument/didClose"))
      continue;
    const json::Object *params = object->getObject("params");
    const json::Object *document =
        params ? params->getObject("textDocument") : nullptr;
    if (document && document->getString("uri") == uri)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Dispatching
//===----------------------------------------------------------------------===//

namespace {

using mlir::lsp::Callback;

/// The parameters of a message in any form.
struct AnyParams {
  json::Value value = nullptr;
};

bool fromJSON(const json::Value &value, AnyParams &params, json::Path) {
  params.value = value;
  return true;
}

/// Passes the messages of one method on to the server.
struct Forward {
  Server &server;
  Commands &commands;
  /// The `id` of the request that is being answered.
  const json::Value &id;
  StringLiteral method;

  void request(const AnyParams &params, Callback<json::Value> reply) {
    if (method == "workspace/executeCommand")
      if (const json::Object *object = params.value.getAsObject()) {
        Expected<std::optional<EditorRun>> run = server.editorRun(*object);
        if (!run)
          return fail(run.takeError(), reply);
        if (*run) {
          const json::Value *token = object->get("workDoneToken");
          return commands.start(std::move(**run), id,
                                token ? *token : json::Value(nullptr),
                                std::move(reply));
        }
      }
    Expected<json::Value> answer = server.request(method, params.value);
    if (answer)
      return reply(std::move(*answer));
    fail(answer.takeError(), reply);
  }
  static void fail(Error why, Callback<json::Value> &reply) {
    handleAllErrors(std::move(why), [&](const RequestError &error) {
      reply(make_error<mlir::lsp::LSPError>(error.message,
                                            mlir::lsp::ErrorCode(error.code)));
    });
  }
  void notification(const AnyParams &params) {
    server.notification(method, params.value);
  }
};

} // namespace

/// The value of a member of a message; null if it is absent.
static json::Value take(const json::Object &message, StringRef key) {
  const json::Value *value = message.get(key);
  return value ? *value : json::Value(nullptr);
}

int serve(const char *program, raw_ostream &out) {
  // Its input stays unused: `run` of the transport ends at every message that
  // is not one of JSON-RPC, and does not show which messages are waiting.
  mlir::lsp::JSONTransport transport(stdin, out);
  mlir::lsp::MessageHandler handler(transport);
  auto notify = [&](StringRef method, json::Value params) {
    transport.notify(method, std::move(params));
  };
  Server server(SearchPath(programPath(program), {}), notify);
  MessageQueue queue;
  SmallString<256> compiler(programPath(program));
  sys::path::remove_filename(compiler);
  sys::path::append(compiler, "pipec");
  // The ids of requests to the editor are not those of its own.
  uint64_t numCalls = 0;
  Commands commands(server, std::string(compiler), queue.poster(), notify,
                    [&](StringRef method, json::Value params) {
                      transport.call(method, std::move(params),
                                     "pipec-" + std::to_string(++numCalls));
                    });
  json::Value id = nullptr;
  std::vector<std::unique_ptr<Forward>> forwards;
  for (StringLiteral method : Server::requests()) {
    forwards.push_back(
        std::make_unique<Forward>(Forward{server, commands, id, method}));
    handler.method(method, forwards.back().get(), &Forward::request);
  }
  for (StringLiteral method : Server::notifications()) {
    forwards.push_back(
        std::make_unique<Forward>(Forward{server, commands, id, method}));
    handler.notification(method, forwards.back().get(), &Forward::notification);
  }
  auto refuse = [&](json::Value id, const Twine &why,
                    mlir::lsp::ErrorCode code) {
    transport.reply(std::move(id),
                    make_error<mlir::lsp::LSPError>(why.str(), code));
  };

  auto isOutdated = [&](StringRef uri) { return queue.willChange(uri); };
  for (;;) {
    // Documents are analysed when nothing else is to be done.
    while (!queue.hasNext() && server.analyseNext(isOutdated))
      ;
    std::optional<Message> message = queue.next();
    if (!message)
      return 1;
    if (message->task) {
      message->task();
      continue;
    }
    if (!message->error.empty()) {
      refuse(nullptr, message->error, mlir::lsp::ErrorCode::ParseError);
      if (message->isShown)
        transport.notify(
            "window/showMessage",
            json::Object{{"type", 1}, {"message", "pipec: " + message->error}});
      continue;
    }
    json::Object *object = message->value.getAsObject();
    if (!object ||
        object->getString("jsonrpc") != std::optional<StringRef>("2.0")) {
      refuse(nullptr, "not a message of JSON-RPC 2.0",
             mlir::lsp::ErrorCode::InvalidRequest);
      continue;
    }
    std::optional<StringRef> method = object->getString("method");
    if (!method)
      continue; // an answer, and nothing was asked
    if (*method == "exit")
      return server.isShutDown() ? 0 : 1;
    json::Value params = take(*object, "params");
    if (const json::Value *given = object->get("id")) {
      id = *given;
      handler.onCall(*method, std::move(params), id);
    } else if (const json::Object *about = params.getAsObject();
               about && *method == "$/cancelRequest") {
      commands.cancel(take(*about, "id"));
    } else if (about && *method == "window/workDoneProgress/cancel") {
      commands.cancelProgress(take(*about, "token"));
    } else {
      handler.onNotify(*method, std::move(params));
    }
  }
}

} // namespace pipec::lsp
