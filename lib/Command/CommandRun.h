//===- CommandRun.h - The shared parts of all commands ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command is a row of Commands.def and a function that uses a CommandRun:
//
//   LogicalResult runLint(const CommandRun &run) {
//     if (run.args.has(Opt::Require)) ...
//   }
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Command/Command.h"
#include "Driver/Io.h"
#include "Driver/PassFlags.h"
#include "Driver/Program.h"
#include "Emit/Emitter.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace pipec {

/// The environment of a command after its command line has been parsed.
class CommandRun {
public:
  /// `program` is the path with which the program was started.
  CommandRun(const char *program, const Arguments &args, DiagSession &session,
             llvm::raw_ostream &out, llvm::raw_ostream &err);

  /// Checks that there is a file of `-o` if the command needs one, and sets
  /// `form`, unless it is `form::Apart` (Driver/Options.h).
  llvm::LogicalResult checkOutput();
  /// Sets `form` to one of `forms` by --format and the name of the output file;
  /// reports if they contradict each other.
  llvm::LogicalResult chooseForm(form::Set forms);
  bool isJson() const { return form == "json"; }

  /// Calls `writer` to write the output to the destination given by `-o`.
  llvm::LogicalResult
  write(llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writer)
      const;
  /// The same in the chosen form, text or JSON; `json` writes the attributes of
  /// an object.
  llvm::LogicalResult
  write(llvm::function_ref<void(llvm::raw_ostream &)> text,
        llvm::function_ref<void(llvm::json::OStream &)> json) const;

  /// The passes of --target or --passes, or `otherwise`, ready to run. Reports
  /// all errors.
  llvm::FailureOr<PassRun> makePasses(llvm::StringRef otherwise) const;

  /// Where the result goes without `-o`, for a command that has a second one.
  llvm::raw_ostream &standardOutput() const { return out; }
  /// The same to standard output, also where `-o` names a file for something
  /// else.
  llvm::LogicalResult
  print(llvm::function_ref<void(llvm::raw_ostream &)> text,
        llvm::function_ref<void(llvm::json::OStream &)> json) const;

  /// Prints a line to standard output now, while the command runs. Reports
  /// that it cannot be written.
  llvm::LogicalResult announce(const llvm::Twine &line) const;

  /// The path of the running program.
  const std::string program;
  /// The whole command line, from the name of the program.
  llvm::ArrayRef<const char *> commandLine;
  /// Null in a program without a server.
  MakeHttpServer makeServer = nullptr;
  const Arguments &args;
  DiagSession &session;
  DiagEngine &diags;
  Progress &progress;
  const SearchPath search;
  /// The form of the output: `text`, `json` or `csv`.
  llvm::StringRef form = "text";
  /// For output that passes print during the run.
  llvm::raw_ostream &err;

private:
  void writeForm(llvm::raw_ostream &os,
                 llvm::function_ref<void(llvm::raw_ostream &)> text,
                 llvm::function_ref<void(llvm::json::OStream &)> json) const;

  llvm::raw_ostream &out;
};

/// Writes the JSON object of `lint` for a command line that cannot be used
/// because of `errors`, which are the findings. Fails.
llvm::LogicalResult lintCommandLine(const CommandRun &run,
                                    llvm::ArrayRef<Diagnostic> errors);
/// Runs `explain` with --against: compares a schedule with traces of it.
llvm::LogicalResult explainAgainst(const CommandRun &run);

/// Compiles a program and writes the contents of its live page as the JSON that
/// docs/Serve.md describes, also after errors: the parameters if the program
/// can be parsed, figures and pictures if it can be compiled, and all messages,
/// including failed `expect` clauses.
llvm::LogicalResult runLive(const CommandRun &run, EmitOptions emit);
/// The width of the terminal in columns; 0 if it is unknown.
unsigned terminalWidth();

} // namespace pipec
