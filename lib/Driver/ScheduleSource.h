//===- ScheduleSource.h - One input, schedules of any size ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/InputFormat.h"
#include "Driver/Io.h"
#include "Driver/Program.h"
#include "IRGen/IRGen.h"
#include "Sema/Sema.h"

namespace pipec {

class Grid;

/// A file that was found and read.
struct OpenedInput {
  std::string path;
  llvm::StringRef text;
  InputKind kind;
  /// The word by which it was found: a path, a name or an alias.
  std::string word;
};

/// Finds and reads the input called `name`, whose format may be specified in
/// `args`; reports if there is none.
llvm::FailureOr<OpenedInput> findInput(llvm::StringRef name,
                                       const SearchPath &search,
                                       const Arguments &args,
                                       DiagEngine &diags);

/// Reports an input that is not a program.
llvm::LogicalResult checkIsProgram(const OpenedInput &input, DiagEngine &diags);

/// The one of `schedules`, those of the file at `path`, that is called `name`
/// or has this alias. Reports if there is none.
llvm::FailureOr<const ast::ScheduleDecl *>
findSchedule(llvm::ArrayRef<const ast::ScheduleDecl *> schedules,
             llvm::StringRef name, llvm::StringRef path, DiagEngine &diags);

/// An input that is read and checked once, and can be lowered to schedules of
/// any size.
class ScheduleSource {
public:
  /// Takes an input that was read and parses a program with its imports.
  /// Reports syntax errors. `check` must follow before any other use than
  /// `module`.
  static llvm::FailureOr<std::unique_ptr<ScheduleSource>>
  parse(const OpenedInput &input, const SearchPath &search, DiagEngine &diags);
  /// Reports all other errors of a program that do not depend on sizes.
  llvm::LogicalResult check(DiagEngine &diags);
  /// Parses and checks.
  static llvm::FailureOr<std::unique_ptr<ScheduleSource>>
  load(const OpenedInput &input, const SearchPath &search, DiagEngine &diags);
  /// The same for a file, or the name of a program.
  static llvm::FailureOr<std::unique_ptr<ScheduleSource>>
  find(llvm::StringRef name, const SearchPath &search, const Arguments &args,
       DiagEngine &diags);

  /// The path of the file, as messages and output show it.
  llvm::StringRef path() const { return shownPath(input.path); }
  /// The same, as command lines name it: "-" for standard input.
  llvm::StringRef inputPath() const { return input.path; }
  bool isProgram() const { return input.kind == InputKind::Program; }
  /// The file of a program; null for a list of steps.
  const ast::Module *module() const { return parsed; }
  /// A program after `check`.
  const CheckedProgram &checkedProgram() const { return *program; }
  /// The schedules of a program.
  llvm::ArrayRef<CheckedSchedule> schedules() const {
    return program->schedules;
  }
  /// The schedule of a program with this name or alias, or its only one if
  /// `name` is empty. Reports if there is none or more than one.
  llvm::FailureOr<const CheckedSchedule *> schedule(llvm::StringRef name,
                                                    DiagEngine &diags) const;

  /// The schedule with this alias; without a name, with the one by which the
  /// input was found. Null if there is none.
  const CheckedSchedule *aliased(llvm::StringRef name) const;
  /// Lowers one of the schedules of a program.
  llvm::FailureOr<Schedule> lower(const CheckedSchedule &schedule,
                                  const LowerOptions &options,
                                  DiagEngine &diags) const;
  /// Reads an input that is a list of steps, with the stage graph, costs and
  /// memory settings of `lowering`.
  llvm::FailureOr<Schedule> read(const InputOptions &sizes,
                                 const LowerOptions &lowering,
                                 DiagEngine &diags) const;

private:
  explicit ScheduleSource(OpenedInput input) : input(std::move(input)) {}

  OpenedInput input;
  ast::Context context;
  ast::Module *parsed = nullptr;
  std::optional<CheckedProgram> program;
};

/// The schedules of several inputs.
class ScheduleList {
public:
  struct Entry {
    const ScheduleSource *source;
    /// Null for an input that is a list of steps.
    const CheckedSchedule *schedule;
  };

  /// Adds the schedules of the input called `name`: the one called `schedule`,
  /// or the one with the alias `name`, or all of a program. Reports what cannot
  /// be found or read.
  llvm::LogicalResult add(llvm::StringRef name, llvm::StringRef schedule,
                          const SearchPath &search, const Arguments &args,
                          DiagEngine &diags);

  /// Reads the sizes and the inputs of a command, with --library those in the
  /// library too, and adds their schedules. Reports missing inputs.
  llvm::LogicalResult addAll(Grid &grid, const SearchPath &search,
                             const Arguments &args, DiagEngine &diags);

  llvm::ArrayRef<Entry> entries() const { return all; }
  /// The declarations of the schedules that are programs.
  std::vector<const ast::ScheduleDecl *> decls() const;
  /// True if at least one input is a list of steps.
  bool hasSteps() const;

private:
  std::vector<std::unique_ptr<ScheduleSource>> sources;
  std::vector<Entry> all;
};

} // namespace pipec
