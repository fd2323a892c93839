//===- Server.cpp - Answers to the messages of an editor ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/Server.h"

#include "LanguageServer/OpenDocument.h"
#include "Support/Words.h"

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

/// The part of a `Target` that is found before the function of a request runs.
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

const Server::RequestRow Server::requestRows[] = {
    {"initialize", &Server::initialize, Scope::Server},
    {"shutdown", &Server::shutdown, Scope::Server},
    {"textDocument/hover", &Server::hover, Scope::Position},
    {"textDocument/completion", &Server::completion, Scope::Document},
    {"textDocument/signatureHelp", &Server::signatureHelp, Scope::Document},
    {"textDocument/definition", &Server::definition, Scope::Position},
    {"textDocument/references", &Server::references, Scope::Position},
    {"textDocument/documentHighlight", &Server::highlight, Scope::Position},
    {"textDocument/prepareRename", &Server::prepareRename, Scope::Position},
    {"textDocument/rename", &Server::rename, Scope::Position},
    {"textDocument/formatting", &Server::formatting, Scope::Document},
    {"textDocument/foldingRange", &Server::foldings, Scope::Document},
    {"textDocument/documentSymbol", &Server::symbols, Scope::Document},
    {"textDocument/inlayHint", &Server::inlayHints, Scope::Document},
    {"textDocument/codeLens", &Server::codeLenses, Scope::Document},
    {"textDocument/codeAction", &Server::codeActions, Scope::Document},
    {"workspace/executeCommand", &Server::execute, Scope::Server},
};

const Server::NotificationRow Server::notificationRows[] = {
    {"initialized", &Server::initialized},
    {"textDocument/didOpen", &Server::open},
    {"textDocument/didChange", &Server::change},
    {"textDocument/didSave", &Server::save},
    {"textDocument/didClose", &Server::close},
};

template <typename Row>
static std::vector<StringLiteral> methodsOf(ArrayRef<Row> rows) {
  std::vector<StringLiteral> methods;
  for (const Row &row : rows)
    methods.push_back(row.method);
  return methods;
}

std::vector<StringLiteral> Server::requests() {
  return methodsOf(ArrayRef(requestRows));
}

std::vector<StringLiteral> Server::notifications() {
  return methodsOf(ArrayRef(notificationRows));
}

/// The parameters of a message, which are empty if they are not an object.
static const json::Object &objectOf(const json::Value &params) {
  static const json::Object none;
  const json::Object *object = params.getAsObject();
  return object ? *object : none;
}

Expected<json::Value> Server::request(StringRef method,
                                      const json::Value &params) {
  if (state == State::New && method != "initialize")
    return make_error<RequestError>(RequestError::ServerNotInitialized,
                                    "`" + method + "` before `initialize`");
  if (state == State::ShutDown)
    return make_error<RequestError>(RequestError::InvalidRequest,
                                    "`" + method + "` after `shutdown`");
  for (const RequestRow &row : requestRows)
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
  if (state != State::Initialized)
    return;
  for (const NotificationRow &row : notificationRows)
    if (row.method == method)
      return (this->*row.function)(objectOf(params));
}

/// The member of nested objects at a path; null if it is absent.
static const json::Value *memberAt(const json::Object &object,
                                   ArrayRef<StringRef> path) {
  const json::Object *at = &object;
  for (StringRef key : path.drop_back())
    if (!at || !(at = at->getObject(key)))
      return nullptr;
  return at->get(path.back());
}

Expected<json::Value> Server::initialize(const json::Object &params, Target &) {
  if (state != State::New)
    return make_error<RequestError>(RequestError::InvalidRequest,
                                    "second `initialize`");
  auto can = [&](ArrayRef<StringRef> path) {
    const json::Object *all = params.getObject("capabilities");
    const json::Value *value = all ? memberAt(*all, path) : nullptr;
    return value && value->getAsBoolean().value_or(false);
  };
  showsPages =
      can({"textDocument", "publishDiagnostics", "codeDescriptionSupport"});
  canShowProgress = can({"window", "workDoneProgress"});
  canEdit = can({"workspace", "applyEdit"});
  if (const json::Value *url =
          memberAt(params, {"initializationOptions", "site"}))
    site = url->getAsString().value_or("").rtrim('/');
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
           {"signatureHelpProvider",
            json::Object{{"triggerCharacters", json::Array{"(", "[", ","}}}},
           {"definitionProvider", true},
           {"referencesProvider", true},
           {"documentHighlightProvider", true},
           {"renameProvider", json::Object{{"prepareProvider", true}}},
           {"documentFormattingProvider", true},
           {"foldingRangeProvider", true},
           {"documentSymbolProvider", true},
           {"inlayHintProvider", true},
           {"codeLensProvider", json::Object{}},
           {"codeActionProvider",
            json::Object{{"codeActionKinds", json::Array{"quickfix"}}}},
           {"executeCommandProvider",
            json::Object{
                {"commands", json::Array{"pipec.showTimeline", "pipec.derive",
                                         "pipec.search"}},
                {"workDoneProgress", true}}},
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

} // namespace pipec::lsp
