//===- DiagEngine.cpp - Reporting of errors and warnings ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/DiagEngine.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

// The groups are separators in the table; a row takes the last one above it.
static std::vector<DiagInfo> makeTable() {
  std::vector<DiagInfo> table;
  StringLiteral group = "";
#define PIPEC_DIAG_GROUP(Title) group = Title;
#define PIPEC_ERROR(Id, Format)                                                \
  table.push_back({#Id, Severity::Error, "", Format, group});
#define PIPEC_USAGE_ERROR(Id, Format)                                          \
  table.push_back({#Id, Severity::Error, "", Format, group, /*isUsage=*/true});
#define PIPEC_WARNING(Id, Flag, Format)                                        \
  table.push_back({#Id, Severity::Warning, Flag, Format, group});
#define PIPEC_NOTE(Id, Format)                                                 \
  table.push_back({#Id, Severity::Note, "", Format, group});
#include "Support/Diagnostics.def"
  return table;
}

ArrayRef<DiagInfo> allDiagInfos() {
  static const std::vector<DiagInfo> table = makeTable();
  return table;
}

const DiagInfo &diagInfo(diag::Id id) { return allDiagInfos()[size_t(id)]; }

InFlightDiagnostic::~InFlightDiagnostic() {
  if (engine)
    engine->emit(std::move(diagnostic));
}

InFlightDiagnostic &InFlightDiagnostic::fixIt(StringRef text) {
  diagnostic.fixIt = text.str();
  return *this;
}

InFlightDiagnostic &InFlightDiagnostic::at(StepPlace place) {
  diagnostic.place = std::move(place);
  return *this;
}

bool DiagEngine::setWarning(StringRef flag, bool on) {
  if (flag == "all") {
    disabledWarnings.clear();
    for (const DiagInfo &info : allDiagInfos())
      if (!on && info.severity == Severity::Warning)
        disabledWarnings.push_back(info.flag);
    return true;
  }
  bool known = any_of(allDiagInfos(), [&](const DiagInfo &info) {
    return info.severity == Severity::Warning && info.flag == flag;
  });
  llvm::erase(disabledWarnings, flag);
  if (known && !on)
    disabledWarnings.push_back(flag);
  return known;
}

void DiagEngine::emit(Diagnostic diagnostic) {
  for (ScopedFilter *each = filter; each; each = each->outer)
    if (!each->filter(diagnostic))
      return;
  // A kind with a flag may be given as a note, too.
  if (diagnostic.severity != Severity::Error &&
      is_contained(disabledWarnings, diagInfo(diagnostic.id).flag))
    return;
  if (diagnostic.severity == Severity::Warning) {
    if (warningsAreErrors)
      diagnostic.severity = Severity::Error;
    else
      ++warnings;
  }
  if (diagnostic.severity == Severity::Error) {
    ++errors;
    if (errorLimit && errors > errorLimit) {
      if (errors == errorLimit + 1)
        handler({diag::Id::TooManyErrors, Severity::Note, SMRange(),
                 format(diag::Id::TooManyErrors, errorLimit)});
      return;
    }
  }
  handler(diagnostic);
}

} // namespace pipec
