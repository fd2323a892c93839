//===- Requests.cpp - Requests about documents ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Emitter.h"
#include "Format/Formatter.h"
#include "LanguageServer/OpenDocument.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::lsp {

//===----------------------------------------------------------------------===//
// The place of a request
//===----------------------------------------------------------------------===//

Shift::Shift(StringRef oldText, StringRef newText) {
  size_t shorter = std::min(oldText.size(), newText.size());
  auto [oldEnd, newEnd] = std::mismatch(
      oldText.begin(), oldText.begin() + shorter, newText.begin());
  same = oldEnd - oldText.begin();
  size_t tail = 0;
  while (tail != shorter - same && oldText[oldText.size() - 1 - tail] ==
                                       newText[newText.size() - 1 - tail])
    ++tail;
  oldTail = oldText.size() - tail;
  newTail = newText.size() - tail;
}

/// Moves `offset` with the tail of the text.
static std::optional<size_t> shifted(size_t offset, size_t same, size_t from,
                                     size_t to) {
  if (offset <= same)
    return offset;
  if (offset >= from)
    return offset - from + to;
  return std::nullopt;
}

std::optional<size_t> Shift::toOld(size_t offset) const {
  return shifted(offset, same, newTail, oldTail);
}

std::optional<size_t> Shift::toNew(size_t offset) const {
  return shifted(offset, same, oldTail, newTail);
}

std::optional<Span> Shift::toNew(Span span) const {
  std::optional<size_t> begin = toNew(span.begin), end = toNew(span.end);
  if (!begin || !end || *end < *begin)
    return std::nullopt;
  return Span{*begin, *end};
}

void Server::OpenDocument::setText(StringRef text, int64_t version) {
  document.text = text.str();
  document.version = version;
  lines = LineMap(document.text);
  isChanged = true;
  latest.reset();
}

const Occurrence *Server::Target::name() const {
  if (!analysis || analysis->isSteps())
    return nullptr;
  return analysis->names().at(analysis->loc(offset));
}

std::optional<json::Value> Server::Target::range(Span span) const {
  std::optional<Span> now = shift.toNew(span);
  if (!now)
    return std::nullopt;
  return document->lines.range(*now);
}

Expected<Server::Target> Server::known(const json::Object &params) {
  Target target;
  target.document = find(params);
  if (!target.document)
    return invalid("no open document has this `uri`");
  Analysis &latest = analysed(*target.document);
  if (latest.isSteps()) {
    latest.run();
    target.analysis = target.document->latest;
    return target;
  }
  // Names come from the last version without syntax errors.
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
    return invalid("no usable `position`");
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

json::Object markdown(StringRef text) {
  return json::Object{{"kind", "markdown"}, {"value", json::fixUTF8(text)}};
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

Expected<json::Value> Server::completion(const json::Object &params,
                                         Target &at) {
  std::optional<Position> position = positionFrom(params.get("position"));
  if (!position)
    return invalid("no usable `position`");
  StringRef text = at.document->document.text;
  json::Array items;
  if (text.size() > maxDocumentBytes)
    return items;
  StringRef before = text.take_front(at.document->lines.offset(*position));
  for (Proposal &proposal :
       at.document->latest->isSteps()
           ? completeSteps(before)
           : complete(before, importedNames(at.analysis ? at.analysis->module()
                                                        : nullptr)))
    items.push_back(json::Object{{"label", proposal.word},
                                 {"kind", int(proposal.kind)},
                                 {"documentation", markdown(proposal.doc)}});
  return items;
}

Expected<json::Value> Server::formatting(const json::Object &, Target &at) {
  const Analysis &latest = *at.document->latest;
  // A text with syntax errors has no tree to print.
  if (!latest.isRead())
    return nullptr;
  std::string text;
  raw_string_ostream os(text);
  if (latest.isSteps())
    text = formatSteps(latest.text(), latest.schedules().front().schedule);
  else
    ast::printCanonical(*latest.module(), os);
  if (text == latest.text())
    return json::Array{};
  return json::Array{json::Object{
      {"range", at.document->lines.range({0, latest.text().size()})},
      {"newText", std::move(text)}}};
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

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

Expected<Server::CommandArguments>
Server::commandArguments(const json::Object &params) {
  const json::Array *arguments = params.getArray("arguments");
  auto argument = [&](size_t i) -> StringRef {
    if (!arguments || arguments->size() <= i)
      return "";
    return (*arguments)[i].getAsString().value_or("");
  };
  auto it = documents.find(argument(0).str());
  if (it == documents.end())
    return invalid("no open document has this `uri`");
  return CommandArguments{it->second.get(), argument(1), argument(2)};
}

Expected<json::Value> Server::execute(const json::Object &params, Target &) {
  if (params.getString("command") !=
      std::optional<StringRef>("pipec.showTimeline"))
    return invalid("unknown `command`");
  Expected<CommandArguments> arguments = commandArguments(params);
  if (!arguments)
    return arguments.takeError();
  StringRef format = arguments->format;
  return drawTimeline(analysed(*arguments->document), arguments->schedule,
                      format.empty() ? "html" : format);
}

} // namespace pipec::lsp
