//===- Io.h - Input, output and diagnostics of a program --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common frame of the programs: set up diagnostics as specified by the
// command line, open the input, and write an output file that only exists if
// the run succeeds. Streams are arguments.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Driver/Arguments.h"
#include "Support/DiagEngine.h"
#include "Support/DiagPrinter.h"
#include "Support/FatalErrors.h"
#include "Support/Progress.h"
#include "Support/VerifyDiagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace pipec {

/// Counts warnings: of each kind the first hundred are shown.
class WarningLimit {
public:
  bool admits(const Diagnostic &diagnostic) {
    return diagnostic.severity != Severity::Warning ||
           ++counts[diagnostic.id] <= maxEqual;
  }
  /// Passes `handler` a note for each kind of which more were counted.
  void noteMore(const DiagEngine::Handler &handler) const;

private:
  static constexpr size_t maxEqual = 100;
  std::map<diag::Id, size_t> counts;
};

/// The files and the diagnostics of one run. Messages are printed immediately,
/// of each kind of warning the first hundred;
/// with `--verify-diagnostics` they are collected and compared with the
/// comments of the input at the end. If memory runs out or standard output
/// cannot be written, the run ends with a message and status 1.
class DiagSession {
public:
  /// `tool` names the program in messages without a position.
  DiagSession(llvm::StringRef tool, llvm::raw_ostream &err)
      : printer(err, sources, tool), verifier(sources),
        diags(sources, [this](const Diagnostic &d) { handle(d); }), err(err),
        line(tool, err), fatal(fatalHandlers()) {}

  SourceFiles &files() { return sources; }
  DiagEngine &engine() { return diags; }
  /// The progress line.
  Progress &progress() { return line; }

  /// Creates a printer for messages that are part of the output, which it
  /// writes to `os` as text.
  DiagPrinter printerTo(llvm::raw_ostream &os) const;
  /// Runs `body` and passes its diagnostics to `handler` instead of printing
  /// them. With `--verify-diagnostics` they are collected as well.
  void withHandler(DiagEngine::Handler handler,
                   llvm::function_ref<void()> body);

  /// Sets the form of later messages as specified by the options about
  /// diagnostics.
  void setForm(const Arguments &args);
  /// Collects later diagnostics for comparison in `finish`.
  void setVerify(bool on);
  /// Marks files in the folder `path` as files of the library.
  void setLibrary(llvm::StringRef path) { sources.setLibrary(path); }

  /// True if text written to `os` should have colors.
  bool useColors(llvm::raw_ostream &os) const;
  /// True while messages are collected for comparison with the comments of the
  /// input.
  bool isVerifying() const { return verifying; }

  /// Ends the run. Returns the exit status: 0 if `result` is success and there
  /// were no errors, 2 if the command line was invalid, otherwise 1. With
  /// `--verify-diagnostics` it is 0 if exactly the expected diagnostics were
  /// emitted.
  int finish(llvm::LogicalResult result);

private:
  FatalErrors::Handlers fatalHandlers();
  void handle(const Diagnostic &diagnostic);
  void print(const Diagnostic &diagnostic) {
    // Most errors end the run, and the progress line must not follow the last
    // one.
    bool isError = diagnostic.severity == Severity::Error;
    Progress::Hidden hidden(line, /*untilNext=*/isError);
    printer(diagnostic);
  }

  SourceFiles sources;
  DiagPrinter printer;
  DiagVerifier verifier;
  DiagEngine diags;
  DiagEngine::Handler diverted;
  bool verifying = false;
  WarningLimit warnings;
  /// True if there was an error in the command line.
  bool badUsage = false;
  /// `--color`: always, never, or by the stream and the environment.
  std::optional<bool> colors;
  llvm::raw_ostream &err;
  Progress line;
  FatalErrors fatal;
};

/// Prints the name and the version of the compiler.
void printVersion(llvm::raw_ostream &os);

/// Reports that the command line is invalid because of `why`.
InFlightDiagnostic reportUsageError(DiagEngine &diags, const llvm::Twine &why);
/// Reports that there is no input.
InFlightDiagnostic reportMissingInput(DiagEngine &diags);
/// Reports a wrong number of inputs, except 0, which the caller reports.
llvm::LogicalResult checkInputCount(const Arguments &args,
                                    llvm::ArrayRef<std::string> inputs,
                                    DiagEngine &diags);

/// Reads the file at `path` ("-" is standard input), whose size is limited by
/// `limit`; see `SourceFiles::open`. Reports at `loc` if the file cannot be
/// read or is too large.
llvm::FailureOr<llvm::StringRef> openInput(llvm::StringRef path,
                                           DiagEngine &diags,
                                           SourceFiles::ByteLimit limit,
                                           DiagLoc loc = {});
llvm::FailureOr<llvm::StringRef> openInput(llvm::StringRef path,
                                           DiagEngine &diags, uint64_t limit,
                                           DiagLoc loc = {});

/// Reports that the file at `path` cannot be written because of `error`.
InFlightDiagnostic reportUnwritable(DiagEngine &diags, llvm::StringRef path,
                                    std::error_code error);

/// Calls `writer` to write the output, to the file of `--output` or to `out`.
/// The file only exists if `writer` succeeds. Reports output errors.
llvm::LogicalResult writeOutput(
    const Arguments &args, llvm::raw_ostream &out, DiagSession &session,
    llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writer);

/// The names of the warnings, and of the grades of `--grade`.
std::vector<llvm::StringRef> warningNames();
/// The text of the first warning of that name.
std::string warningText(llvm::StringRef name);
std::vector<llvm::StringRef> gradeNames();

/// Grades diagnostics as specified by `-W` and `--grade`, in the order of the
/// command line; for each name the last one applies. Reports unknown names and
/// grades.
llvm::LogicalResult applyWarnings(const Arguments &args, DiagEngine &diags);

} // namespace pipec
