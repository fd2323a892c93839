//===- Help.h - The text of --help ------------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_HELP_H
#define PIPEC_DRIVER_HELP_H

#include "Driver/Options.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace pipec {

/// The parts of --help of one command, other than the options.
struct HelpText {
  /// `pipec lint`
  llvm::StringRef command;
  /// The text after the options in the usage line: `<file or name>`.
  llvm::StringRef words;
  /// One sentence.
  llvm::StringRef overview;
  /// Command lines, one per line.
  llvm::StringRef examples;
  optgroup::Set groups;
};

/// `-o FILE, --output=FILE`
std::string optionText(const OptionInfo &info);

/// Prints overview, usage line, options and examples.
void printHelp(const HelpText &help, llvm::raw_ostream &os);
/// Prints the same as a section of a Markdown page.
void printHelpPage(const HelpText &help, llvm::raw_ostream &os);

/// Prints `left` and, in the columns to its right, `text`, broken into lines of
/// at most 80 columns.
void printHelpRow(llvm::StringRef left, llvm::StringRef text,
                  llvm::raw_ostream &os);

} // namespace pipec

#endif // PIPEC_DRIVER_HELP_H
