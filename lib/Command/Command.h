//===- Command.h - The commands of pipec -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_COMMAND_H
#define PIPEC_COMMAND_COMMAND_H

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace pipec {

/// Runs `pipec`: the command that the first argument names, else the compiler.
/// Output that no `-o` names goes to `out`, messages to `err`. Returns the exit
/// status: 0 when no error was reported.
int pipecMain(int argc, const char *const *argv, llvm::raw_ostream &out,
              llvm::raw_ostream &err);

/// What a command is called with. `argv[0]` is the program, what follows are
/// the arguments behind the command's name.
struct CommandLine {
  int argc;
  const char *const *argv;
  llvm::raw_ostream &out;
  llvm::raw_ostream &err;
};

/// One command; returns the exit status.
using CommandFunction = int (*)(const CommandLine &line);

/// The compiler: what `pipec` does without the name of a command.
int compileMain(const CommandLine &line);

#define PIPEC_COMMAND(Name, Function, Summary)                                 \
  int Function(const CommandLine &line);
#include "Command/Commands.def"

/// The commands with their summaries, for `--help`.
std::string commandHelp();

} // namespace pipec

#endif // PIPEC_COMMAND_COMMAND_H
