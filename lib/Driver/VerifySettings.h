//===- VerifySettings.h - The levels of --verify ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Verify/Verifier.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace pipec {

/// The value of `--verify=compute,placed,...`. `--verify=none` disables all
/// checks. Without the option, all levels that apply to the steps of a schedule
/// are checked.
struct VerifySettings {
  /// Check the levels that apply.
  bool all = true;
  /// Otherwise these levels, even if they do not apply.
  std::vector<VerifyLevel> levels;

  bool any() const { return all || !levels.empty(); }

  /// The values of `--verify`.
  static std::vector<llvm::StringRef> names();
  /// Reads the values of `--verify`, lists of names; reports unknown names.
  static llvm::FailureOr<VerifySettings>
  parse(llvm::ArrayRef<llvm::StringRef> lists, DiagEngine &diags);

  /// Verifies `schedule` accordingly; reports the level timed without times.
  llvm::LogicalResult run(const Schedule &schedule, DiagEngine &diags) const;

  /// Warns about properties of a verified schedule that are not errors but that
  /// training loops do not expect; has no effect if all checks are disabled.
  void warn(const Schedule &schedule, DiagEngine &diags) const;
};

} // namespace pipec
