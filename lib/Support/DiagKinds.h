//===- DiagKinds.h - The kinds of diagnostics -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pipec {

enum class Severity : uint8_t { Error, Warning, Note };

/// One row of a table of diagnostics (Support/Diagnostics.def).
struct DiagInfo {
  llvm::StringLiteral name;
  Severity severity;
  /// The `-W` name of a warning, else empty.
  llvm::StringLiteral flag;
  llvm::StringLiteral format;
  /// The section of the page of its phase.
  llvm::StringLiteral group;
  /// A wrong command line, which exits with status 2.
  bool isUsage = false;
};

namespace diag {

/// The phases that have diagnostics.
enum class Phase : uint8_t {
#define PIPEC_DIAG_PHASE(Id) Id,
#include "Support/DiagPhases.def"
};

/// The number of phases.
inline constexpr unsigned numPhases = 0
#define PIPEC_DIAG_PHASE(Id) +1
#include "Support/DiagPhases.def"
    ;

/// A kind of diagnostic: a row of the table of a phase. Its value depends only
/// on the phase and the row, so the tables are independent of each other.
enum class Id : uint16_t {};

/// The maximum number of rows per phase.
inline constexpr unsigned maxRows = 256;

constexpr Id makeId(Phase phase, unsigned row) {
  return Id(unsigned(phase) * maxRows + row);
}

constexpr Phase phaseOf(Id id) { return Phase(unsigned(id) / maxRows); }

/// The number of arguments that a format takes: its highest `{N}` plus one.
constexpr unsigned countArguments(const char *format) {
  unsigned count = 0;
  for (const char *p = format; *p; ++p)
    if (p[0] == '{' && p[1] >= '0' && p[1] <= '9' &&
        unsigned(p[1] - '0') + 1 > count)
      count = p[1] - '0' + 1;
  return count;
}

/// A kind as a value. Its type carries the number of arguments, so a call with
/// the wrong number does not compile. The headers in Support/Diagnostics
/// declare the kinds.
template <Id id, Severity sev, unsigned numArgs> struct Kind {
  static constexpr Id value = id;
  static constexpr Severity severity = sev;
  static constexpr unsigned arguments = numArgs;
  constexpr operator Id() const { return id; }
};

} // namespace diag

/// The table row of a kind.
const DiagInfo &diagInfo(diag::Id id);
/// All rows, in the order of the table.
llvm::ArrayRef<DiagInfo> allDiagInfos();
/// The text of a kind, with `...` in place of its arguments.
std::string textOf(const DiagInfo &info);

} // namespace pipec
