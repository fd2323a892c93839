//===- StepInput.h - Schedules that are read as steps ------------*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_STEPINPUT_H
#define PIPEC_DRIVER_STEPINPUT_H

#include "Driver/Io.h"
#include "IR/Schedule.h"

#include <optional>

namespace pipec {

/// What an input does not say itself; only CSV leaves something open.
struct StepInputOptions {
  /// Sizes that the input must have.
  std::optional<unsigned> stages;
  std::optional<unsigned> microbatches;
};

/// Reads step IR or CSV, by `kind`, which is not `Program`. `path` names the
/// schedule of a CSV, `text` is a file of the engine's `SourceFiles`.
llvm::FailureOr<Schedule> readStepInput(InputKind kind, llvm::StringRef path,
                                        llvm::StringRef text,
                                        const StepInputOptions &options,
                                        DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_DRIVER_STEPINPUT_H
