//===- Command.cpp - The commands of pipec -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pipec {

namespace {

struct CommandInfo {
  StringLiteral name;
  CommandFunction function;
  StringLiteral summary;
};

constexpr CommandInfo commands[] = {
#define PIPEC_COMMAND(Name, Function, Summary) {Name, Function, Summary},
#include "Command/Commands.def"
};

} // namespace

std::string commandHelp() {
  std::string text;
  raw_string_ostream os(text);
  os << "\nCommands (`pipec COMMAND --help` for their options):\n";
  for (const CommandInfo &command : commands)
    os << formatv("  {0,-20} {1}\n", command.name, command.summary);
  return text;
}

int pipecMain(int argc, const char *const *argv, raw_ostream &out,
              raw_ostream &err) {
  for (const CommandInfo &command : commands) {
    if (argc < 2 || argv[1] != command.name)
      continue;
    // The command's name goes, the program's stays.
    SmallVector<const char *> rest = {argv[0]};
    rest.append(argv + 2, argv + argc);
    return command.function({int(rest.size()), rest.data(), out, err});
  }
  return compileMain({argc, argv, out, err});
}

} // namespace pipec
