//===- Io.h - Input, output and diagnostics of a program ------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every program of the project does around its phases: read a command
// line, set up the diagnostics of the run, open the input, and write an output
// file that exists only if the run succeeded. Streams are handed in.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_IO_H
#define PIPEC_DRIVER_IO_H

#include "Support/DiagEngine.h"
#include "Support/DiagPrinter.h"
#include "Support/Progress.h"
#include "Support/VerifyDiagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace pipec {

/// The files and the diagnostics of one run. Messages are printed as they come;
/// under `--verify-diagnostics` they are collected instead and compared with
/// the comments of the input when the run ends.
class DiagSession {
public:
  /// `tool` names the program in messages that have no position.
  DiagSession(llvm::StringRef tool, llvm::raw_ostream &err)
      : printer(err, sources, tool), verifier(sources),
        diags(sources, [this](const Diagnostic &d) { handle(d); }),
        line(tool, err) {}

  SourceFiles &files() { return sources; }
  DiagEngine &engine() { return diags; }
  /// What the run is doing, for a person who waits.
  Progress &progress() { return line; }

  /// A printer for messages that are part of the output: it writes them to `os`
  /// as text.
  DiagPrinter printerTo(llvm::raw_ostream &os) const { return {printer, os}; }
  /// Hands what is reported while `body` runs to `handler` and does not print
  /// it; under `--verify-diagnostics` it is collected as ever.
  void divert(DiagEngine::Handler handler, llvm::function_ref<void()> body);

  /// Appends ` [KindName]` to every message that is printed.
  void setShowKinds(bool on) { printer.setShowKinds(on); }
  /// Prints every message as JSON from now on.
  void setJson(bool on) { printer.setJson(on); }
  /// From now on collects what is reported, for `finish` to compare.
  void setVerify(bool on);

  /// Ends the run. Returns the exit status: 0 when `result` is success and no
  /// error was given; under `--verify-diagnostics`, when exactly the expected
  /// diagnostics were given.
  int finish(llvm::LogicalResult result);

private:
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
  Progress line;
};

/// The options about diagnostics that every program has.
struct DiagFlags {
  explicit DiagFlags(llvm::cl::OptionCategory &category);
  /// Sets the form of messages as asked. Reports a form that there is not.
  llvm::LogicalResult applyForm(DiagSession &session) const;

  llvm::cl::opt<bool> verifyDiagnostics;
  llvm::cl::opt<bool> showKinds;
  llvm::cl::opt<std::string> format;
};

/// Reports that the command line cannot be used, and why.
InFlightDiagnostic unusable(DiagEngine &diags, const llvm::Twine &why);
/// Reports that it names no input.
InFlightDiagnostic reportNoInput(DiagEngine &diags);

/// Reads `argv` into the llvm::cl options that are alive, sets `session` up as
/// `flags` ask, and reports what does not fit the options. Options that are not
/// of `category` are hidden in `--help`. `--help` and `--version` print to
/// standard output and end the program.
llvm::LogicalResult parseCommandLine(int argc, const char *const *argv,
                                     llvm::cl::OptionCategory &category,
                                     llvm::StringRef overview,
                                     const DiagFlags &flags,
                                     DiagSession &session);

/// Reads the file at `path` ("-" is standard input); reports when that fails.
llvm::FailureOr<llvm::StringRef> openInput(llvm::StringRef path,
                                           DiagEngine &diags);

/// What an input file holds.
enum class InputKind { Program, Steps, Csv };

/// Tells the kind of an input by the ending of its name, and by its first word
/// where the name says nothing (standard input).
InputKind inputKind(llvm::StringRef path, llvm::StringRef text);

/// The output of a run. A file is written under another name beside its place
/// and takes that place in `commit`; without a commit nothing changes on disk.
/// Standard output, devices and pipes are written directly.
class OutputFile {
public:
  /// Opens `path` for writing; "-" writes to `out`. Reports when that fails.
  static llvm::FailureOr<std::unique_ptr<OutputFile>>
  open(llvm::StringRef path, llvm::raw_ostream &out, DiagEngine &diags);
  ~OutputFile();

  llvm::raw_ostream &stream() { return *os; }
  /// Makes the output final. Reports when not all of it could be written; then
  /// the file is as it was before the run.
  llvm::LogicalResult commit(DiagEngine &diags);

private:
  explicit OutputFile(llvm::StringRef path) : path(path.str()) {}
  std::error_code openFile();

  /// As the user wrote it; what messages show.
  std::string path;
  /// Where the file goes: `path` behind its symbolic links.
  std::string target;
  std::optional<llvm::sys::fs::TempFile> temp;
  std::unique_ptr<llvm::raw_fd_ostream> owned;
  llvm::raw_ostream *os = nullptr;
};

/// `-o`, where the output of a run goes.
struct OutputFlag {
  explicit OutputFlag(llvm::cl::OptionCategory &category,
                      llvm::StringRef help = "Write the result to FILE");
  /// Has `writer` write the output: to the file that was named, else to `out`.
  /// The file is there only when `writer` succeeds. Reports what cannot be
  /// written.
  llvm::LogicalResult
  write(llvm::raw_ostream &out, DiagSession &session,
        llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writer)
      const;

  llvm::cl::opt<std::string> path;
};

} // namespace pipec

#endif // PIPEC_DRIVER_IO_H
