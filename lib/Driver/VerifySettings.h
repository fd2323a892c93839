//===- VerifySettings.h - The levels of --verify ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_VERIFYSETTINGS_H
#define PIPEC_DRIVER_VERIFYSETTINGS_H

#include "Verify/Verifier.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace pipec {

/// What `--verify=compute,placed,...` asks for; `--verify=none` asks for no
/// check, and without the option every level is checked that the steps of a
/// schedule call for.
struct VerifySettings {
  /// Check what the steps call for.
  bool all = true;
  /// Otherwise these levels, whether they are called for or not.
  std::vector<VerifyLevel> levels;

  bool any() const { return all || !levels.empty(); }

  /// Reads the values of `--verify`, lists of names; reports a name that no
  /// level has.
  static llvm::FailureOr<VerifySettings>
  parse(llvm::ArrayRef<llvm::StringRef> lists, DiagEngine &diags);

  /// Verifies `schedule` as asked.
  llvm::LogicalResult run(const Schedule &schedule, DiagEngine &diags) const;

  /// Warns of what a verified schedule does that is not wrong, but not what a
  /// training loop expects; silent when no check was asked for.
  void warn(const Schedule &schedule, DiagEngine &diags) const;
};

} // namespace pipec

#endif // PIPEC_DRIVER_VERIFYSETTINGS_H
