//===- Findings.cpp - Diagnostics and their corrections -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Information.h"
#include "LanguageServer/OpenDocument.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/SemaDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec::lsp {

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// The values of `DiagnosticSeverity`.
static int severityOf(Severity severity) {
  return severity == Severity::Error     ? 1
         : severity == Severity::Warning ? 2
                                         : 3;
}

/// True for a name that an editor may show as unnecessary.
static bool isUnused(diag::Id id) {
  return is_contained({diag::UnusedLet.value, diag::UnusedFn.value,
                       diag::UnusedPattern.value, diag::UnusedParameter.value},
                      id);
}

/// The part of the document that a diagnostic is shown at.
static Span shownSpan(const Analysis &analysis, const Diagnostic &found) {
  if (!found.range.isValid())
    return {};
  if (analysis.isHere(found.range))
    return analysis.span(found.range);
  return analysis.span(analysis.importOf(found.range));
}

std::string Server::pageOf(diag::Id id) const {
  const DiagInfo &info = diagInfo(id);
  const ExplanationPlace *place = explanationPlace(info);
  if (!showsPages || !place)
    return "";
  // Headings have the anchors that ./x site gives them.
  if (!site.empty())
    return (site + "/docs/Diagnostics/" + place->phase + ".html#" +
            info.name.lower())
        .str();
  return uriOfPath(place->path) + "#L" + utostr(place->line);
}

static json::Value toJson(const Analysis &analysis, const LineMap &lines,
                          const Diagnostic &found, std::string page,
                          function_ref<json::Value(SMRange)> location) {
  std::string message = found.message;
  json::Array related;
  bool elsewhere = found.range.isValid() && !analysis.isHere(found.range);
  if (elsewhere) {
    StringRef file = analysis.files().lineColumn(found.range.Start).file;
    message = "in `" + file.str() + "`: " + message;
    related.push_back(json::Object{{"location", location(found.range)},
                                   {"message", json::fixUTF8(found.message)}});
  }
  for (const Diagnostic &note : found.notes) {
    if (note.range.isValid())
      related.push_back(json::Object{{"location", location(note.range)},
                                     {"message", json::fixUTF8(note.message)}});
    else
      message += "\n" + note.message;
  }
  json::Object result{
      {"range", lines.range(shownSpan(analysis, found))},
      {"severity", severityOf(found.severity)},
      {"code", diagInfo(found.id).name},
      {"source", "pipec"},
      {"message", json::fixUTF8(message)},
  };
  if (!page.empty())
    result["codeDescription"] = json::Object{{"href", std::move(page)}};
  if (!related.empty())
    result["relatedInformation"] = std::move(related);
  if (isUnused(found.id))
    result["tags"] = json::Array{1};
  return result;
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
  auto place = [&](SMRange range) {
    return location(document, analysis, range);
  };
  json::Array all;
  for (const Diagnostic &found : analysis.diagnostics())
    all.push_back(
        toJson(analysis, document.lines, found, pageOf(found.id), place));
  notify("textDocument/publishDiagnostics",
         json::Object{{"uri", document.document.uri},
                      {"version", document.document.version},
                      {"diagnostics", std::move(all)}});
  return true;
}

//===----------------------------------------------------------------------===//
// Corrections
//===----------------------------------------------------------------------===//

static std::string titleOf(const FixIt &edit, diag::Id id) {
  if (id == diag::ExpectFailed)
    return "Replace by the measured value `" + edit.text + "`";
  StringRef old = ast::sourceText(edit.range);
  auto quoted = [](StringRef text) {
    return "`" + shortened(text.trim().split('\n').first) + "`";
  };
  if (old.empty())
    return "Insert " + quoted(edit.text);
  return edit.text.empty() ? "Remove " + quoted(old)
                           : "Change to " + quoted(edit.text);
}

/// The corrections of the diagnostics that touch a range.
Expected<json::Value> Server::codeActions(const json::Object &params,
                                          Target &at) {
  const json::Object *range = params.getObject("range");
  std::optional<Position> begin, end;
  if (range) {
    begin = positionFrom(range->get("start"));
    end = positionFrom(range->get("end"));
  }
  if (!begin || !end)
    return invalid("no usable `range`");
  const json::Object *context = params.getObject("context");
  const json::Array *only = context ? context->getArray("only") : nullptr;
  if (only && none_of(*only, [](const json::Value &kind) {
        StringRef text = kind.getAsString().value_or("?");
        return text.empty() || text == "quickfix";
      }))
    return json::Array{};
  Analysis &analysis = *at.document->latest;
  analysis.run();
  const LineMap &lines = at.document->lines;
  Span span{lines.offset(*begin), lines.offset(*end)};
  json::Array actions;
  // The documents of the related places are not of interest here.
  auto noPlace = [](SMRange) { return json::Value(nullptr); };
  for (const Diagnostic &found : analysis.diagnostics()) {
    Span shown = shownSpan(analysis, found);
    if (shown.end < span.begin || span.end < shown.begin)
      continue;
    auto add = [&](ArrayRef<FixIt> edits) {
      if (edits.empty() || !all_of(edits, [&](const FixIt &edit) {
            return analysis.isHere(edit.range);
          }))
        return;
      json::Array changes;
      for (const FixIt &edit : edits)
        changes.push_back(
            json::Object{{"range", lines.range(analysis.exactSpan(edit.range))},
                         {"newText", edit.text}});
      json::Value reported =
          toJson(analysis, lines, found, pageOf(found.id), noPlace);
      reported.getAsObject()->erase("relatedInformation");
      actions.push_back(json::Object{
          {"title", json::fixUTF8(titleOf(edits.front(), found.id))},
          {"kind", "quickfix"},
          // The figure may be wrong instead of the clause.
          {"isPreferred",
           edits.front().isSafe && found.id != diag::ExpectFailed},
          {"diagnostics", json::Array{std::move(reported)}},
          {"edit",
           json::Object{{"changes", json::Object{{at.document->document.uri,
                                                  std::move(changes)}}}}}});
    };
    add(found.fixIts);
    for (const Diagnostic &note : found.notes)
      add(note.fixIts);
  }
  return actions;
}

} // namespace pipec::lsp
