//===- DiagKinds.cpp - The tables of diagnostics --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/DiagKinds.h"

#include <iterator>
#include <vector>

using namespace llvm;

namespace pipec {

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
