//===- Input.h - The schedule that a command line names -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_INPUT_H
#define PIPEC_DRIVER_INPUT_H

#include "Analysis/WaitModel.h"
#include "Driver/Io.h"
#include "Driver/ScheduleSource.h"

#include "llvm/Support/CommandLine.h"

namespace pipec {

/// The options that say how programs become schedules; every command has them.
struct LowerFlags {
  explicit LowerFlags(llvm::cl::OptionCategory &category);
  /// Reads the options into `lowering`. Reports every value that cannot be
  /// used.
  llvm::LogicalResult read(LowerOptions &lowering, DiagEngine &diags) const;
  /// The same without `--cost`, for a command that does not put one over the
  /// other.
  llvm::LogicalResult readButCosts(LowerOptions &lowering,
                                   DiagEngine &diags) const;
  /// Reads what every `--cost` sets, in their order.
  llvm::FailureOr<std::vector<CostSettings>> readCosts(DiagEngine &diags) const;

  llvm::cl::list<std::string> defines;
  llvm::cl::opt<std::string> schedule;
  llvm::cl::list<std::string> cost;
  llvm::cl::opt<std::string> costProfile;
  llvm::cl::opt<unsigned> parts;
  llvm::cl::opt<uint64_t> maxSteps;
};

/// The options of a command that takes one schedule, of any origin.
struct InputFlags : LowerFlags {
  explicit InputFlags(llvm::cl::OptionCategory &category);

  llvm::cl::opt<std::string> path;
  llvm::cl::opt<unsigned> stages;
  llvm::cl::opt<unsigned> microbatches;
};

/// `--model`, for every command that lets a schedule run in time.
struct ModelFlag {
  explicit ModelFlag(llvm::cl::OptionCategory &category);
  /// Sets `model` when the option was given; reports a word that is no model.
  llvm::LogicalResult read(std::optional<WaitModel> &model,
                           DiagEngine &diags) const;

  llvm::cl::opt<std::string> name;
};

/// `-W`, for every command that can warn of a program.
struct WarningFlags {
  explicit WarningFlags(llvm::cl::OptionCategory &category);
  /// Switches warnings as asked; reports a name that no warning has.
  llvm::LogicalResult apply(DiagEngine &diags) const;

  llvm::cl::list<std::string> names;
};

/// Finds and reads the input of the command line; reports when there is none.
llvm::FailureOr<OpenedInput>
openInput(const InputFlags &flags, const SearchPath &search, DiagEngine &diags);

/// Makes the schedule of an input: lowers a program, reads step IR or CSV.
llvm::FailureOr<Schedule> makeSchedule(const InputFlags &flags,
                                       const OpenedInput &input,
                                       const SearchPath &search,
                                       DiagSession &session);

} // namespace pipec

#endif // PIPEC_DRIVER_INPUT_H
