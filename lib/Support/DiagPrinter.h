//===- DiagPrinter.h - Diagnostics as text ----------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   zb1p.pipe:5:40: error: `W` has no owed weight gradient
//     steady   { for i in 0..m - w { F I W W } }
//                                          ^
//   zb1p.pipe:5:14: note: while lowering rank 0, i = 0
//
// `llvm::SMDiagnostic` prints whole lines and no caret on a line with a
// non-ASCII character; a line of ten megabytes and a comment in another
// alphabet are both real input, so the lines are drawn here.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_DIAGPRINTER_H
#define PIPEC_SUPPORT_DIAGPRINTER_H

#include "Support/DiagEngine.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// `error`, `warning` or `note`.
llvm::StringRef severityName(Severity severity);

/// Writes the attributes `file`, `line` and `column`; null for a place that is
/// none.
void writeLocation(llvm::json::OStream &json, llvm::SMLoc loc,
                   const SourceFiles &files);

/// Writes a diagnostic as an object: `kind`, `severity`, `message`, `rank`,
/// `position`, `cell`, `file`, `line`, `column`, `endLine`, `endColumn` and
/// `notes`, themselves such objects. What a diagnostic does not have is null.
/// `cell` is the step that the message names; with `csvCells`, the text of the
/// cell that it points at. The end is that of the text that it points at, the
/// column after its last byte: of a step of a list its text or cell. For a
/// single position it is that position.
void writeDiagnostic(llvm::json::OStream &json, const Diagnostic &diagnostic,
                     const SourceFiles &files, bool csvCells = false);

/// Prints diagnostics to a stream, one after the other.
class DiagPrinter {
public:
  /// `tool` names the program in messages that have no position.
  DiagPrinter(llvm::raw_ostream &os, const SourceFiles &files,
              llvm::StringRef tool)
      : os(os), files(files), tool(tool.str()) {}
  /// Prints text as `like` does, to another stream.
  DiagPrinter(const DiagPrinter &like, llvm::raw_ostream &os)
      : os(os), files(like.files), tool(like.tool), showKinds(like.showKinds),
        library(like.library) {}

  /// Appends ` [KindName]` to every message.
  void setShowKinds(bool on) { showKinds = on; }
  /// Prints JSON from now on: an object a line and diagnostic, as
  /// `writeDiagnostic` makes it.
  void setJson(bool on) { json = on; }
  /// Prints text in colors.
  void setColors(bool on) { colors = on; }
  /// Notes that point into files below the folder `path` take one line, without
  /// the source line.
  void setLibrary(llvm::StringRef path) { library = path.str(); }

  void operator()(const Diagnostic &diagnostic);

private:
  void printOne(const Diagnostic &diagnostic);
  void printSourceLine(llvm::SMRange range, llvm::StringRef fixIt);

  llvm::raw_ostream &os;
  const SourceFiles &files;
  std::string tool;
  bool showKinds = false;
  bool json = false;
  bool colors = false;
  std::string library;
};

} // namespace pipec

#endif // PIPEC_SUPPORT_DIAGPRINTER_H
