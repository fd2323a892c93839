//===- Information.h - --help, and other texts ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Arguments.h"
#include "Driver/Io.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
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

/// The explanation of a kind, with its example, in Markdown: the section of its
/// page of diagnostics without the heading. Empty if there is no page.
std::string explanationOf(const DiagInfo &info);

/// The installed page with the explanation of a kind.
struct ExplanationPlace {
  /// The phase that reports the kind, which is the name of the page.
  llvm::StringRef phase;
  std::string path;
  /// The line of the heading, from 1.
  unsigned line = 0;
};
/// The place of the text that `explanationOf` returns, or null if the pages are
/// not installed.
const ExplanationPlace *explanationPlace(const DiagInfo &info);

using TextPrinter = llvm::function_ref<void(llvm::raw_ostream &)>;

/// An option that prints a text about the program instead of running it.
struct InformationOption {
  Opt option;
  void (*print)(llvm::raw_ostream &os);
};

/// Writes a text to the file of `--output` or to `out`.
llvm::LogicalResult printText(const Arguments &args, llvm::raw_ostream &out,
                              DiagSession &session, TextPrinter print);

/// Prints the text that the command line requests instead of a run: with
/// `--help` that of `printHelp`, otherwise that of `--version`,
/// `--help-passes`, `--list-passes`, the first of `further`, or `--explain`.
/// Returns `std::nullopt` if none of these options was given. Reports options
/// and words that do not affect the text, except with `--help`, which may end
/// any command line.
std::optional<llvm::LogicalResult>
printInformation(const Arguments &args, llvm::raw_ostream &out,
                 DiagSession &session, TextPrinter printHelp,
                 llvm::ArrayRef<InformationOption> further);

} // namespace pipec
