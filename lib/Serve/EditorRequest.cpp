//===- EditorRequest.cpp - What the editor of the live page asks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/Server.h"
#include "Serve/LiveApi.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static constexpr StringLiteral editorMethods[] = {
    "textDocument/completion", "textDocument/hover", "textDocument/codeAction",
    "textDocument/inlayHint"};

Expected<json::Value> answerEditor(StringRef body, const SearchPath &search,
                                   StringRef folder) {
  auto wrong = [](const Twine &what) {
    return createStringError(inconvertibleErrorCode(), what);
  };
  Expected<json::Value> read = parseJson(body, maxRequestDepth);
  if (!read)
    return read.takeError();
  json::Object *head = read->getAsObject();
  std::optional<StringRef> program =
      head ? head->getString("program") : std::nullopt;
  json::Object *params = head ? head->getObject("params") : nullptr;
  if (!program || !params || program->size() > maxProgramBytes)
    return wrong("the request has no `program` or no `params`");
  StringRef method = head->getString("method").value_or("");
  if (!is_contained(editorMethods, method))
    return wrong("`method` is not one of the editor");
  // A document of this request alone: the page has the only copy of its text.
  std::string uri = uriOfPath(folder.str() + "/program.pipe");
  lsp::Server server(search, [](StringRef, json::Value) {});
  if (Expected<json::Value> begun =
          server.request("initialize", json::Object{});
      !begun)
    return begun.takeError();
  server.notification("initialized", json::Object{});
  server.notification(
      "textDocument/didOpen",
      json::Object{{"textDocument", json::Object{{"uri", uri},
                                                 {"languageId", "pipec"},
                                                 {"version", 1},
                                                 {"text", *program}}}});
  (*params)["textDocument"] = json::Object{{"uri", uri}};
  Expected<json::Value> answer = server.request(method, std::move(*params));
  if (answer)
    if (json::Array *actions = answer->getAsArray())
      for (json::Value &action : *actions)
        if (json::Object *edit = action.getAsObject()->getObject("edit"))
          if (json::Object *changes = edit->getObject("changes"))
            if (const json::Value *edits = changes->get(uri))
              (*action.getAsObject())["edits"] = json::Value(*edits);
  return answer;
}

} // namespace pipec
