//===- Passes.h - Passes on the command line ---------------------*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_PASSES_H
#define PIPEC_DRIVER_PASSES_H

#include "Pass/PassManager.h"

#include <string>

namespace pipec {

/// What the command line says about passes.
struct PassSettings {
  /// The value of `--passes` or the name of a target.
  std::string passes;
  bool printAfterAll = false;
  bool verifyEach = verifyEachByDefault;
  bool timePasses = false;

  /// Debug builds verify after every pass.
#ifdef NDEBUG
  static constexpr bool verifyEachByDefault = false;
#else
  static constexpr bool verifyEachByDefault = true;
#endif
};

/// Reads the passes that `settings` names. What the settings ask to be printed
/// goes to `err` when they run. Reports the mistakes in the list.
llvm::FailureOr<PassManager> makePassManager(const PassSettings &settings,
                                             llvm::raw_ostream &err,
                                             DiagEngine &diags);

/// The passes and targets with their summaries and options, for `--help`.
std::string passHelp();

} // namespace pipec

#endif // PIPEC_DRIVER_PASSES_H
