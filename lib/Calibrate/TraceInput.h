//===- TraceInput.h - The traces that a command line names ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Calibrate/Recording.h"
#include "Driver/Arguments.h"
#include "Driver/Grid.h"
#include "IR/Schedule.h"
#include "Support/Progress.h"

namespace pipec {

/// Reads the traces at `paths` as --warmup and --ranks-of say. Reports options
/// that do not fit.
llvm::FailureOr<Recording> readTraces(const Arguments &args,
                                      llvm::ArrayRef<std::string> paths,
                                      Progress &progress, DiagEngine &diags);

/// Gives a program the sizes of the traces where the command line gives none.
void setSizes(Grid &sizes, const Recording &recording);

/// Reports the first compute step that is in the schedule and not in the
/// traces, or the other way round, and different sizes.
llvm::LogicalResult checkFits(const Recording &recording,
                              const Schedule &schedule, DiagEngine &diags);

} // namespace pipec
