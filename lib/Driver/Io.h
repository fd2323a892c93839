//===- Io.h - Input, output and diagnostics of a program --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every program of the project does around its phases: set up the
// diagnostics of the run as its command line says, open the input, and write an
// output file that exists only if the run succeeded. Streams are handed in.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_IO_H
#define PIPEC_DRIVER_IO_H

#include "Driver/Arguments.h"
#include "Support/DiagEngine.h"
#include "Support/DiagPrinter.h"
#include "Support/FatalErrors.h"
#include "Support/Progress.h"
#include "Support/VerifyDiagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace pipec {

/// The files and the diagnostics of one run. Messages are printed as they come;
/// under `--verify-diagnostics` they are collected instead and compared with
/// the comments of the input when the run ends. A run that gets no more memory,
/// or that cannot write its standard output, ends with a message and status 1.
class DiagSession {
public:
  /// `tool` names the program in messages that have no position.
  DiagSession(llvm::StringRef tool, llvm::raw_ostream &err)
      : printer(err, sources, tool), verifier(sources),
        diags(sources, [this](const Diagnostic &d) { handle(d); }), err(err),
        line(tool, err), fatal(fatalHandlers()) {}

  SourceFiles &files() { return sources; }
  DiagEngine &engine() { return diags; }
  /// What the run is doing, for a person who waits.
  Progress &progress() { return line; }

  /// A printer for messages that are part of the output: it writes them to `os`
  /// as text.
  DiagPrinter printerTo(llvm::raw_ostream &os) const;
  /// Hands what is reported while `body` runs to `handler` and does not print
  /// it; under `--verify-diagnostics` it is collected all the same.
  void divert(DiagEngine::Handler handler, llvm::function_ref<void()> body);

  /// Prints messages from now on as the options about diagnostics ask.
  void setForm(const Arguments &args);
  /// From now on collects what is reported, for `finish` to compare.
  void setVerify(bool on);
  /// Files of the folder `path` are not the user's own: notes that point into
  /// them show no source line.
  void setLibrary(llvm::StringRef path) { printer.setLibrary(path); }

  /// True when text that goes to `os` is to have colors.
  bool useColors(llvm::raw_ostream &os) const;
  /// True while messages are compared with the comments of the input.
  bool isVerifying() const { return verifying; }

  /// Ends the run. Returns the exit status: 0 when `result` is success and no
  /// error was given, 2 when the command line could not be used, otherwise 1.
  /// Under `--verify-diagnostics` it is 0 when exactly the expected diagnostics
  /// were given.
  int finish(llvm::LogicalResult result);

private:
  FatalErrors::Handlers fatalHandlers();
  void handle(const Diagnostic &diagnostic);
  void print(const Diagnostic &diagnostic) {
    // Most errors end the run, and nothing should be drawn behind its last.
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
  /// An error was about the command line.
  bool badUsage = false;
  /// `--color`: always, never, or as the stream and the environment say.
  std::optional<bool> colors;
  llvm::raw_ostream &err;
  Progress line;
  FatalErrors fatal;
};

/// Prints the name and the version of the compiler.
void printVersion(llvm::raw_ostream &os);

/// Reports that the command line cannot be used, and why.
InFlightDiagnostic unusable(DiagEngine &diags, const llvm::Twine &why);
/// Reports that it names no input.
InFlightDiagnostic reportNoInput(DiagEngine &diags);

/// Reads the file at `path` ("-" is standard input), which may have as many
/// bytes as `limit` says; see `SourceFiles::open`. Reports at `loc` when the
/// file cannot be read or is larger.
llvm::FailureOr<llvm::StringRef> openInput(llvm::StringRef path,
                                           DiagEngine &diags,
                                           SourceFiles::ByteLimit limit,
                                           DiagLoc loc = {});
llvm::FailureOr<llvm::StringRef> openInput(llvm::StringRef path,
                                           DiagEngine &diags, uint64_t limit,
                                           DiagLoc loc = {});

/// Has `writer` write the output: to the file that `--output` names, else to
/// `out`. The file is there only when `writer` succeeds. Reports what cannot be
/// written.
llvm::LogicalResult writeOutput(
    const Arguments &args, llvm::raw_ostream &out, DiagSession &session,
    llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writer);

} // namespace pipec

#endif // PIPEC_DRIVER_IO_H
