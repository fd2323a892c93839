//===- DiagPrinter.h - Diagnostics as text ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   zb1p.pipe:5:40: error: no pending weight gradient for `W`
//     steady   { for i in 0..m - w { F I W W } }
//                                          ^
//   zb1p.pipe:5:14: note: while lowering rank 0, i = 0
//
// `llvm::SMDiagnostic` always prints the whole line, and omits the caret if the
// line has a non-ASCII character. Lines of several megabytes and comments in
// any language are valid input, so this class prints source lines itself.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// `error`, `warning` or `note`.
llvm::StringRef severityName(Severity severity);

/// ` [-Wname]`, or ` [-Werror=name]` for an error, of a kind that can be
/// switched off; empty for others. It follows the message.
std::string flagText(const Diagnostic &diagnostic);

/// Writes the attributes `file`, `line` and `column`, which are null if `loc`
/// is invalid.
void writeLocation(llvm::json::OStream &json, llvm::SMLoc loc,
                   const SourceFiles &files);

/// Writes a diagnostic as an object with `kind`, `severity`, `message`,
/// `rank`, `position`, `cell`, `file`, `line`,
/// `column`, `endLine`, `endColumn`, `excerpt`, `fixes`, `notes`, which are
/// such objects themselves, `flag` (its `-W` name) and `ranks`. Missing
/// attributes are null. `cell` is the step that the message names or, with
/// `csvCells`, the text of the cell that the diagnostic points at. The end is
/// the column after the last byte of the text that the diagnostic points at
/// (the step or cell, for a position in a list), and equals the start for a
/// single position. The excerpt is the text below the message: the source
/// line, the caret, and text to be inserted. `fixes` are the edits, objects
/// with `file`, `line`, `column`, `endLine`, `endColumn` and `text`.
void writeDiagnostic(llvm::json::OStream &json, const Diagnostic &diagnostic,
                     const SourceFiles &files, bool csvCells = false);

/// The message of the first error among such objects, each on a line of its
/// own; empty if there is none. Other lines do not matter.
std::string firstErrorIn(llvm::StringRef lines);

/// Prints diagnostics to a stream.
class DiagPrinter {
public:
  /// `tool` names the program in messages that have no position.
  DiagPrinter(llvm::raw_ostream &os, const SourceFiles &files,
              llvm::StringRef tool)
      : os(os), files(files), tool(tool.str()) {}
  /// Creates a printer with the settings of `like` that prints text to `os`.
  DiagPrinter(const DiagPrinter &like, llvm::raw_ostream &os)
      : os(os), files(like.files), tool(like.tool), showKinds(like.showKinds) {}

  /// Appends ` [KindName]` to every message, before its flag.
  void setShowKinds(bool on) { showKinds = on; }
  /// Prints each diagnostic as one line of JSON (`writeDiagnostic`).
  void setJson(bool on) { json = on; }
  /// Prints text in colors.
  void setColors(bool on) { colors = on; }

  /// Notes that point into files of the library are printed on one line,
  /// without the source line and their attached notes.
  void operator()(const Diagnostic &diagnostic);

private:
  void printOne(const Diagnostic &diagnostic);

  llvm::raw_ostream &os;
  const SourceFiles &files;
  std::string tool;
  bool showKinds = false;
  bool json = false;
  bool colors = false;
};

} // namespace pipec
