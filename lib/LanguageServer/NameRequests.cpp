//===- NameRequests.cpp - Requests about names ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec::lsp {

Expected<json::Value> Server::definition(const json::Object &, Target &at) {
  const Analysis *analysis = at.analysis.get();
  if (analysis && analysis->isSteps())
    return at.stepDefinition();
  const Occurrence *place = at.name();
  if (!place)
    return nullptr;
  SMRange range = analysis->names().definitionOf(*place).place;
  if (!range.isValid())
    return nullptr;
  if (!analysis->isHere(range))
    return location(*at.document, *analysis, range);
  std::optional<json::Value> now = at.range(analysis->exactSpan(range));
  if (!now)
    return nullptr;
  return json::Object{{"uri", at.document->document.uri},
                      {"range", std::move(*now)}};
}

/// The path without symbolic links, if the file exists.
static std::string realPath(StringRef path) {
  SmallString<256> real;
  return sys::fs::real_path(path, real) ? path.str() : std::string(real);
}

/// The real path of the file of a range, and its offset there: equal for one
/// place that several analyses know.
static std::pair<std::string, size_t> identify(const Analysis &analysis,
                                               SMRange range) {
  if (!range.isValid())
    return {};
  return {realPath(analysis.files().lineColumn(range.Start).file),
          analysis.exactSpan(range).begin};
}

std::map<std::string, std::vector<Span>>
Server::placesOf(const Analysis &analysis, const Occurrence &place,
                 bool withDefinition) {
  std::map<std::string, std::vector<Span>> places;
  const Definition &wanted = analysis.names().definitionOf(place);
  bool isBuiltin = wanted.kind == Definition::Kind::Builtin;
  auto key = identify(analysis, wanted.place);
  for (auto &[uri, document] : documents) {
    const Analysis &latest = analysed(*document);
    const Analysis &other =
        document->read.get() == &analysis ? analysis : latest;
    if (&other != &analysis && (isBuiltin || !other.isRead()))
      continue;
    ArrayRef<Definition> definitions = other.names().definitions();
    // By definition: 1 for the wanted one, 0 for others.
    std::vector<int8_t> known(definitions.size(), -1);
    for (const Occurrence &each : other.names().occurrences()) {
      const Definition &named = definitions[each.definition];
      int8_t &same = known[each.definition];
      if (same < 0)
        same = &other == &analysis
                   ? each.definition == place.definition
                   : named.name == wanted.name && named.kind == wanted.kind &&
                         identify(other, named.place) == key;
      if (same && (withDefinition || !each.isDefinition))
        places[uri].push_back(other.exactSpan(each.range));
    }
  }
  for (auto &[uri, spans] : places)
    llvm::sort(spans, [](Span a, Span b) { return a.begin < b.begin; });
  return places;
}

Expected<json::Value> Server::references(const json::Object &params,
                                         Target &at) {
  const Analysis *analysis = at.analysis.get();
  json::Array result;
  const json::Object *context = params.getObject("context");
  bool withDefinition =
      !context || context->getBoolean("includeDeclaration").value_or(true);
  if (analysis && analysis->isSteps())
    for (Span span : at.stepPlaces(withDefinition))
      result.push_back(json::Object{{"uri", at.document->document.uri},
                                    {"range", at.document->lines.range(span)}});
  const Occurrence *place = at.name();
  if (!place)
    return result;
  bool isCurrent = at.analysis == at.document->latest;
  for (auto &[uri, spans] : placesOf(*analysis, *place, withDefinition))
    for (Span span : spans) {
      OpenDocument &in = *documents.find(uri)->second;
      std::optional<json::Value> range = in.lines.range(span);
      if (!isCurrent && &in == at.document)
        range = at.range(span);
      if (range)
        result.push_back(
            json::Object{{"uri", uri}, {"range", std::move(*range)}});
    }
  return result;
}

Expected<json::Value> Server::highlight(const json::Object &, Target &at) {
  const Analysis *analysis = at.analysis.get();
  json::Array result;
  if (analysis && analysis->isSteps())
    for (Span span : at.stepPlaces(/*withDefinition=*/true))
      result.push_back(json::Object{{"range", at.document->lines.range(span)}});
  const Occurrence *place = at.name();
  if (!place)
    return result;
  for (const Occurrence &each : analysis->names().occurrences())
    if (each.definition == place->definition)
      if (auto range = at.range(analysis->exactSpan(each.range)))
        result.push_back(json::Object{{"range", std::move(*range)}});
  return result;
}

Expected<const Occurrence *> Server::Target::renameable() const {
  if (!analysis || analysis != document->latest)
    return refused("the program has syntax errors");
  const Occurrence *place = name();
  if (place &&
      analysis->names().definitionOf(*place).kind == Definition::Kind::Builtin)
    return refused("a word of the language cannot be renamed");
  return place;
}

Expected<json::Value> Server::prepareRename(const json::Object &, Target &at) {
  if (at.analysis && at.analysis->isSteps())
    return at.renamedStep("");
  Expected<const Occurrence *> place = at.renameable();
  if (!place)
    return place.takeError();
  if (!*place)
    return nullptr;
  return at.document->lines.range(at.analysis->exactSpan((*place)->range));
}

/// `text` with `name` in place of all spans, which are in order.
static std::string replaced(StringRef text, ArrayRef<Span> spans,
                            StringRef name) {
  std::string result;
  size_t at = 0;
  for (Span span : spans) {
    result += text.slice(at, span.begin);
    result += name;
    at = span.end;
  }
  return result + text.drop_front(at).str();
}

/// The messages of the errors.
static std::vector<StringRef> errorsOf(const Analysis &analysis) {
  std::vector<StringRef> errors;
  for (const Diagnostic &found : analysis.diagnostics())
    if (found.severity == Severity::Error)
      errors.push_back(found.message);
  return errors;
}

Expected<json::Value> Server::rename(const json::Object &params, Target &at) {
  StringRef newName = params.getString("newName").value_or("");
  bool isName =
      !newName.empty() && !isDigit(newName[0]) && all_of(newName, isWordByte);
  if (!isName)
    return refused("`" + newName + "` is not a name");
  if (at.analysis && at.analysis->isSteps())
    return at.renamedStep(newName);
  Expected<const Occurrence *> place = at.renameable();
  if (!place)
    return place.takeError();
  if (!*place)
    return nullptr;

  auto places = placesOf(*at.analysis, **place, /*withDefinition=*/true);
  const Definition &name = at.analysis->names().definitionOf(**place);
  std::string file = identify(*at.analysis, name.place).first;
  // Only functions and patterns are visible in other files.
  bool isShared = name.kind == Definition::Kind::Function ||
                  name.kind == Definition::Kind::Pattern;
  for (const auto &[uri, other] : documents)
    if (isShared && other->read && other->read != other->latest &&
        other->read->hasRead(file))
      return refused("`" + other->document.path +
                     "`, which imports the file of the name, has syntax "
                     "errors");
  bool isOpen = at.analysis->isHere(name.place);
  std::map<std::string, std::string> texts; // by real path
  for (auto &[uri, spans] : places) {
    const Document &document = documents.find(uri)->second->document;
    std::string path = realPath(document.path);
    isOpen |= path == file;
    texts[path] = replaced(document.text, spans, newName);
  }
  if (!isOpen)
    return refused("`" + file + "`, which defines the name, is not open");

  // The new name must not be another name, nor a word of the language.
  auto unsaved = [&](StringRef path) -> std::optional<std::string> {
    auto it = texts.find(path.str());
    return it == texts.end() ? openText(path) : std::optional(it->second);
  };
  // Files that import the name without using it must not have the new one.
  for (const auto &[uri, other] : documents)
    if (isShared && other->read && other->read->hasRead(file))
      places.try_emplace(uri);
  json::Object changes;
  for (auto &[uri, spans] : places) {
    OpenDocument &document = *documents.find(uri)->second;
    Document edited = document.document;
    edited.text = replaced(edited.text, spans, newName);
    Analysis after(edited, search, unsaved);
    Analysis before(document.document, search,
                    [this](StringRef path) { return openText(path); });
    std::vector<StringRef> old = errorsOf(before), now = errorsOf(after);
    if (now.size() > old.size()) {
      auto isNew = [&](StringRef error) { return !is_contained(old, error); };
      auto cause = find_if(now, isNew);
      return refused("`" + newName + "` cannot be the name here: " +
                     (cause == now.end() ? now.back() : *cause));
    }
    if (spans.empty())
      continue;
    json::Array edits;
    for (Span span : spans)
      edits.push_back(json::Object{{"range", document.lines.range(span)},
                                   {"newText", newName}});
    changes[uri] = std::move(edits);
  }
  return json::Object{{"changes", std::move(changes)}};
}

} // namespace pipec::lsp
