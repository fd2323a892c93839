//===- VerifyDiagnostics.cpp - Expected diagnostics in tests --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/VerifyDiagnostics.h"

#include "Support/DiagPrinter.h"
#include "Support/Diagnostics/CommandDiags.h"

using namespace llvm;

namespace pipec {

namespace {

struct Expectation {
  Severity severity;
  StringRef kind; // empty: any
  StringRef file; // empty: a diagnostic without a position
  unsigned line;
  StringRef text;
  SMRange range;
  bool met = false;
};

} // namespace

/// Reads the place after `@`.
static LogicalResult readPlace(StringRef &rest, Expectation &e) {
  if (rest.consume_front("file")) {
    e.file = "";
    e.line = 0;
    return success();
  }
  int sign = rest.consume_front("+") ? 1 : rest.consume_front("-") ? -1 : 0;
  unsigned number = 0;
  if (rest.consumeInteger(10, number))
    return failure();
  e.line = sign ? e.line + sign * int(number) : number;
  return success();
}

static constexpr StringLiteral marker = "expected-";

/// Reads the comment that begins with the marker.
static LogicalResult readOne(StringRef text, const SourceFiles &files,
                             DiagEngine &out, std::vector<Expectation> &list) {
  SMLoc start = SMLoc::getFromPointer(text.data());
  StringRef rest = text.drop_front(marker.size());
  Expectation e{};
  if (rest.consume_front("error"))
    e.severity = Severity::Error;
  else if (rest.consume_front("warning"))
    e.severity = Severity::Warning;
  else if (rest.consume_front("note"))
    e.severity = Severity::Note;
  else
    return success(); // an occurrence within a sentence
  if (rest.consume_front("(")) {
    size_t end = rest.find(')');
    if (end == StringRef::npos)
      return out.report(start, diag::ExpectationMalformed, "no `)`");
    e.kind = rest.take_front(end);
    rest = rest.drop_front(end + 1);
  }
  LineColumn at = files.lineColumn(start);
  e.file = at.file;
  e.line = at.line;
  if (rest.consume_front("@") && failed(readPlace(rest, e)))
    return out.report(start, diag::ExpectationMalformed, "no line after `@`");
  rest = rest.ltrim();
  size_t end = rest.rfind("}}");
  if (!rest.consume_front("{{") || end == StringRef::npos)
    return out.report(start, diag::ExpectationMalformed, "no text in `{{}}`");
  // A line may have several expectations; the first `}}` ends this one.
  e.text = rest.take_front(rest.find("}}"));
  e.range = {start, SMLoc::getFromPointer(e.text.end() + 2)};
  list.push_back(e);
  return success();
}

void DiagVerifier::operator()(const Diagnostic &diagnostic) {
  given.push_back(diagnostic);
  for (const Diagnostic &note : diagnostic.notes)
    given.push_back(note);
}

LogicalResult DiagVerifier::verify(DiagEngine &out) const {
  std::vector<Expectation> expectations;
  bool good = true;
  for (unsigned i = 0, n = files.numFiles(); i != n; ++i) {
    StringRef text = files.file(i).getBuffer();
    for (size_t at = text.find(marker); at != StringRef::npos;
         at = text.find(marker, at + marker.size())) {
      StringRef line = text.drop_front(at).split('\n').first;
      good &= succeeded(readOne(line, files, out, expectations));
    }
  }

  for (const Diagnostic &diagnostic : given) {
    bool located = diagnostic.range.isValid();
    LineColumn at =
        located ? files.lineColumn(diagnostic.range.Start) : LineColumn();
    bool found = false;
    for (Expectation &e : expectations) {
      if (e.met || e.severity != diagnostic.severity || e.file != at.file ||
          e.line != at.line ||
          !StringRef(diagnostic.message).contains(e.text) ||
          (!e.kind.empty() && e.kind != diagInfo(diagnostic.id).name))
        continue;
      e.met = found = true;
      break;
    }
    if (found)
      continue;
    good = false;
    (void)out.report(diagnostic.range, diag::ExpectationUnexpected,
                     severityName(diagnostic.severity),
                     diagnostic.message + " [" +
                         diagInfo(diagnostic.id).name.str() + "]");
  }
  for (const Expectation &e : expectations) {
    if (e.met)
      continue;
    good = false;
    (void)out.report(e.range, diag::ExpectationMissed, severityName(e.severity),
                     e.text);
  }
  return success(good);
}

} // namespace pipec
