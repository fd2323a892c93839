//===- Analysis.h - One version of a document, analysed ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Program.h"
#include "IR/Schedule.h"
#include "LanguageServer/Names.h"
#include "Sema/Sema.h"
#include "Simulation/Simulate.h"

#include "llvm/Support/JSON.h"

#include <memory>
#include <string>
#include <vector>

namespace pipec::lsp {

/// A position of the protocol: a line and a column in UTF-16 code units, both
/// from 0.
struct Position {
  uint32_t line = 0;
  uint32_t character = 0;
  friend bool operator==(Position, Position) = default;
};

/// A part of a text: the offsets of its first byte and of the byte after its
/// last one.
struct Span {
  size_t begin = 0;
  size_t end = 0;
  bool contains(size_t offset) const {
    return begin <= offset && offset <= end;
  }
  friend bool operator==(Span, Span) = default;
};

/// Converts between offsets in bytes and positions. The text must outlive it.
class LineMap {
public:
  explicit LineMap(llvm::StringRef text);

  /// The position of an offset, or of the end if the offset is larger.
  Position position(size_t offset) const;
  /// The offset of a position. One past the end of a line is the end of the
  /// line, one inside a character its beginning.
  size_t offset(Position position) const;

  /// A span as a `Range` of the protocol.
  llvm::json::Value range(Span span) const;

private:
  /// The line without its end.
  llvm::StringRef line(size_t number) const;

  llvm::StringRef text;
  std::vector<size_t> starts;
};

/// Reads a `Position` of the protocol; fails if `value` is not one.
std::optional<Position> positionFrom(const llvm::json::Value *value);

/// The maximum size in bytes of a document that is analysed.
inline constexpr size_t maxDocumentBytes = size_t(1) << 22;
/// The maximum number of steps, loop rounds and calls of all schedules of a
/// document.
inline constexpr uint64_t maxDocumentSteps = uint64_t(1) << 20;
/// The maximum number of diagnostics of a document.
inline constexpr size_t maxShownDiagnostics = 200;

/// A text in an editor.
struct Document {
  std::string uri;
  /// The path of its file (`pathOfUri`).
  std::string path;
  int64_t version = 0;
  std::string text;
};

/// A clause of `expect` whose figures hold.
struct HeldClause {
  SourceLoc source;
  /// The figure, if it is one.
  std::optional<Rational> measured;
};

/// A schedule of a document.
struct ShownSchedule {
  /// The range before its body in a program, its first line in step IR.
  llvm::SMRange head;
  Schedule schedule;
  /// A run without transfers, or under the default model with them; null if the
  /// schedule cannot run.
  std::unique_ptr<Simulation> run;
  /// The clauses that hold. One whose condition is not met is not among them.
  std::vector<HeldClause> held = {};
};

/// The analysis of one version of a document. The constructor reads the text
/// and binds its names; `run` lowers the schedules at their default sizes. All
/// ranges point into texts that this object owns.
class Analysis {
public:
  /// `unsaved` provides the texts of imported files that are open too.
  Analysis(const Document &document, const SearchPath &search,
           const UnsavedText &unsaved);
  Analysis(const Analysis &) = delete;

  /// Lowers or reads all schedules, and checks and runs them. A schedule
  /// without default sizes, or for which `maxDocumentSteps` do not suffice, is
  /// left out. Does nothing the second time.
  void run();

  llvm::StringRef text() const { return source; }
  int64_t version() const { return number; }
  bool isSteps() const { return steps; }
  /// Null for step IR, and if the text has syntax errors.
  const ast::Module *module() const { return parsed; }
  /// True if the text was read, so that names and outline are up to date.
  bool isRead() const { return steps ? !shown.empty() : parsed != nullptr; }
  const NameTable &names() const { return table; }
  const SourceFiles &files() const { return sources; }
  SourceFiles &files() { return sources; }
  llvm::ArrayRef<ShownSchedule> schedules() const { return shown; }
  llvm::ArrayRef<Diagnostic> diagnostics() const { return reported; }

  /// True if the analysis read the file at this path for an import, or did not
  /// find or could not read an import whose name ends like it.
  bool hasRead(llvm::StringRef path) const;
  /// True if the range is in this document, and not in an imported file.
  bool isHere(llvm::SMRange range) const;
  /// The offsets of a range in its file. A single position is extended to the
  /// word there, or to one character.
  Span span(llvm::SMRange range) const;
  /// The offsets of a range, also if it is a single position.
  Span exactSpan(llvm::SMRange range) const;
  llvm::SMLoc loc(size_t offset) const {
    return llvm::SMLoc::getFromPointer(source.data() + offset);
  }
  /// Where the document imports the file of `range`, directly or not; the
  /// beginning of the document if no import is found.
  llvm::SMRange importOf(llvm::SMRange range) const;

private:
  void readProgram(const std::string &path, const SearchPath &search,
                   const UnsavedText &unsaved);
  void readSteps();
  void lowerSchedules();

  const int64_t number;
  SourceFiles sources;
  std::vector<Diagnostic> reported;
  DiagEngine diags;
  llvm::StringRef source;
  ast::Context context;
  const ast::Module *parsed = nullptr;
  std::optional<CheckedProgram> program;
  NameTable table;
  bool steps = false;
  bool hasRun = false;
  std::vector<ShownSchedule> shown;
};

} // namespace pipec::lsp
