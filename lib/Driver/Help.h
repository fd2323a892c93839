//===- Help.h - The text of --help ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Options.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace pipec {

/// The parts of --help of one command, other than the options.
struct HelpText {
  /// One sentence.
  llvm::StringRef overview;
  /// Command lines, one per line.
  llvm::StringRef examples;
  CommandSyntax syntax;
  /// A command that describes `everyCommand`; if it is empty, --help does.
  llvm::StringRef common = "";

  /// `[options] <file or name>...`
  std::string usage() const { return "[options] " + syntax.inputs.usage(); }
};

/// The options of every command, but -o.
inline constexpr optgroup::Set everyCommand =
    optgroup::Warnings | optgroup::Diagnostics | optgroup::Expectations |
    optgroup::General;

/// `-o FILE, --output=FILE`
std::string optionText(const OptionInfo &info);

/// Prints overview, usage line, options and examples.
void printHelp(const HelpText &help, llvm::raw_ostream &os);
/// Prints the same as a section of a Markdown page.
void printHelpPage(const HelpText &help, llvm::raw_ostream &os);

/// The headings of the options of `groups` that are shown, without duplicates,
/// in the order of the table.
llvm::SmallVector<llvm::StringRef> optionHeadings(optgroup::Set groups);
/// Prints the options of a command that are also in `shown`, by heading.
void printOptions(const CommandSyntax &syntax, optgroup::Set shown,
                  llvm::raw_ostream &os);
/// Prints the names of these options as paragraphs of Markdown.
void printOptionNames(optgroup::Set shown, llvm::raw_ostream &os);

/// Prints `left` and, in the columns to its right, `text`, broken into lines of
/// at most 80 columns.
void printHelpRow(llvm::StringRef left, llvm::StringRef text,
                  llvm::raw_ostream &os);

/// A part of a page that is not in its text.
struct PagePart {
  llvm::StringLiteral name;
  void (*print)(llvm::raw_ostream &os);
};
/// Prints `text` with `@name@` replaced by the part of that name.
void fillPage(llvm::StringRef text, llvm::ArrayRef<PagePart> parts,
              llvm::raw_ostream &os);

} // namespace pipec
