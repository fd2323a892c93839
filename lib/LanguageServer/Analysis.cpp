//===- Analysis.cpp - One version of a document, analysed -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/Analysis.h"

#include "IRGen/IRGen.h"
#include "Lint/Lint.h"
#include "Parse/Parser.h"
#include "Simulation/ExpectCheck.h"
#include "StepText/StepParser.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace llvm;

namespace pipec::lsp {

/// Step IR has an extension of its own, or begins with its name.
static bool looksLikeSteps(StringRef path, StringRef text) {
  text.consume_front(byteOrderMark);
  return sys::path::extension(path).equals_insensitive(".steps") ||
         text.ltrim().starts_with("pipec-steps");
}

Analysis::Analysis(const Document &document, const SearchPath &search,
                   const UnsavedText &unsaved)
    : number(document.version), diags(sources, [this](const Diagnostic &found) {
        if (reported.size() < maxShownDiagnostics)
          reported.push_back(found);
      }) {
  diags.setErrorLimit(maxShownDiagnostics);
  Expected<StringRef> text =
      sources.add(MemoryBuffer::getMemBufferCopy(document.text, document.path));
  if (!text) {
    consumeError(text.takeError());
    return;
  }
  source = *text;
  steps = looksLikeSteps(document.path, source);
  size_t limit = steps ? maxDocumentBytes : maxSourceBytes;
  if (source.size() > limit) {
    (void)diags.report(DiagLoc(), diag::FileTooLarge, document.path, limit);
    hasRun = true;
    return;
  }
  if (!steps)
    readProgram(document.path, search, unsaved);
}

void Analysis::readProgram(const std::string &path, const SearchPath &search,
                           const UnsavedText &unsaved) {
  ProgramLoader loader(search, context, diags, unsaved);
  FailureOr<ast::Module *> loaded = loader.load(path, source);
  ast::Module *module = loader.main();
  if (!module)
    return;
  parsed = module;
  FailureOr<CheckedProgram> checked = failure();
  if (succeeded(loaded)) {
    checked = checkProgram(*module, context, diags);
  } else {
    // Names of files that were not loaded would be reported as unknown.
    DiagEngine silent(sources, [](const Diagnostic &) {});
    (void)checkProgram(*module, context, silent);
  }
  if (succeeded(checked))
    program = std::move(*checked);
  table = NameTable(*module);
}

/// The number that a clause compares with, at the end of its text; empty if it
/// is a formula, which one measured figure does not replace.
static StringRef numberOf(StringRef clause, StringRef relation) {
  clause = clause.take_until([](char c) { return c == ';' || c == '\n'; });
  StringRef number = clause.split("//").first.split(relation).second.trim();
  bool isNumber =
      all_of(number, [](char c) { return isDigit(c) || c == '.' || c == '/'; });
  return isNumber ? number : "";
}

/// Reports the first figure of each clause that does not hold, with an edit
/// that puts the figure that was measured in place of the number of a clause of
/// one figure. Returns the clauses that hold.
static std::vector<HeldClause> reportExpectations(const Schedule &schedule,
                                                  DiagEngine &diags) {
  std::vector<HeldClause> held;
  FailureOr<std::vector<CheckedFigure>> figures =
      checkExpectations(schedule, diags);
  if (failed(figures))
    return held;
  // The clauses are interleaved where they are per rank.
  struct Clause {
    unsigned numFigures = 0, numFalse = 0;
    bool isSeen = false;
  };
  std::map<uint32_t, Clause> clauses;
  for (const CheckedFigure &figure : *figures) {
    Clause &clause = clauses[figure.expectation.source.offset];
    ++clause.numFigures;
    clause.numFalse += !figure.holds;
  }
  for (const CheckedFigure &figure : *figures) {
    const Expectation &wanted = figure.expectation;
    Clause &clause = clauses[wanted.source.offset];
    if (clause.isSeen || (clause.numFalse && figure.holds))
      continue;
    clause.isSeen = true;
    bool isOne = clause.numFigures == 1;
    if (!clause.numFalse) {
      held.push_back({wanted.source, std::nullopt});
      if (isOne)
        held.back().measured = figure.measured;
      continue;
    }
    InFlightDiagnostic error = diags.report(
        wanted.source, diag::ExpectFailed, figureName(wanted), figure.measured,
        relationName(wanted.relation), wanted.value);
    const SourceFiles &files = diags.sourceFiles();
    SMLoc begin = files.expand(wanted.source);
    StringRef text = files.textOf(begin);
    StringRef number =
        numberOf(text.drop_front(size_t(begin.getPointer() - text.data())),
                 relationName(wanted.relation));
    if (number.empty() || !isOne)
      continue;
    std::string measured;
    raw_string_ostream(measured) << figure.measured;
    error.fixIt(SMRange(SMLoc::getFromPointer(number.begin()),
                        SMLoc::getFromPointer(number.end())),
                measured);
  }
  return held;
}

void Analysis::readSteps() {
  StringRef text = source;
  text.consume_front(byteOrderMark);
  FailureOr<Schedule> schedule = parseSteps(text, diags);
  if (failed(schedule))
    return;
  SMLoc begin = sources.expand(schedule->source);
  StringRef rest(begin.getPointer(), source.end() - begin.getPointer());
  StringRef line = rest.take_until([](char c) { return c == '\n'; }).rtrim();
  shown.push_back({SMRange(begin, SMLoc::getFromPointer(line.end())),
                   std::move(*schedule), nullptr});
}

void Analysis::lowerSchedules() {
  LowerOptions options;
  options.maxSteps = maxDocumentSteps;
  // Sizes that are not given are not a mistake in the text.
  DiagEngine::ScopedFilter filter(diags, [](Diagnostic &found) {
    return found.id != diag::ParameterWithoutValue &&
           found.id != diag::TooManySteps;
  });
  for (const CheckedSchedule &checked : program->schedules) {
    FailureOr<Schedule> schedule = lower(*program, checked, options, diags);
    if (failed(schedule)) {
      // It may have used all of them.
      options.maxSteps /= 2;
      continue;
    }
    options.maxSteps -=
        std::min<uint64_t>(options.maxSteps, schedule->numSteps());
    shown.push_back(
        {SMRange(checked.decl->range.Start, checked.decl->body.range.Start),
         std::move(*schedule), nullptr});
  }
}

void Analysis::run() {
  if (hasRun)
    return;
  hasRun = true;
  if (steps)
    readSteps();
  if (program)
    lowerSchedules();
  for (ShownSchedule &each : shown) {
    LintResult result = lint(each.schedule, LintOptions(), diags);
    if (!result.faults.empty())
      continue;
    DiagEngine silent(sources, [](const Diagnostic &) {});
    FailureOr<Simulation> simulation =
        simulate(each.schedule, std::nullopt, silent);
    if (succeeded(simulation))
      each.run = std::make_unique<Simulation>(std::move(*simulation));
    each.held = reportExpectations(each.schedule, diags);
  }
}

bool Analysis::hasRead(StringRef path) const {
  for (unsigned i = 1; i < sources.numFiles(); ++i)
    if (sources.file(i).getBufferIdentifier() == path ||
        sys::fs::equivalent(sources.file(i).getBufferIdentifier(), path))
      return true;
  return parsed && any_of(parsed->imports, [&](const ast::ImportDecl &import) {
           return !import.module && sys::path::filename(import.path.value) ==
                                        sys::path::filename(path);
         });
}

bool Analysis::isHere(SMRange range) const {
  return range.isValid() && sources.textOf(range.Start).data() == source.data();
}

Span Analysis::exactSpan(SMRange range) const {
  StringRef text = sources.textOf(range.Start);
  size_t begin = range.Start.getPointer() - text.data();
  size_t end = range.End.getPointer() - text.data();
  return {begin, std::max(begin, std::min(end, text.size()))};
}

Span Analysis::span(SMRange range) const {
  Span exact = exactSpan(range);
  if (exact.begin != exact.end)
    return exact;
  StringRef rest = sources.textOf(range.Start).drop_front(exact.begin);
  size_t word = rest.take_while(isWordByte).size();
  bool atEnd = rest.empty() || rest[0] == '\n' || rest[0] == '\r';
  exact.end += word ? word : atEnd ? 0 : 1;
  return exact;
}

SMRange Analysis::importOf(SMRange range) const {
  SMLoc begin = loc(0);
  if (!parsed)
    return {begin, begin};
  StringRef text = sources.textOf(range.Start);
  for (const ast::ImportDecl &import : parsed->imports)
    if (import.module && import.module->text.data() == text.data())
      return import.path.range;
  // A file that has errors is not attached to its import, so it is found by its
  // name.
  StringRef file = sys::path::filename(sources.lineColumn(range.Start).file);
  for (const ast::ImportDecl &import : parsed->imports)
    if (sys::path::filename(import.path.value) == file)
      return import.path.range;
  return parsed->imports.empty() ? SMRange(begin, begin)
                                 : parsed->imports.front().path.range;
}

} // namespace pipec::lsp
