//===- Server.h - Answers to the messages of an editor ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "LanguageServer/Analysis.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <map>
#include <memory>

namespace pipec::lsp {

/// A request that is answered with an error of JSON-RPC.
class RequestError : public llvm::ErrorInfo<RequestError> {
public:
  enum Code {
    InvalidRequest = -32600,
    InvalidParams = -32602,
    ServerNotInitialized = -32002,
    RequestFailed = -32803,
  };
  static char ID;
  RequestError(Code code, const llvm::Twine &message)
      : code(code), message(message.str()) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  const Code code;
  const std::string message;
};

/// The error of a request that cannot be answered for the reason `why`.
inline llvm::Error refused(const llvm::Twine &why) {
  return llvm::make_error<RequestError>(RequestError::RequestFailed, why);
}
/// The error of a request with unusable parameters.
inline llvm::Error invalid(const llvm::Twine &why) {
  return llvm::make_error<RequestError>(RequestError::InvalidParams, why);
}

struct EditorRun;
struct CommandOutput;
struct CommandResult;

/// The language server without its transport: a method and its parameters in,
/// an answer out. Documents are analysed in `analyseNext`, between messages, so
/// a run of changes causes one analysis.
class Server {
public:
  /// Sends a notification to the editor.
  using Notify =
      std::function<void(llvm::StringRef method, llvm::json::Value params)>;

  Server(SearchPath search, Notify notify);
  ~Server();

  /// The methods of `request` and of `notification`.
  static std::vector<llvm::StringLiteral> requests();
  static std::vector<llvm::StringLiteral> notifications();

  llvm::Expected<llvm::json::Value> request(llvm::StringRef method,
                                            const llvm::json::Value &params);
  /// Notifications that cannot be used are ignored, as the protocol demands.
  void notification(llvm::StringRef method, const llvm::json::Value &params);

  /// Analyses one document that has changed and publishes its diagnostics,
  /// unless `isOutdated` is true for its URI by then. Returns false if there is
  /// no such document.
  bool analyseNext(llvm::function_ref<bool(llvm::StringRef uri)> isOutdated);

  /// The run of `pipec` that a request `workspace/executeCommand` asks for;
  /// empty for other commands, which `request` answers.
  llvm::Expected<std::optional<EditorRun>>
  editorRun(const llvm::json::Object &params);
  /// The answer to the editor after the run. Fails if the run has failed.
  llvm::Expected<CommandResult> resultOf(const EditorRun &run,
                                         const CommandOutput &from);
  /// True if the editor can show progress.
  bool showsProgress() const { return canShowProgress; }

  /// True after the request `shutdown`.
  bool isShutDown() const { return state == State::ShutDown; }

private:
  struct OpenDocument;
  struct Target;
  using Answer = llvm::Expected<llvm::json::Value>;
  using Request = Answer (Server::*)(const llvm::json::Object &params,
                                     Target &at);
  using Notification = void (Server::*)(const llvm::json::Object &params);

  // Requests. The row of a request says which parts of `at` are set.
  Answer initialize(const llvm::json::Object &, Target &);
  Answer shutdown(const llvm::json::Object &, Target &);
  Answer hover(const llvm::json::Object &, Target &);
  Answer completion(const llvm::json::Object &, Target &);
  Answer signatureHelp(const llvm::json::Object &, Target &);
  Answer definition(const llvm::json::Object &, Target &);
  Answer references(const llvm::json::Object &, Target &);
  Answer highlight(const llvm::json::Object &, Target &);
  Answer prepareRename(const llvm::json::Object &, Target &);
  Answer rename(const llvm::json::Object &, Target &);
  Answer formatting(const llvm::json::Object &, Target &);
  Answer foldings(const llvm::json::Object &, Target &);
  Answer symbols(const llvm::json::Object &, Target &);
  Answer inlayHints(const llvm::json::Object &, Target &);
  Answer codeActions(const llvm::json::Object &, Target &);
  Answer codeLenses(const llvm::json::Object &, Target &);
  Answer execute(const llvm::json::Object &, Target &);
  // Notifications
  void initialized(const llvm::json::Object &) {}
  void open(const llvm::json::Object &);
  void change(const llvm::json::Object &);
  void save(const llvm::json::Object &);
  void close(const llvm::json::Object &);

  /// The edit that adds clauses to the schedule of a run; empty if its document
  /// has changed since.
  std::optional<llvm::json::Value> editOf(const EditorRun &run,
                                          llvm::ArrayRef<std::string> clauses);
  OpenDocument *find(const llvm::json::Object &params);
  /// The arguments of a command: an open document, a schedule and a format,
  /// which may be empty.
  struct CommandArguments {
    OpenDocument *document;
    llvm::StringRef schedule, format;
  };
  llvm::Expected<CommandArguments>
  commandArguments(const llvm::json::Object &params);
  /// The newest analysis of a document that could read it.
  llvm::Expected<Target> known(const llvm::json::Object &params);
  /// The same at the `position` of a request.
  llvm::Expected<Target> target(const llvm::json::Object &params);
  /// All places of a definition in the open documents whose current version was
  /// read, by URI.
  std::map<std::string, std::vector<Span>> placesOf(const Analysis &analysis,
                                                    const Occurrence &place,
                                                    bool withDefinition);
  /// Marks the open documents that import the file at this path as changed.
  void touchImportersOf(llvm::StringRef path);
  /// The text of the open document with this real path, if there is one.
  std::optional<std::string> openText(llvm::StringRef path) const;
  /// The URI of the explanation of a kind: on the site that the editor names,
  /// else the line of the installed page. Empty if there is none, or if the
  /// editor does not show it.
  std::string pageOf(diag::Id id) const;
  /// The analysis of the current version.
  Analysis &analysed(OpenDocument &document);
  /// The `Location` of a range of `analysis`, the analysis of `document`.
  llvm::json::Value location(const OpenDocument &document,
                             const Analysis &analysis,
                             llvm::SMRange range) const;

  const SearchPath search;
  Notify notify;
  enum class State { New, Initialized, ShutDown } state = State::New;
  /// The editor shows the pages of diagnostics; the URL of a site with them.
  bool showsPages = false;
  bool canShowProgress = false;
  bool canEdit = false;
  std::string site;
  /// By URI.
  std::map<std::string, std::unique_ptr<OpenDocument>> documents;
  struct RequestRow;
  struct NotificationRow;
  static const RequestRow requestRows[];
  static const NotificationRow notificationRows[];
};

} // namespace pipec::lsp
