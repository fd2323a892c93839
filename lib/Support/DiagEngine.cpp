//===- DiagEngine.cpp - Reporting of errors and warnings ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/DiagEngine.h"

#include "Support/DiagKinds.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <iterator>
#include <vector>

using namespace llvm;

namespace pipec {

DiagEngine::ScopedFilter::ScopedFilter(DiagEngine &engine, Filter filter)
    : engine(engine), filter(std::move(filter)), outer(engine.filter) {
  engine.filter = this;
}

DiagEngine::ScopedFilter::~ScopedFilter() { engine.filter = outer; }

InFlightDiagnostic::~InFlightDiagnostic() {
  if (engine)
    engine->emit(std::move(diagnostic));
}

InFlightDiagnostic &InFlightDiagnostic::fixIt(SMRange range, StringRef text) {
  diagnostic.fixIts.push_back({range, text.str()});
  return *this;
}

/// The range with the rest of its lines, if only blanks precede it there and
/// only blanks or a comment follow it; otherwise the range.
static SMRange wholeLines(SMRange range, StringRef file) {
  const char *begin = range.Start.getPointer();
  const char *end = range.End.getPointer();
  auto isBlank = [](char c) { return c == ' ' || c == '\t'; };
  while (begin != file.begin() && isBlank(begin[-1]))
    --begin;
  StringRef rest(end, file.end() - end);
  StringRef after = rest.take_until([](char c) { return c == '\n'; });
  StringRef text = after.trim();
  bool alone = (begin == file.begin() || begin[-1] == '\n') &&
               (text.empty() || text.starts_with("//"));
  if (!alone)
    return range;
  end += std::min(after.size() + 1, rest.size());
  return {SMLoc::getFromPointer(begin), SMLoc::getFromPointer(end)};
}

InFlightDiagnostic &InFlightDiagnostic::removal(SMRange statement) {
  return fixIt(
      wholeLines(statement, engine->sourceFiles().textOf(statement.Start)), "");
}

InFlightDiagnostic &InFlightDiagnostic::suggest(SMRange range,
                                                StringRef meant) {
  note(range, diag::NoteDidYouMean, meant);
  diagnostic.notes.back().fixIts.push_back(
      {range, meant.str(), /*isSafe=*/false});
  return *this;
}

InFlightDiagnostic &InFlightDiagnostic::at(StepPlace place) {
  diagnostic.place = std::move(place);
  return *this;
}

bool DiagEngine::setGrade(StringRef flag, Grade grade) {
  bool all = flag == "all", known = false;
  for (const DiagInfo &info : allDiagInfos()) {
    if (info.severity != Severity::Warning ||
        !(all || info.flag == flag || info.name == flag))
      continue;
    known = true;
    auto [it, isNew] = grades.try_emplace(info.flag, Grade::Default);
    if (!all || grade != Grade::On)
      it->second = grade;
    else if (it->second == Grade::Off)
      it->second = Grade::Default;
  }
  return known;
}

std::optional<Severity> DiagEngine::graded(StringRef flag,
                                           Severity severity) const {
  auto it = grades.find(flag);
  switch (it == grades.end() ? Grade::Default : it->second) {
  case Grade::Default:
    return severity;
  case Grade::On:
    return severity == Severity::Note ? Severity::Warning : severity;
  case Grade::Off:
    return std::nullopt;
  case Grade::Note:
    return Severity::Note;
  case Grade::Warning:
    return Severity::Warning;
  case Grade::Error:
    return Severity::Error;
  }
  llvm_unreachable("all grades are handled");
}

void DiagEngine::emit(Diagnostic diagnostic) {
  for (ScopedFilter *each = filter; each; each = each->outer)
    if (!each->filter(diagnostic))
      return;
  // A kind with a flag can also be reported as a note or an error.
  StringRef flag = diagInfo(diagnostic.id).flag;
  bool staysWarning = false;
  if (auto it = grades.find(flag); it != grades.end()) {
    std::optional<Severity> severity = graded(flag, diagnostic.severity);
    if (!severity)
      return;
    diagnostic.severity = *severity;
    staysWarning = it->second == Grade::Warning;
  }
  if (diagnostic.severity == Severity::Warning) {
    if (warningsAreErrors && !staysWarning)
      diagnostic.severity = Severity::Error;
    else
      ++warnings;
  }
  if (diagnostic.severity == Severity::Error) {
    ++errors;
    if (errorLimit && errors > errorLimit) {
      if (errors == errorLimit + 1)
        handler({diag::TooManyErrors, Severity::Note, SMRange(),
                 format(diag::TooManyErrors, errorLimit)});
      return;
    }
  }
  handler(diagnostic);
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

namespace {

/// All rows, and the index of the first row of each phase.
struct Tables {
  std::vector<DiagInfo> rows;
  std::vector<size_t> begin;
};

} // namespace

// An id holds the number of its phase, so the tables must be included in the
// order of the phases.
static constexpr diag::Phase tableOrder[] = {
#define PIPEC_DIAG_PHASE(Id) diag::Phase::Id,
#include "Support/Diagnostics.def"
};
static constexpr bool isTableOrderOfPhases() {
  for (unsigned phase = 0; phase != std::size(tableOrder); ++phase)
    if (unsigned(tableOrder[phase]) != phase)
      return false;
  return std::size(tableOrder) == diag::numPhases;
}
static_assert(isTableOrderOfPhases(),
              "Diagnostics.def must list the phases as DiagPhases.def does");

// A title applies to all rows up to the next title.
static Tables makeTables() {
  Tables tables;
  StringLiteral group = "";
#define PIPEC_DIAG_PHASE(Id) tables.begin.push_back(tables.rows.size());
#define PIPEC_DIAG_GROUP(Title) group = Title;
#define PIPEC_ERROR(Id, Format)                                                \
  tables.rows.push_back({#Id, Severity::Error, "", Format, group});
#define PIPEC_USAGE_ERROR(Id, Format)                                          \
  tables.rows.push_back(                                                       \
      {#Id, Severity::Error, "", Format, group, /*isUsage=*/true});
#define PIPEC_WARNING(Id, Flag, Format)                                        \
  tables.rows.push_back({#Id, Severity::Warning, Flag, Format, group});
#define PIPEC_NOTE(Id, Format)                                                 \
  tables.rows.push_back({#Id, Severity::Note, "", Format, group});
#include "Support/Diagnostics.def"
  return tables;
}

static const Tables &allTables() {
  static const Tables tables = makeTables();
  return tables;
}

ArrayRef<DiagInfo> allDiagInfos() { return allTables().rows; }

const DiagInfo &diagInfo(diag::Id id) {
  const Tables &tables = allTables();
  return tables.rows[tables.begin[unsigned(diag::phaseOf(id))] +
                     unsigned(id) % diag::maxRows];
}

std::string textOf(const DiagInfo &info) {
  std::string text;
  for (StringRef rest = info.format; !rest.empty();) {
    auto [before, after] = rest.split('{');
    text += before;
    if (before.size() == rest.size())
      break;
    bool isBrace = after.consume_front("{"); // written twice
    text += isBrace ? "{" : "...";
    rest = isBrace ? after : after.split('}').second;
  }
  return text;
}

} // namespace pipec
