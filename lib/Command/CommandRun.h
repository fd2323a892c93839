//===- CommandRun.h - What all commands have in common ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command is a row of Commands.def and a function that works with what is
// here:
//
//   LogicalResult runLint(const CommandRun &run) {
//     if (run.args.has(Opt::Require)) ...
//   }
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_COMMANDRUN_H
#define PIPEC_COMMAND_COMMANDRUN_H

#include "Command/Command.h"
#include "Driver/Io.h"
#include "Driver/Library.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace pipec {

/// The names of the commands.
std::vector<llvm::StringRef> commandNames();

/// What a command works with once its command line is read.
class CommandRun {
public:
  /// `program` is the path by which the program was called.
  CommandRun(const char *program, const Arguments &args, DiagSession &session,
             llvm::raw_ostream &out, llvm::raw_ostream &err);

  /// Chooses the form of the output among `forms`, as --format and the name of
  /// the output file say; reports when they contradict each other.
  llvm::LogicalResult chooseForm(llvm::ArrayRef<llvm::StringRef> forms);
  bool isJson() const { return form == "json"; }

  /// Has `writer` write the output to where `-o` says.
  llvm::LogicalResult
  write(llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writer)
      const;
  /// The same in the form that was chosen, text or JSON; `json` writes the
  /// attributes of an object.
  llvm::LogicalResult
  write(llvm::function_ref<void(llvm::raw_ostream &)> text,
        llvm::function_ref<void(llvm::json::OStream &)> json) const;

  /// Where the result goes without `-o`, for a command that has a second one.
  llvm::raw_ostream &standardOutput() const { return out; }
  /// The same to standard output, also where `-o` names a file for something
  /// else.
  llvm::LogicalResult
  print(llvm::function_ref<void(llvm::raw_ostream &)> text,
        llvm::function_ref<void(llvm::json::OStream &)> json) const;

  const Arguments &args;
  DiagSession &session;
  DiagEngine &diags;
  Progress &progress;
  const SearchPath search;
  /// Of the output: `text`, `json` or `csv`.
  llvm::StringRef form = "text";
  /// For what passes print on the way.
  llvm::raw_ostream &err;

private:
  void writeForm(llvm::raw_ostream &os,
                 llvm::function_ref<void(llvm::raw_ostream &)> text,
                 llvm::function_ref<void(llvm::json::OStream &)> json) const;

  llvm::raw_ostream &out;
};

} // namespace pipec

#endif // PIPEC_COMMAND_COMMANDRUN_H
