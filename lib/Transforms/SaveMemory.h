//===- SaveMemory.h - Ways to keep a schedule within its memory -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// A schedule with recomputations or copies.
struct SavedSchedule {
  /// What keeps it within the memory limit: "recompute" or "offload".
  llvm::StringRef memoryBy;
  Schedule schedule;
};

/// The schedule without its transfers, with recomputations and, if the costs of
/// copies are given, with copies to the host, as far as these keep the
/// activations of every rank within its limit. Empty for a schedule without
/// backwards or with such steps of its own. Reports why a way does not work,
/// which is not an error of the schedule.
std::vector<SavedSchedule> saveMemory(const Schedule &schedule,
                                      DiagEngine &diags);

} // namespace pipec
