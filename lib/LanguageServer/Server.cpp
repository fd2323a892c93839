//===- Server.cpp - Answers to the messages of an editor ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LanguageServer/Server.h"

#include "LanguageServer/OpenDocument.h"
#include "Support/Uri.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec::lsp {

char RequestError::ID = 0;

Server::Server(SearchPath search, Notify notify)
    : search(std::move(search)), notify(std::move(notify)) {}

Server::~Server() = default;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// What a request is about, which is found before its function is called.
enum class Scope { Server, Document, Position };

struct Server::RequestRow {
  StringLiteral method;
  Request function;
  Scope scope;
};

struct Server::NotificationRow {
  StringLiteral method;
  Notification function;
};

#define PIPEC_LSP_REQUESTS(ROW)                                                \
  ROW("initialize", initialize, Server)                                        \
  ROW("shutdown", shutdown, Server)                                            \
  ROW("textDocument/hover", hover, Position)                                   \
  ROW("textDocument/completion", completion, Document)                         \
  ROW("textDocument/definition", definition, Position)                         \
  ROW("textDocument/references", references, Position)                         \
  ROW("textDocument/documentHighlight", highlight, Position)                   \
  ROW("textDocument/prepareRename", prepareRename, Position)                   \
  ROW("textDocument/rename", rename, Position)                                 \
  ROW("textDocument/formatting", formatting, Document)                         \
  ROW("textDocument/documentSymbol", symbols, Document)                        \
  ROW("textDocument/inlayHint", inlayHints, Document)                          \
  ROW("textDocument/codeAction", codeActions, Document)                        \
  ROW("workspace/executeCommand", execute, Server)

#define PIPEC_LSP_NOTIFICATIONS(ROW)                                           \
  ROW("initialized", initialized)                                              \
  ROW("textDocument/didOpen", open)                                            \
  ROW("textDocument/didChange", change)                                        \
  ROW("textDocument/didSave", save)                                            \
  ROW("textDocument/didClose", close)

ArrayRef<StringLiteral> Server::requests() {
  static constexpr StringLiteral methods[] = {
#define ROW(Method, Function, About) Method,
      PIPEC_LSP_REQUESTS(ROW)
#undef ROW
  };
  return methods;
}

ArrayRef<StringLiteral> Server::notifications() {
  static constexpr StringLiteral methods[] = {
#define ROW(Method, Function) Method,
      PIPEC_LSP_NOTIFICATIONS(ROW)
#undef ROW
  };
  return methods;
}

/// The parameters of a message, which are empty if they are not an object.
static const json::Object &objectOf(const json::Value &params) {
  static const json::Object none;
  const json::Object *object = params.getAsObject();
  return object ? *object : none;
}

Expected<json::Value> Server::request(StringRef method,
                                      const json::Value &params) {
  static constexpr RequestRow rows[] = {
#define ROW(Method, Function, About) {Method, &Server::Function, Scope::About},
      PIPEC_LSP_REQUESTS(ROW)
#undef ROW
  };
  if (state == State::New && method != "initialize")
    return make_error<RequestError>(RequestError::ServerNotInitialized,
                                    "`" + method + "` before `initialize`");
  if (state == State::ShutDown)
    return make_error<RequestError>(RequestError::InvalidRequest,
                                    "`" + method + "` after `shutdown`");
  for (const RequestRow &row : rows)
    if (row.method == method) {
      const json::Object &object = objectOf(params);
      Expected<Target> at = row.scope == Scope::Server     ? Target()
                            : row.scope == Scope::Document ? known(object)
                                                           : target(object);
      if (!at)
        return at.takeError();
      return (this->*row.function)(object, *at);
    }
  llvm_unreachable("only known methods are passed");
}

void Server::notification(StringRef method, const json::Value &params) {
  static constexpr NotificationRow rows[] = {
#define ROW(Method, Function) {Method, &Server::Function},
      PIPEC_LSP_NOTIFICATIONS(ROW)
#undef ROW
  };
  if (state != State::Initialized)
    return;
  for (const NotificationRow &row : rows)
    if (row.method == method)
      return (this->*row.function)(objectOf(params));
}

Expected<json::Value> Server::initialize(const json::Object &, Target &) {
  if (state != State::New)
    return make_error<RequestError>(RequestError::InvalidRequest,
                                    "second `initialize`");
  state = State::Initialized;
  return json::Object{
      {"serverInfo",
       json::Object{{"name", "pipec-lsp"}, {"version", PIPEC_VERSION}}},
      {"capabilities",
       json::Object{
           {"positionEncoding", "utf-16"},
           {"textDocumentSync",
            json::Object{{"openClose", true}, {"change", 1}, {"save", true}}},
           {"hoverProvider", true},
           {"completionProvider", json::Object{}},
           {"definitionProvider", true},
           {"referencesProvider", true},
           {"documentHighlightProvider", true},
           {"renameProvider", json::Object{{"prepareProvider", true}}},
           {"documentFormattingProvider", true},
           {"documentSymbolProvider", true},
           {"inlayHintProvider", true},
           {"codeActionProvider",
            json::Object{{"codeActionKinds", json::Array{"quickfix"}}}},
           {"executeCommandProvider",
            json::Object{{"commands", json::Array{"pipec.showTimeline"}}}},
       }},
  };
}

Expected<json::Value> Server::shutdown(const json::Object &, Target &) {
  state = State::ShutDown;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

/// The `uri` of the `textDocument` of a message; empty if there is none.
static StringRef uriIn(const json::Object &params) {
  const json::Object *document = params.getObject("textDocument");
  return document ? document->getString("uri").value_or("") : "";
}

Server::OpenDocument *Server::find(const json::Object &params) {
  auto it = documents.find(uriIn(params).str());
  return it == documents.end() ? nullptr : it->second.get();
}

void Server::open(const json::Object &params) {
  const json::Object *item = params.getObject("textDocument");
  StringRef uri = uriIn(params);
  if (uri.empty() || !item->getString("text"))
    return;
  Document document{uri.str(), pathOfUri(uri),
                    item->getInteger("version").value_or(0),
                    item->getString("text")->str()};
  std::string path = document.path;
  documents[uri.str()] = std::make_unique<OpenDocument>(std::move(document));
  touchImportersOf(path);
}

void Server::change(const json::Object &params) {
  OpenDocument *document = find(params);
  const json::Array *changes = params.getArray("contentChanges");
  const json::Object *last = document && changes && !changes->empty()
                                 ? changes->back().getAsObject()
                                 : nullptr;
  // Only whole texts were asked for.
  if (!last || !last->getString("text") || last->get("range"))
    return;
  const json::Object *item = params.getObject("textDocument");
  document->setText(*last->getString("text"),
                    item->getInteger("version").value_or(0));
  touchImportersOf(document->document.path);
}

void Server::save(const json::Object &params) {
  touchImportersOf(pathOfUri(uriIn(params)));
}

void Server::close(const json::Object &params) {
  OpenDocument *document = find(params);
  if (!document)
    return;
  std::string uri = document->document.uri, path = document->document.path;
  documents.erase(uri);
  notify("textDocument/publishDiagnostics",
         json::Object{{"uri", uri}, {"diagnostics", json::Array{}}});
  touchImportersOf(path);
}

void Server::touchImportersOf(StringRef path) {
  for (auto &[uri, document] : documents)
    for (const std::shared_ptr<Analysis> &known :
         {document->latest, document->read})
      if (document->document.path != path && known && known->hasRead(path)) {
        document->isChanged = true;
        document->latest.reset();
        break;
      }
}

std::optional<std::string> Server::openText(StringRef path) const {
  for (const auto &[uri, other] : documents) {
    SmallString<256> real;
    if (other->document.path == path ||
        (!sys::fs::real_path(other->document.path, real) && real == path))
      return other->document.text;
  }
  return std::nullopt;
}

Analysis &Server::analysed(OpenDocument &document) {
  if (!document.latest)
    document.latest = std::make_shared<Analysis>(
        document.document, search,
        [this](StringRef path) { return openText(path); });
  if (document.latest->isRead())
    document.read = document.latest;
  return *document.latest;
}

json::Value Server::location(const OpenDocument &document,
                             const Analysis &analysis, SMRange range) const {
  if (analysis.isHere(range))
    return json::Object{{"uri", document.document.uri},
                        {"range", document.lines.range(analysis.span(range))}};
  SmallString<256> path = analysis.files().lineColumn(range.Start).file;
  (void)sys::fs::make_absolute(path);
  return json::Object{{"uri", uriOfPath(path)},
                      {"range", LineMap(analysis.files().textOf(range.Start))
                                    .range(analysis.span(range))}};
}

bool Server::analyseNext(function_ref<bool(StringRef uri)> isOutdated) {
  auto it = find_if(documents,
                    [](const auto &entry) { return entry.second->isChanged; });
  if (it == documents.end())
    return false;
  OpenDocument &document = *it->second;
  document.isChanged = false;
  Analysis &analysis = analysed(document);
  analysis.run();
  if (isOutdated(document.document.uri))
    return true;
  json::Array found =
      diagnosticsOf(analysis, document.lines, [&](SMRange range) {
        return location(document, analysis, range);
      });
  notify("textDocument/publishDiagnostics",
         json::Object{{"uri", document.document.uri},
                      {"version", document.document.version},
                      {"diagnostics", std::move(found)}});
  return true;
}

} // namespace pipec::lsp
