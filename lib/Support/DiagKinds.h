//===- DiagKinds.h - The kinds of diagnostics -----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_DIAGKINDS_H
#define PIPEC_SUPPORT_DIAGKINDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pipec {

enum class Severity : uint8_t { Error, Warning, Note };

/// One row of Diagnostics.def.
struct DiagInfo {
  llvm::StringLiteral name;
  Severity severity;
  /// The `-W` name of a warning, else empty.
  llvm::StringLiteral flag;
  llvm::StringLiteral format;
  /// The section of docs/Diagnostics.md.
  llvm::StringLiteral group;
  /// The command line is wrong: the exit status is 2.
  bool isUsage = false;
};

namespace diag {

enum class Id : uint16_t {
#define PIPEC_ERROR(Id, Format) Id,
#define PIPEC_WARNING(Id, Flag, Format) Id,
#define PIPEC_NOTE(Id, Format) Id,
#include "Support/Diagnostics.def"
};

/// The number of arguments that a format takes: its highest `{N}` plus one.
constexpr unsigned countArguments(const char *format) {
  unsigned count = 0;
  for (const char *p = format; *p; ++p)
    if (p[0] == '{' && p[1] >= '0' && p[1] <= '9' &&
        unsigned(p[1] - '0') + 1 > count)
      count = p[1] - '0' + 1;
  return count;
}

/// A kind as a value whose type carries how many arguments it takes, so that a
/// call with too few or too many does not compile.
template <Id id, Severity sev, unsigned numArgs> struct Kind {
  static constexpr Id value = id;
  static constexpr Severity severity = sev;
  static constexpr unsigned arguments = numArgs;
};

#define PIPEC_ERROR(Name, Format)                                              \
  inline constexpr Kind<Id::Name, Severity::Error, countArguments(Format)>     \
      Name{};
#define PIPEC_WARNING(Name, Flag, Format)                                      \
  inline constexpr Kind<Id::Name, Severity::Warning, countArguments(Format)>   \
      Name{};
#define PIPEC_NOTE(Name, Format)                                               \
  inline constexpr Kind<Id::Name, Severity::Note, countArguments(Format)>      \
      Name{};
#include "Support/Diagnostics.def"

} // namespace diag

/// The table row of a kind.
const DiagInfo &diagInfo(diag::Id id);
/// All rows, in the order of the table.
llvm::ArrayRef<DiagInfo> allDiagInfos();

} // namespace pipec

#endif // PIPEC_SUPPORT_DIAGKINDS_H
