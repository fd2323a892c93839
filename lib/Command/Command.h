//===- Command.h - The commands of pipec ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Information.h"
#include "Serve/Http.h"
#include "Support/Progress.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

namespace pipec {

/// Runs `pipec`: the command given by the first argument, otherwise the
/// compiler. Output goes to the file of `-o` or to `out`, messages go to `err`.
/// Returns the exit status: 0 if no error was reported, 2 if the command line
/// is invalid, otherwise 1. Commands that need a server create it with
/// `makeServer`; they refuse to run if it is null. A run that is part of
/// another shows its progress in that of the `outer` one.
int pipecMain(int argc, const char *const *argv, llvm::raw_ostream &out,
              llvm::raw_ostream &err, MakeHttpServer makeServer = nullptr,
              Progress *outer = nullptr);

class CommandRun;

/// A command, called with the parsed command line.
using CommandFunction = llvm::LogicalResult (*)(const CommandRun &run);

#define PIPEC_COMMAND(Name, Run, Groups, Forms, Inputs, Overview, Examples)    \
  llvm::LogicalResult Run(const CommandRun &run);
#include "Command/Commands.def"

/// One row of Commands.def.
struct CommandInfo {
  llvm::StringLiteral name;
  CommandFunction function;
  HelpText help;
};

/// Prints the manual page.
void printManPage(llvm::raw_ostream &os);

/// All commands, in the order of the table; the compiler comes first.
llvm::ArrayRef<CommandInfo> allCommands();
/// The command that runs if none is named: the compiler.
inline const CommandInfo &defaultCommand() { return allCommands().front(); }
/// The command with that name; null if there is none.
const CommandInfo *findCommand(llvm::StringRef name);
/// The names of the commands.
std::vector<llvm::StringRef> commandNames();

} // namespace pipec
