//===- IRGen.h - Checked program to step IR ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/GivenSettings.h"
#include "IR/GraphBuilder.h"
#include "IR/Schedule.h"
#include "Sema/Sema.h"
#include "Support/DiagEngine.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// Options of lowering from the command line.
struct LowerOptions {
  /// `-D` values: a parameter's label or name, and its value.
  std::vector<std::pair<std::string, int64_t>> params;
  /// The maximum number of steps, loop iterations and calls, over all ranks.
  uint64_t maxSteps = uint64_t(1) << 28;
  /// Costs and sizes that override the settings of the program.
  GivenSettings given;
  /// Edges that replace the edges of the program, or are added to them.
  GivenGraph graph;
  /// The slices of each micro-batch. The micro-batches of a program without the
  /// role `slices` are then units.
  std::optional<unsigned> slices;
  /// Evaluate `expect` clauses; otherwise the schedule has no expectations.
  bool expectations = true;
};

/// Evaluates `schedule` for every rank. All `require` statements are checked
/// before the first step is created. Errors are reported at their source range,
/// with notes for the rank and the loop values; lowering stops after the first
/// rank with an error. The cost is linear in the steps, loop iterations and
/// calls of the program.
llvm::FailureOr<Schedule> lower(const CheckedProgram &program,
                                const CheckedSchedule &schedule,
                                const LowerOptions &options, DiagEngine &diags);

} // namespace pipec
