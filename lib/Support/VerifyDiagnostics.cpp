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

/// Reads the comments of one file.
class ExpectationReader {
public:
  ExpectationReader(SourceFiles &files, const MemoryBuffer &file,
                    DiagEngine &out)
      : files(files), file(file), out(out) {}

  LogicalResult read(std::vector<Expectation> &expectations) {
    StringRef text = file.getBuffer();
    constexpr StringRef marker = "expected-";
    bool good = true;
    for (size_t at = text.find(marker); at != StringRef::npos;
         at = text.find(marker, at + marker.size()))
      good &= succeeded(readOne(text.drop_front(at), expectations));
    return success(good);
  }

private:
  LogicalResult readOne(StringRef text, std::vector<Expectation> &list) {
    text = text.take_until([](char c) { return c == '\n'; });
    SMLoc start = SMLoc::getFromPointer(text.data());
    StringRef rest = text.drop_front(StringRef("expected-").size());
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
    e.file = file.getBufferIdentifier();
    e.line = files.lineColumn(start).line;
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

  LogicalResult readPlace(StringRef &rest, Expectation &e) {
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

  SourceFiles &files;
  const MemoryBuffer &file;
  DiagEngine &out;
};

} // namespace

void DiagVerifier::operator()(const Diagnostic &diagnostic) {
  given.push_back(diagnostic);
  for (const Diagnostic &note : diagnostic.notes)
    given.push_back(note);
}

LogicalResult DiagVerifier::verify(DiagEngine &out) const {
  std::vector<Expectation> expectations;
  bool good = true;
  for (unsigned i = 0, n = files.numFiles(); i != n; ++i)
    good &= succeeded(
        ExpectationReader(files, files.file(i), out).read(expectations));

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
