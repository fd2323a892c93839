//===- Information.h - Options that print a text ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Arguments.h"
#include "Driver/Io.h"

#include <optional>

namespace pipec {

/// The explanation of a kind, with its example, in Markdown: the section of its
/// page of diagnostics without the heading. Empty if there is no page.
std::string explanationOf(const DiagInfo &info);

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
