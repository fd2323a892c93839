//===- InnerRuns.h - Commands that run in this process ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan is made by other commands of pipec, which print JSON for it. Each of
// them can be repeated on a command line. The figures of that JSON are read
// here.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace pipec {

/// The words of a command line after `pipec`.
using CommandWords = std::vector<std::string>;

/// Runs commands of pipec in this process.
class InnerRuns {
public:
  /// Runs a command line, which begins with the name of the program, and
  /// returns the exit status. Output and messages go to the streams.
  using Main = llvm::function_ref<int(llvm::ArrayRef<const char *> arguments,
                                      llvm::raw_ostream &out,
                                      llvm::raw_ostream &messages)>;

  /// Messages of commands that must succeed are printed to `err`, as objects of
  /// JSON with `isJson`.
  InnerRuns(llvm::StringRef program, Main main, llvm::raw_ostream &err,
            bool isJson = false)
      : program(program.str()), main(main), err(err), isJson(isJson) {}

  /// The object that a command prints with `--format=json`; a failure if the
  /// command fails, and then nothing is printed.
  llvm::FailureOr<llvm::json::Object> tryToAsk(CommandWords words);
  /// The same, with the messages of a command that fails printed. (A comparison
  /// in which nothing fits has an object all the same.)
  llvm::FailureOr<llvm::json::Object> ask(CommandWords words);
  /// Runs a command that prints nothing that is needed; `write` prints the
  /// messages of one that fails.
  llvm::LogicalResult tryToWrite(const CommandWords &words);
  llvm::LogicalResult write(const CommandWords &words);

  /// The text of the first error of the last command.
  std::string firstError() const;

  /// The messages of the last command.
  std::string messages;

private:
  /// Runs a command and returns its exit status.
  int call(const CommandWords &words, std::string &printed);

  std::string program;
  Main main;
  llvm::raw_ostream &err;
  bool isJson;
};

/// Copies a figure of a JSON object with its exact value.
void copyFigure(const llvm::json::Object &from, llvm::StringRef key,
                llvm::json::Object &to, llvm::StringRef as);
/// The value of a figure for comparisons; infinity if it is null or absent.
double figureOf(const llvm::json::Object &object, llvm::StringRef key);
/// A figure with at most 12 significant digits.
std::string roundedText(double value);

} // namespace pipec
