//===- ExpectCheck.h - Checking `expect` clauses ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// An expected figure and its measured value.
struct CheckedFigure {
  Expectation expectation;
  Rational measured;
  /// Whether the relation between the measured and the expected value holds.
  bool holds = false;
};

/// Measures every figure in the `expect` clauses of `schedule`, which must be
/// of level compute, in the order of the clauses: times and rates of a run
/// without P2P contention (Simulation/Simulate.h), where `idle` of a rank is
/// the makespan minus its work, and peaks of the live activations. All values
/// are exact. Reports an order that cannot run and figures that do not fit 64
/// bits, but not clauses that do not hold. Linear in the steps; a schedule
/// without clauses is not run.
llvm::FailureOr<std::vector<CheckedFigure>>
checkExpectations(const Schedule &schedule, DiagEngine &diags);

/// The figure in a message: `makespan`, `peak of rank 3`.
std::string figureName(const Expectation &expectation);

} // namespace pipec
