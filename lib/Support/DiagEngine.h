//===- DiagEngine.h - Reporting of errors and warnings ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every message of every phase goes through one engine:
//
//   return diags.report(range, diag::UnknownName, name)
//              .note(other, diag::NoteDidYouMean, suggestion);
//
// The report is given when the returned object dies, with the notes that were
// attached to it, and converts to `failure()`. A phase reports, goes on with a
// sane value where it can, and the driver stops between phases.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_DIAGENGINE_H
#define PIPEC_SUPPORT_DIAGENGINE_H

#include "Support/DiagKinds.h"
#include "Support/SourceFiles.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LogicalResult.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// Where a diagnostic points: a range, a single position, or nowhere (a
/// message about the run itself).
class DiagLoc {
public:
  DiagLoc() = default;
  DiagLoc(llvm::SMLoc loc) : range(loc, loc) {}
  DiagLoc(llvm::SMRange range) : range(range) {}
  llvm::SMRange range;
};

/// The place of a step in a schedule, as an argument of a message: it prints as
/// "rank 0 step 5, `F s0 m1`", and readers of the diagnostic find it apart from
/// the text.
struct StepPlace {
  unsigned rank = 0;
  /// Lines of the rank's list before the step.
  unsigned position = 0;
  /// `F s0 m1`
  std::string step;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const StepPlace &place) {
  return os << "rank " << place.rank << " step " << place.position << ", `"
            << place.step << '`';
}

/// A finished message with its attached notes.
struct Diagnostic {
  diag::Id id;
  Severity severity;
  llvm::SMRange range;
  std::string message;
  /// Text that, put in place of the range, mends the program; may be empty.
  std::string fixIt = {};
  std::vector<Diagnostic> notes = {};
  /// The first step that the message names.
  std::optional<StepPlace> place = std::nullopt;
};

class DiagEngine;

/// A diagnostic that is still being built; reported when it dies.
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
  template <diag::Id id, unsigned n, typename... Args>
  InFlightDiagnostic &
  note(SourceLoc loc, diag::Kind<id, Severity::Note, n> kind, Args &&...args);
  /// Says which step the diagnostic is about, where its text names none.
  InFlightDiagnostic &at(StepPlace place);
  /// Names the text that would mend the program at the diagnostic's range.
  InFlightDiagnostic &fixIt(llvm::StringRef text);

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

/// Receives every diagnostic of a run, counts them and hands them on.
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
    return {this, make(id, severity, loc.range, args...)};
  }
  template <diag::Id id, Severity severity, unsigned n, typename... Args>
  InFlightDiagnostic report(SourceLoc loc, diag::Kind<id, severity, n> kind,
                            Args &&...args) {
    return report(DiagLoc(files.itemAt(loc)), kind,
                  std::forward<Args>(args)...);
  }

  /// The same kind reported with a severity of the caller's choice (findings
  /// that an option grades).
  template <diag::Id id, Severity severity, unsigned n, typename... Args>
  InFlightDiagnostic reportAs(Severity as, SourceLoc loc,
                              diag::Kind<id, severity, n>, Args &&...args) {
    static_assert(sizeof...(Args) == n, "arguments do not fit the format");
    return {this, make(id, as, files.itemAt(loc), args...)};
  }

  unsigned numErrors() const { return errors; }
  unsigned numWarnings() const { return warnings; }
  bool hadErrors() const { return errors != 0; }

  /// After this many errors the rest are counted but not shown (0: no limit).
  void setErrorLimit(unsigned limit) { errorLimit = limit; }
  /// True once an error was not shown, so that a phase need not look for more.
  bool atErrorLimit() const { return errorLimit && errors > errorLimit; }

  /// What becomes of the diagnostics of one `-W` name.
  enum class Grade {
    Default, // what is reported
    On,      // the same, and a warning where that is a note
    Off,     // they are dropped
    Note,
    Warning, // also where all warnings are errors
    Error,
  };
  /// Grades the diagnostics of one `-W` name. Returns false for a name that no
  /// warning has. `all` names every warning; `On` then only undoes `Off`.
  bool setGrade(llvm::StringRef flag, Grade grade);
  /// The severity of what is reported with `severity` under that name, apart
  /// from what `setWarningsAreErrors` does; nothing when it is dropped.
  std::optional<Severity> graded(llvm::StringRef flag, Severity severity) const;
  /// Makes every warning an error, except those that are graded as warnings.
  void setWarningsAreErrors(bool on) { warningsAreErrors = on; }

  void setHandler(Handler newHandler) { handler = std::move(newHandler); }
  /// Sees a diagnostic before it is counted: may add to it, and drops it by
  /// returning false.
  using Filter = std::function<bool(Diagnostic &)>;
  /// Filters what is reported while it lives. Filters nest: what an inner one
  /// lets through goes to the outer one.
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
  static Diagnostic make(diag::Id id, Severity severity, llvm::SMRange range,
                         const Args &...args) {
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
  /// Names that are not here have the grade `Default`.
  std::map<llvm::StringRef, Grade> grades;
};

template <diag::Id id, unsigned n, typename... Args>
InFlightDiagnostic &InFlightDiagnostic::note(DiagLoc loc,
                                             diag::Kind<id, Severity::Note, n>,
                                             Args &&...args) {
  static_assert(sizeof...(Args) == n, "arguments do not fit the format");
  diagnostic.notes.push_back(
      DiagEngine::make(id, Severity::Note, loc.range, args...));
  return *this;
}

template <diag::Id id, unsigned n, typename... Args>
InFlightDiagnostic &
InFlightDiagnostic::note(SourceLoc loc, diag::Kind<id, Severity::Note, n> kind,
                         Args &&...args) {
  return note(DiagLoc(engine->sourceFiles().itemAt(loc)), kind,
              std::forward<Args>(args)...);
}

} // namespace pipec

#endif // PIPEC_SUPPORT_DIAGENGINE_H
