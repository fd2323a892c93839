//===- DiagEngine.h - Reporting of errors and warnings ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All phases report through one engine:
//
//   return diags.report(range, diag::UnknownName, name)
//              .suggest(range, similar);
//
// The diagnostic is emitted, with its attached notes, when the returned object
// is destroyed; the object converts to `failure()`. After an error a phase
// continues with a sensible value where possible, and the driver stops before
// the next phase.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagKinds.h"
#include "Support/SourceFiles.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// Where a diagnostic points: a range, a single position, an item of a file, or
/// nowhere (a message about the run itself).
struct DiagLoc {
  DiagLoc() = default;
  DiagLoc(llvm::SMLoc loc) : range(loc, loc) {}
  DiagLoc(llvm::SMRange range) : range(range) {}
  DiagLoc(SourceLoc item) : item(item) {}
  llvm::SMRange range;
  /// In place of the range.
  SourceLoc item;
};

/// The place of a step in a schedule, as an argument of a message. It prints as
/// "rank 0 step 5, `F s0 m1`", and is also stored in the diagnostic, so that
/// consumers need not parse the text.
struct StepPlace {
  unsigned rank = 0;
  /// The number of lines that precede the step in the list of its rank.
  unsigned position = 0;
  /// `F s0 m1`
  std::string step;
  /// The kind of the step (Support/StepKind.h), as a number, if there is a step
  /// at the place.
  std::optional<uint8_t> kind = std::nullopt;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const StepPlace &place) {
  return os << "rank " << place.rank << " step " << place.position << ", `"
            << place.step << '`';
}

/// One edit of the source: `text` in place of `range`, which is empty for an
/// insertion.
struct FixIt {
  llvm::SMRange range;
  std::string text;
  /// False if something else may be meant: the text is only similar.
  bool isSafe = true;
  llvm::StringRef applicability() const { return isSafe ? "safe" : "unsafe"; }
};

/// A finished message with its attached notes.
struct Diagnostic {
  diag::Id id;
  Severity severity;
  llvm::SMRange range;
  std::string message;
  /// Edits that together correct the reported fault. A note with edits
  /// proposes a correction of the message that it belongs to.
  std::vector<FixIt> fixIts = {};
  std::vector<Diagnostic> notes = {};
  /// The first step that the message names.
  std::optional<StepPlace> place = std::nullopt;
  /// The ranks with the same finding at the same place, ascending; empty
  /// unless findings were folded (Lint/Findings.h).
  std::vector<unsigned> ranks = {};
};

class DiagEngine;

/// A diagnostic under construction; it is emitted on destruction.
class [[nodiscard]] InFlightDiagnostic {
public:
  InFlightDiagnostic(InFlightDiagnostic &&other)
      : engine(other.engine), diagnostic(std::move(other.diagnostic)) {
    other.engine = nullptr;
  }
  ~InFlightDiagnostic();

  /// Attaches a note; `kind` is a PIPEC_NOTE.
  template <diag::Id id, unsigned n, typename... Args>
  InFlightDiagnostic &note(DiagLoc loc, diag::Kind<id, Severity::Note, n> kind,
                           Args &&...args);
  /// Sets the step that the diagnostic is about if its text does not name one.
  InFlightDiagnostic &at(StepPlace place);
  /// Attaches the edit that puts `text` in place of `range`.
  InFlightDiagnostic &fixIt(llvm::SMRange range, llvm::StringRef text);
  /// Attaches the edit that inserts `text`.
  InFlightDiagnostic &fixIt(llvm::SMLoc loc, llvm::StringRef text) {
    return fixIt(llvm::SMRange(loc, loc), text);
  }
  /// Attaches the edit that removes a statement. If nothing but a comment after
  /// the statement is on its lines, these lines are removed.
  InFlightDiagnostic &removal(llvm::SMRange statement);
  /// Attaches the note that `meant` may be meant in place of the word at
  /// `range`, with the unsafe edit that replaces it.
  InFlightDiagnostic &suggest(llvm::SMRange range, llvm::StringRef meant);

  operator llvm::LogicalResult() const { return llvm::failure(); }
  template <typename T> operator llvm::FailureOr<T>() const {
    return llvm::failure();
  }

private:
  friend class DiagEngine;
  InFlightDiagnostic(DiagEngine *engine, Diagnostic diagnostic)
      : engine(engine), diagnostic(std::move(diagnostic)) {}

  DiagEngine *engine;
  Diagnostic diagnostic;
};

/// Receives every diagnostic of a run, counts it and passes it to the handler.
class DiagEngine {
public:
  using Handler = std::function<void(const Diagnostic &)>;

  DiagEngine(SourceFiles &files, Handler handler)
      : files(files), handler(std::move(handler)) {}

  /// Reports a PIPEC_ERROR or PIPEC_WARNING.
  template <diag::Id id, Severity severity, unsigned n, typename... Args>
  InFlightDiagnostic report(DiagLoc loc, diag::Kind<id, severity, n>,
                            Args &&...args) {
    static_assert(sizeof...(Args) == n, "arguments do not fit the format");
    static_assert(severity != Severity::Note, "notes are attached, not given");
    return {this, make(id, severity, loc, args...)};
  }

  /// Reports a kind with the given severity, for findings whose severity is set
  /// by an option.
  template <diag::Id id, Severity severity, unsigned n, typename... Args>
  InFlightDiagnostic reportAs(Severity as, DiagLoc loc,
                              diag::Kind<id, severity, n>, Args &&...args) {
    static_assert(sizeof...(Args) == n, "arguments do not fit the format");
    return {this, make(id, as, loc, args...)};
  }

  unsigned numErrors() const { return errors; }
  unsigned numWarnings() const { return warnings; }
  bool hadErrors() const { return errors != 0; }

  /// Sets the number of errors after which errors are only counted (0: no
  /// limit).
  void setErrorLimit(unsigned limit) { errorLimit = limit; }
  /// True after the first error that was not shown: a phase may stop looking
  /// for more.
  bool atErrorLimit() const { return errorLimit && errors > errorLimit; }

  /// How the diagnostics with a given `-W` name are reported.
  enum class Grade {
    Default, // with their own severity
    On,      // likewise, but notes become warnings
    Off,     // not at all
    Note,
    Warning, // even if all warnings are errors
    Error,
  };
  /// Sets the grade of a `-W` name, or of the one of the kind of warning with
  /// this name. Returns false if no warning has it. `all` means every warning;
  /// with it, `On` only undoes `Off`.
  bool setGrade(llvm::StringRef flag, Grade grade);
  /// The severity with which a diagnostic of this name and severity is
  /// reported, before `setWarningsAreErrors` applies; nothing if it is dropped.
  std::optional<Severity> graded(llvm::StringRef flag, Severity severity) const;
  /// Reports warnings as errors, except those graded `Warning`.
  void setWarningsAreErrors(bool on) { warningsAreErrors = on; }

  void setHandler(Handler newHandler) { handler = std::move(newHandler); }
  /// Called with each diagnostic before it is counted. It may modify the
  /// diagnostic, and drops it by returning false.
  using Filter = std::function<bool(Diagnostic &)>;
  /// Installs a filter for the lifetime of this object. Filters nest: a
  /// diagnostic passes the innermost one first.
  class [[nodiscard]] ScopedFilter {
  public:
    ScopedFilter(DiagEngine &engine, Filter filter);
    ~ScopedFilter();
    ScopedFilter(const ScopedFilter &) = delete;
    ScopedFilter &operator=(const ScopedFilter &) = delete;

  private:
    friend class DiagEngine;
    DiagEngine &engine;
    Filter filter;
    ScopedFilter *outer;
  };
  SourceFiles &sourceFiles() { return files; }

  template <typename... Args>
  static std::string format(diag::Id id, Args &&...args) {
    return llvm::formatv(diagInfo(id).format.data(),
                         std::forward<Args>(args)...)
        .str();
  }

private:
  friend class InFlightDiagnostic;
  void emit(Diagnostic diagnostic);

  template <typename... Args>
  Diagnostic make(diag::Id id, Severity severity, DiagLoc loc,
                  const Args &...args) const {
    llvm::SMRange range =
        loc.item.isValid() ? files.itemAt(loc.item) : loc.range;
    Diagnostic diagnostic{id, severity, range, format(id, args...)};
    (keepPlace(diagnostic, args), ...);
    return diagnostic;
  }
  template <typename T>
  static void keepPlace(Diagnostic &diagnostic, const T &argument) {
    if constexpr (std::is_same_v<T, StepPlace>)
      if (!diagnostic.place)
        diagnostic.place = argument;
  }

  SourceFiles &files;
  Handler handler;
  ScopedFilter *filter = nullptr;
  unsigned errors = 0;
  unsigned warnings = 0;
  unsigned errorLimit = 20;
  bool warningsAreErrors = false;
  /// Names that are not in the map have the grade `Default`.
  std::map<llvm::StringRef, Grade> grades;
};

template <diag::Id id, unsigned n, typename... Args>
InFlightDiagnostic &InFlightDiagnostic::note(DiagLoc loc,
                                             diag::Kind<id, Severity::Note, n>,
                                             Args &&...args) {
  static_assert(sizeof...(Args) == n, "arguments do not fit the format");
  diagnostic.notes.push_back(engine->make(id, Severity::Note, loc, args...));
  return *this;
}

} // namespace pipec
