//===- IRGen.h - Checked program to step IR ---------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IRGEN_IRGEN_H
#define PIPEC_IRGEN_IRGEN_H

#include "Cost/GivenSettings.h"
#include "IR/Schedule.h"
#include "Sema/Sema.h"
#include "Support/DiagEngine.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// What the command line says about lowering.
struct LowerOptions {
  /// `-D` values: a parameter's label or name, and its value.
  std::vector<std::pair<std::string, int64_t>> params;
  /// Steps, loop rounds and calls of all ranks together that a program may
  /// take.
  uint64_t maxSteps = uint64_t(1) << 28;
  /// Costs and sizes that go over those of the program.
  GivenSettings given;
};

/// Evaluates `schedule` for every rank. All `require`s are checked before any
/// step is made. Reports every mistake where it stands, with notes that say for
/// which rank and loop values; the first rank with a mistake ends the work.
/// Linear in the steps, loop rounds and calls that the program makes.
llvm::FailureOr<Schedule> lower(const CheckedProgram &program,
                                const CheckedSchedule &schedule,
                                const LowerOptions &options, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_IRGEN_IRGEN_H
