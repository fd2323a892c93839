//===- DescribeCommand.h - Listings of the library --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"
#include "Command/CommandRun.h"

namespace pipec {

/// A schedule of the installed library.
struct LibraryEntry {
  std::string name;
  /// The path of its file.
  std::string file;
  /// The first sentence of its documentation.
  std::string summary;
  std::vector<std::string> aliases;
};

/// The schedules of the library, in the order of its files.
llvm::FailureOr<std::vector<LibraryEntry>> readLibrary(const SearchPath &search,
                                                       DiagEngine &diags);

/// Prints one line for each schedule of the installed library:
///
///     gpipe         GPipe: all forwards, then all backwards. (GPipe)
///
/// With `patterns`, prints only schedules whose name or alias matches one;
/// reports a pattern that is not a glob or does not match.
llvm::LogicalResult listLibrary(const SearchPath &search,
                                llvm::ArrayRef<std::string> patterns,
                                llvm::raw_ostream &os, DiagEngine &diags);

/// `ranks p = 4`
std::string parameterText(const ast::ParamDecl &param);

/// Prints the documentation, parameters and constraints of schedules.
void describeSchedules(llvm::ArrayRef<const ast::ScheduleDecl *> schedules,
                       llvm::raw_ostream &os);
/// The same as the attribute `schedules` of an object.
void describeSchedules(llvm::ArrayRef<const ast::ScheduleDecl *> schedules,
                       llvm::json::OStream &json);

} // namespace pipec
