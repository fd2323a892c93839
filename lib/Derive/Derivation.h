//===- Derivation.h - Closed forms of measured figures ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"

#include "llvm/Support/JSON.h"

namespace pipec {

/// What formulas are derived from.
struct DeriveRequest {
  const ScheduleSource &source;
  const CheckedSchedule &schedule;
  const LowerOptions &lowering;
  /// Gives the parameters that formulas may use.
  const Grid &grid;
  /// Derives clauses for the schedule's own costs alone.
  bool ownCosts;
  DiagEngine &diags;
};

/// Derives clauses for the metrics of a schedule that hold at all measured
/// sizes that meet their conditions, also at some outside the grid, and calls
/// `advance` after each size of the grid. The result is an element of
/// `schedules` in the output with --format=json (docs/Derive.md). Reports
/// errors at single sizes, too few sizes, and a schedule without clauses.
llvm::FailureOr<llvm::json::Object> derive(const DeriveRequest &request,
                                           llvm::function_ref<void()> advance);

} // namespace pipec
