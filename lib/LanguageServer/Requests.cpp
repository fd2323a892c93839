//===- Requests.cpp - Requests about documents ----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"
#include "Format/Formatter.h"
#include "LanguageServer/Completion.h"
#include "LanguageServer/Hover.h"
#include "LanguageServer/OpenDocument.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec::lsp {

static Error refused(const Twine &why) {
  return make_error<RequestError>(RequestError::RequestFailed, why);
}

Expected<Server::Target> Server::known(const json::Object &params) {
  Target target;
  target.document = find(params);
  if (!target.document)
    return make_error<RequestError>(RequestError::InvalidParams,
                                    "no open document has this `uri`");
  Analysis &latest = analysed(*target.document);
  if (latest.isSteps()) {
    latest.run();
    target.analysis = target.document->latest;
    return target;
  }
  // Names are those of the last version without syntax errors.
  target.analysis = target.document->read;
  if (target.analysis && target.analysis != target.document->latest)
    target.shift =
        Shift(target.analysis->text(), target.document->document.text);
  return target;
}

Expected<Server::Target> Server::target(const json::Object &params) {
  Expected<Target> target = known(params);
  if (!target)
    return target;
  std::optional<Position> position = positionFrom(params.get("position"));
  if (!position)
    return make_error<RequestError>(RequestError::InvalidParams,
                                    "no usable `position`");
  size_t offset = target->document->lines.offset(*position);
  if (std::optional<size_t> old = target->shift.toOld(offset))
    target->offset = *old;
  else
    target->analysis = nullptr;
  return target;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

Expected<json::Value> Server::hover(const json::Object &params) {
  Expected<Target> at = target(params);
  if (!at)
    return at.takeError();
  if (!at->analysis)
    return nullptr;
  at->analysis->run();
  std::optional<HoverText> text = lsp::hover(*at->analysis, at->offset);
  std::optional<json::Value> range;
  if (text)
    range = at->range(text->span);
  if (!range)
    return nullptr;
  return json::Object{
      {"contents", json::Object{{"kind", "markdown"},
                                {"value", json::fixUTF8(text->markdown)}}},
      {"range", std::move(*range)}};
}

/// The functions and patterns that a program imports.
static std::vector<Proposal> importedNames(const ast::Module *module) {
  std::vector<Proposal> names;
  if (!module)
    return names;
  for (const ast::ImportDecl &import : module->imports) {
    if (!import.module)
      continue;
    for (const ast::Stmt *decl : import.module->decls) {
      const auto *fn = dyn_cast<ast::FnDecl>(decl);
      StringRef name =
          fn ? fn->name.text : cast<ast::PatternDecl>(decl)->name.text;
      names.push_back({name.str(), Proposal::Kind::Function,
                       "of `" + import.path.value.str() + "`"});
    }
  }
  return names;
}

Expected<json::Value> Server::completion(const json::Object &params) {
  Expected<Target> at = known(params);
  std::optional<Position> position = positionFrom(params.get("position"));
  if (!at)
    return at.takeError();
  if (!position)
    return make_error<RequestError>(RequestError::InvalidParams,
                                    "no usable `position`");
  StringRef text = at->document->document.text;
  json::Array items;
  if (at->document->latest->isSteps() || text.size() > maxDocumentBytes)
    return items;
  size_t offset = at->document->lines.offset(*position);
  for (Proposal &proposal :
       complete(text.take_front(offset),
                importedNames(at->analysis ? at->analysis->module() : nullptr)))
    items.push_back(json::Object{
        {"label", proposal.word},
        {"kind", int(proposal.kind)},
        {"documentation", json::Object{{"kind", "markdown"},
                                       {"value", std::move(proposal.doc)}}}});
  return items;
}

Expected<json::Value> Server::formatting(const json::Object &params) {
  Expected<Target> at = known(params);
  if (!at)
    return at.takeError();
  const Analysis &latest = *at->document->latest;
  // Without a tree there is nothing to print.
  if (!latest.module())
    return nullptr;
  std::string text;
  raw_string_ostream os(text);
  ast::printCanonical(*latest.module(), os);
  if (text == latest.text())
    return json::Array{};
  return json::Array{json::Object{
      {"range", at->document->lines.range({0, latest.text().size()})},
      {"newText", std::move(text)}}};
}

Expected<json::Value> Server::symbols(const json::Object &params) {
  Expected<Target> at = known(params);
  if (!at)
    return at.takeError();
  if (!at->analysis)
    return json::Array{};
  at->analysis->run();
  return outlineOf(*at->analysis, [&](Span span) { return at->range(span); });
}

Expected<json::Value> Server::inlayHints(const json::Object &params) {
  Expected<Target> at = known(params);
  if (!at)
    return at.takeError();
  json::Array hints;
  if (!at->analysis)
    return hints;
  at->analysis->run();
  for (const ShownSchedule &shown : at->analysis->schedules()) {
    std::string label = figuresOf(shown);
    Span head = at->analysis->exactSpan(shown.head);
    StringRef text = at->analysis->text().slice(head.begin, head.end).rtrim();
    // After the parameters, or after the line of step IR.
    head = {head.begin + text.size(), head.begin + text.size()};
    std::optional<json::Value> range = at->range(head);
    if (label.empty() || !range)
      continue;
    hints.push_back(
        json::Object{{"position", *range->getAsObject()->get("end")},
                     {"label", std::move(label)},
                     {"paddingLeft", true}});
  }
  return hints;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Expected<json::Value> Server::definition(const json::Object &params) {
  Expected<Target> at = target(params);
  if (!at)
    return at.takeError();
  const Analysis *analysis = at->analysis.get();
  const Occurrence *place = at->name();
  if (!place)
    return nullptr;
  SMRange range = analysis->names().definitions()[place->definition].place;
  if (!range.isValid())
    return nullptr;
  if (!analysis->isHere(range))
    return location(*at->document, *analysis, range);
  std::optional<json::Value> now = at->range(analysis->exactSpan(range));
  if (!now)
    return nullptr;
  return json::Object{{"uri", at->document->document.uri},
                      {"range", std::move(*now)}};
}

/// The real path of the file of a range, and its offset there: equal for one
/// place that several analyses know.
static std::pair<std::string, size_t> identify(const Analysis &analysis,
                                               SMRange range) {
  if (!range.isValid())
    return {};
  StringRef path = analysis.files().lineColumn(range.Start).file;
  SmallString<256> real;
  if (sys::fs::real_path(path, real))
    real = path;
  return {std::string(real), analysis.exactSpan(range).begin};
}

std::map<std::string, std::vector<Span>>
Server::placesOf(const Analysis &analysis, const Occurrence &place,
                 bool withDefinition) {
  std::map<std::string, std::vector<Span>> places;
  const Definition &wanted = analysis.names().definitions()[place.definition];
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

Expected<json::Value> Server::references(const json::Object &params) {
  Expected<Target> at = target(params);
  if (!at)
    return at.takeError();
  const Analysis *analysis = at->analysis.get();
  json::Array result;
  const Occurrence *place = at->name();
  if (!place)
    return result;
  const json::Object *context = params.getObject("context");
  bool withDefinition =
      !context || context->getBoolean("includeDeclaration").value_or(true);
  bool isCurrent = at->analysis == at->document->latest;
  for (auto &[uri, spans] : placesOf(*analysis, *place, withDefinition))
    for (Span span : spans) {
      OpenDocument &in = *documents.find(uri)->second;
      std::optional<json::Value> range = in.lines.range(span);
      if (!isCurrent && &in == at->document)
        range = at->range(span);
      if (range)
        result.push_back(
            json::Object{{"uri", uri}, {"range", std::move(*range)}});
    }
  return result;
}

Expected<json::Value> Server::highlight(const json::Object &params) {
  Expected<Target> at = target(params);
  if (!at)
    return at.takeError();
  const Analysis *analysis = at->analysis.get();
  json::Array result;
  const Occurrence *place = at->name();
  if (!place)
    return result;
  for (const Occurrence &each : analysis->names().occurrences())
    if (each.definition == place->definition)
      if (auto range = at->range(analysis->exactSpan(each.range)))
        result.push_back(json::Object{{"range", std::move(*range)}});
  return result;
}

/// The occurrence at the place of a request if it can be renamed; otherwise why
/// not. Null if there is no name.
static Expected<const Occurrence *> renameable(const Analysis *analysis,
                                               bool isCurrent, size_t offset) {
  if (!isCurrent)
    return refused("the program has syntax errors");
  if (analysis->isSteps())
    return nullptr;
  const Occurrence *place = analysis->names().at(analysis->loc(offset));
  if (place && analysis->names().definitions()[place->definition].kind ==
                   Definition::Kind::Builtin)
    return refused("a word of the language cannot be renamed");
  return place;
}

Expected<json::Value> Server::prepareRename(const json::Object &params) {
  Expected<Target> at = target(params);
  if (!at)
    return at.takeError();
  bool isCurrent = at->analysis && at->analysis == at->document->latest;
  Expected<const Occurrence *> place =
      renameable(at->analysis.get(), isCurrent, at->offset);
  if (!place)
    return place.takeError();
  if (!*place)
    return nullptr;
  return at->document->lines.range(at->analysis->exactSpan((*place)->range));
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

static size_t countErrors(const Analysis &analysis) {
  return count_if(analysis.diagnostics(), [](const Diagnostic &found) {
    return found.severity == Severity::Error;
  });
}

Expected<json::Value> Server::rename(const json::Object &params) {
  Expected<Target> at = target(params);
  if (!at)
    return at.takeError();
  StringRef name = params.getString("newName").value_or("");
  bool isName = !name.empty() && !isDigit(name[0]) &&
                all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (!isName)
    return refused("`" + name + "` is not a name");
  bool isCurrent = at->analysis && at->analysis == at->document->latest;
  Expected<const Occurrence *> place =
      renameable(at->analysis.get(), isCurrent, at->offset);
  if (!place)
    return place.takeError();
  if (!*place)
    return nullptr;

  auto places = placesOf(*at->analysis, **place, /*withDefinition=*/true);
  SMRange defined =
      at->analysis->names().definitions()[(*place)->definition].place;
  std::string file = identify(*at->analysis, defined).first;
  bool isOpen = at->analysis->isHere(defined);
  std::map<std::string, std::string> texts; // by real path
  for (auto &[uri, spans] : places) {
    const Document &document = documents.find(uri)->second->document;
    SmallString<256> real;
    if (sys::fs::real_path(document.path, real))
      real = document.path;
    isOpen |= real == file;
    texts[std::string(real)] = replaced(document.text, spans, name);
  }
  if (!isOpen)
    return refused("`" + file + "`, which defines the name, is not open");

  // The new name must not be another name, nor a word of the language.
  auto unsaved = [&](StringRef path) -> std::optional<std::string> {
    auto it = texts.find(path.str());
    return it == texts.end() ? std::nullopt : std::optional(it->second);
  };
  json::Object changes;
  for (auto &[uri, spans] : places) {
    OpenDocument &document = *documents.find(uri)->second;
    Document edited = document.document;
    edited.text = replaced(edited.text, spans, name);
    Analysis after(edited, search, unsaved);
    Analysis before(document.document, search, nullptr);
    if (countErrors(after) > countErrors(before))
      return refused("`" + name + "` cannot be the name here: " +
                     after.diagnostics().front().message);
    json::Array edits;
    for (Span span : spans)
      edits.push_back(json::Object{{"range", document.lines.range(span)},
                                   {"newText", name}});
    changes[uri] = std::move(edits);
  }
  return json::Object{{"changes", std::move(changes)}};
}

//===----------------------------------------------------------------------===//
// Corrections and commands
//===----------------------------------------------------------------------===//

Expected<json::Value> Server::codeActions(const json::Object &params) {
  Expected<Target> at = known(params);
  if (!at)
    return at.takeError();
  const json::Object *range = params.getObject("range");
  std::optional<Position> begin, end;
  if (range) {
    begin = positionFrom(range->get("start"));
    end = positionFrom(range->get("end"));
  }
  if (!begin || !end)
    return make_error<RequestError>(RequestError::InvalidParams,
                                    "no usable `range`");
  const json::Object *context = params.getObject("context");
  const json::Array *only = context ? context->getArray("only") : nullptr;
  if (only && none_of(*only, [](const json::Value &kind) {
        StringRef text = kind.getAsString().value_or("?");
        return text.empty() || text == "quickfix";
      }))
    return json::Array{};
  Analysis &latest = *at->document->latest;
  latest.run();
  const LineMap &lines = at->document->lines;
  return codeActionsOf(latest, lines, at->document->document.uri,
                       {lines.offset(*begin), lines.offset(*end)});
}

/// Draws the schedule with that name, or the first if it is empty.
static Expected<json::Value> drawTimeline(Analysis &analysis, StringRef name,
                                          StringRef format) {
  const EmitterInfo *emitter = findEmitter(format);
  if (format != "html" && format != "svg")
    return refused("`" + format + "` is not `html` or `svg`");
  analysis.run();
  for (const ShownSchedule &shown : analysis.schedules()) {
    if (!shown.run || (!name.empty() && shown.schedule.name != name))
      continue;
    std::string text;
    raw_string_ostream os(text);
    std::string why;
    DiagEngine diags(analysis.files(),
                     [&](const Diagnostic &found) { why = found.message; });
    if (failed(emitter->function(shown.schedule, EmitOptions(), os, diags)))
      return refused(why);
    return json::Object{{"title", shown.schedule.name},
                        {"format", format},
                        {"text", json::fixUTF8(text)}};
  }
  return refused(name.empty() ? Twine("no schedule that can run")
                              : "no schedule `" + name + "` that can run");
}

Expected<json::Value> Server::execute(const json::Object &params) {
  if (params.getString("command") !=
      std::optional<StringRef>("pipec.showTimeline"))
    return make_error<RequestError>(RequestError::InvalidParams,
                                    "unknown `command`");
  const json::Array *arguments = params.getArray("arguments");
  auto argument = [&](size_t i) -> StringRef {
    if (!arguments || arguments->size() <= i)
      return "";
    return (*arguments)[i].getAsString().value_or("");
  };
  auto it = documents.find(argument(0).str());
  if (it == documents.end())
    return make_error<RequestError>(RequestError::InvalidParams,
                                    "no open document has this `uri`");
  StringRef format = argument(2);
  return drawTimeline(analysed(*it->second), argument(1),
                      format.empty() ? "html" : format);
}

} // namespace pipec::lsp
