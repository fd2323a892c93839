//===- DiagPrinter.cpp - Diagnostics as text ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/DiagPrinter.h"

#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// The number of bytes of a source line that are shown before and after the
/// caret.
static constexpr size_t shownBefore = 80;
static constexpr size_t shownAfter = 80;

StringRef severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  llvm_unreachable("all severities are named");
}

std::string flagText(const Diagnostic &diagnostic) {
  StringRef flag = diagInfo(diagnostic.id).flag;
  if (flag.empty())
    return "";
  bool isError = diagnostic.severity == Severity::Error;
  return ((isError ? " [-Werror=" : " [-W") + flag + "]").str();
}

static raw_ostream::Colors severityColor(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return raw_ostream::RED;
  case Severity::Warning:
    return raw_ostream::MAGENTA;
  case Severity::Note:
    return raw_ostream::CYAN;
  }
  llvm_unreachable("all severities have a colour");
}

/// The cell of a CSV that starts at `loc`. As for the reader, it ends at the
/// next comma; trailing blanks and the quotes are not part of it.
static StringRef cellAt(SMLoc loc, const SourceFiles &files) {
  StringRef file = files.textOf(loc);
  StringRef text = file.drop_front(loc.getPointer() - file.data());
  text = text.take_until([](char c) { return StringRef(",\r\n").contains(c); })
             .rtrim(" \t");
  // A step is marked after the quote, a mistake in place of the quote.
  if (text.size() > 1 && text.front() == '"' && text.back() == '"')
    return text.drop_front().drop_back();
  if (text.begin() != file.begin() && text.data()[-1] == '"')
    text.consume_back("\"");
  return text;
}

/// File names and file contents may be arbitrary bytes.
static json::Value text(StringRef bytes) { return json::fixUTF8(bytes); }

void writeLocation(json::OStream &json, SMLoc loc, const SourceFiles &files) {
  if (!loc.isValid()) {
    for (StringRef key : {"file", "line", "column"})
      json.attribute(key, nullptr);
    return;
  }
  LineColumn at = files.lineColumn(loc);
  json.attribute("file", text(at.file));
  json.attribute("line", at.line);
  json.attribute("column", at.column);
}

/// The only edit of the diagnostic, if it is an insertion; otherwise null.
static const FixIt *insertionOf(const Diagnostic &diagnostic) {
  if (diagnostic.fixIts.size() != 1)
    return nullptr;
  const FixIt &edit = diagnostic.fixIts.front();
  return edit.range.Start == edit.range.End ? &edit : nullptr;
}

/// Prints the part of a source line around a diagnostic, with a caret below it,
/// and the text to insert below it.
static void printExcerpt(raw_ostream &os, const Diagnostic &diagnostic,
                         const SourceFiles &files) {
  SMRange range = diagnostic.range;
  StringRef text = files.textOf(range.Start);
  size_t at = range.Start.getPointer() - text.data();
  // The part of the line around the caret, cut at character boundaries. Nothing
  // else of the line is looked at, which may be long and have many messages.
  size_t begin = at - std::min(at, shownBefore);
  size_t newline = text.slice(begin, at).rfind('\n');
  bool cutLeft =
      newline == StringRef::npos && begin != 0 && text[begin - 1] != '\n';
  if (newline != StringRef::npos)
    begin += newline + 1;
  while (cutLeft && begin < at && isContinuationByte(text[begin]))
    ++begin;
  size_t end = std::min(text.size(), at + shownAfter);
  size_t lineEnd = text.take_front(end).find_first_of("\r\n", at);
  bool cutRight = lineEnd == StringRef::npos && end != text.size() &&
                  text[end] != '\r' && text[end] != '\n';
  if (lineEnd != StringRef::npos)
    end = lineEnd;
  while (cutRight && end > at && isContinuationByte(text[end]))
    --end;

  if (cutLeft)
    os << "...";
  os << terminalText(text.slice(begin, end));
  if (cutRight)
    os << "...";
  os << '\n';

  size_t rangeEnd = range.End.getPointer() - text.data();
  rangeEnd = std::min(std::max(rangeEnd, at), end);
  os.indent((cutLeft ? 3 : 0) + terminalWidth(text.slice(begin, at)));
  os << '^';
  size_t width = terminalWidth(text.slice(at, rangeEnd));
  for (size_t i = 1; i < width; ++i)
    os << '~';
  os << '\n';
  if (const FixIt *insertion = insertionOf(diagnostic)) {
    size_t place = insertion->range.Start.getPointer() - text.data();
    if (place < begin || place > end)
      return;
    os.indent((cutLeft ? 3 : 0) + terminalWidth(text.slice(begin, place)));
    os << StringRef(insertion->text).trim() << '\n';
  }
}

/// Writes the end of the range that a diagnostic points at.
static void writeEnd(json::OStream &json, SMRange range,
                     const SourceFiles &files) {
  std::optional<LineColumn> at;
  if (range.isValid())
    at = files.lineColumn(range.End);
  json.attribute("endLine", at ? json::Value(at->line) : nullptr);
  json.attribute("endColumn", at ? json::Value(at->column) : nullptr);
}

void writeDiagnostic(json::OStream &json, const Diagnostic &diagnostic,
                     const SourceFiles &files, bool csvCells) {
  SMLoc loc = diagnostic.range.Start;
  const std::optional<StepPlace> &place = diagnostic.place;
  json.object([&] {
    const DiagInfo &info = diagInfo(diagnostic.id);
    json.attribute("kind", info.name);
    json.attribute("severity", severityName(diagnostic.severity));
    json.attribute("message", text(diagnostic.message));
    json.attribute("rank", place ? json::Value(place->rank) : nullptr);
    json.attribute("position", place ? json::Value(place->position) : nullptr);
    json.attribute("cell", csvCells && loc.isValid() ? text(cellAt(loc, files))
                           : place                   ? text(place->step)
                                                     : nullptr);
    writeLocation(json, loc, files);
    writeEnd(json, diagnostic.range, files);
    std::string excerpt;
    if (loc.isValid()) {
      raw_string_ostream excerptOs(excerpt);
      printExcerpt(excerptOs, diagnostic, files);
    }
    json.attribute("excerpt", textOrNull(excerpt));
    writeObjects(json, "fixes", diagnostic.fixIts, [&](const FixIt &edit) {
      writeLocation(json, edit.range.Start, files);
      writeEnd(json, edit.range, files);
      json.attribute("text", text(edit.text));
      json.attribute("applicability", edit.applicability());
    });
    writeArray(json, "notes", diagnostic.notes, [&](const Diagnostic &note) {
      writeDiagnostic(json, note, files, csvCells);
    });
    json.attribute("flag", textOrNull(info.flag));
    if (diagnostic.ranks.empty())
      json.attribute("ranks", nullptr);
    else
      json.attribute("ranks", json::Array(diagnostic.ranks));
  });
}

std::string firstErrorIn(StringRef lines) {
  for (StringRef line : split(lines, '\n')) {
    std::optional<json::Object> object = parseJsonObject(line);
    if (object &&
        object->getString("severity") == severityName(Severity::Error))
      return object->getString("message").value_or("").str();
  }
  return "";
}

/// True for a note on a file of the library.
static bool isLibraryNote(const Diagnostic &diagnostic,
                          const SourceFiles &files) {
  return diagnostic.severity == Severity::Note && diagnostic.range.isValid() &&
         files.isOfLibrary(files.lineColumn(diagnostic.range.Start).file);
}

void DiagPrinter::operator()(const Diagnostic &diagnostic) {
  if (json) {
    json::OStream object(os);
    writeDiagnostic(object, diagnostic, files);
    os << '\n';
    return;
  }
  printOne(diagnostic);
  if (isLibraryNote(diagnostic, files))
    return;
  for (const Diagnostic &note : diagnostic.notes)
    printOne(note);
}

void DiagPrinter::printOne(const Diagnostic &diagnostic) {
  bool located = diagnostic.range.isValid();
  if (located) {
    LineColumn at = files.lineColumn(diagnostic.range.Start);
    os << terminalText(files.shownName(at.file)) << ':' << at.line << ':'
       << at.column << ": ";
  } else {
    os << tool << ": ";
  }
  if (colors)
    os.changeColor(severityColor(diagnostic.severity), /*Bold=*/true);
  os << severityName(diagnostic.severity) << ": ";
  if (colors)
    os.resetColor();
  os << terminalText(diagnostic.message);
  if (showKinds)
    os << " [" << diagInfo(diagnostic.id).name << ']';
  os << flagText(diagnostic) << '\n';
  if (located && !isLibraryNote(diagnostic, files))
    printExcerpt(os, diagnostic, files);
}

} // namespace pipec
