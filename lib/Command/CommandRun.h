//===- CommandRun.h - What all commands have in common --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command is a set of options and a function that works with what is here:
//
//   int lintMain(const CommandLine &line) {
//     LintFlags flags;
//     return runCommand(line, flags, "Looks for ...",
//                       [&](const CommandRun &run) { ... });
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

/// The options that every command has.
struct CommandFlags {
  /// `title` stands above the options in --help, `output` behind `-o`.
  explicit CommandFlags(llvm::StringRef title,
                        llvm::StringRef output = "Write the result to FILE");

  llvm::cl::OptionCategory category;
  llvm::cl::list<std::string> includes;
  OutputFlag output;
  DiagFlags diags;
};

/// `--format`, for commands whose output is text or JSON.
struct FormatFlag {
  explicit FormatFlag(llvm::cl::OptionCategory &category,
                      llvm::StringRef help = "text (default) or json");
  /// Reports a word that is no format.
  llvm::LogicalResult check(DiagEngine &diags) const;
  bool isJson() const { return name == "json"; }

  llvm::cl::opt<std::string> name;
};

/// What a command works with once its command line is read.
class CommandRun {
public:
  CommandRun(const CommandLine &line, const CommandFlags &flags,
             DiagSession &session);

  /// Has `writer` write the output to where `-o` says.
  llvm::LogicalResult
  write(llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writer)
      const;
  /// The same in the form that `format` asks for; `json` writes the attributes
  /// of an object.
  llvm::LogicalResult
  write(const FormatFlag &format,
        llvm::function_ref<void(llvm::raw_ostream &)> text,
        llvm::function_ref<void(llvm::json::OStream &)> json) const;

  DiagSession &session;
  DiagEngine &diags;
  Progress &progress;
  const SearchPath search;
  /// For what passes print on the way.
  llvm::raw_ostream &err;

private:
  const OutputFlag &output;
  llvm::raw_ostream &out;
};

/// Reads `line` into `flags` and calls `run`, unless it does not fit them; that
/// is reported. Returns the exit status.
int runCommand(const CommandLine &line, CommandFlags &flags,
               llvm::StringRef overview,
               llvm::function_ref<llvm::LogicalResult(const CommandRun &)> run);

} // namespace pipec

#endif // PIPEC_COMMAND_COMMANDRUN_H
