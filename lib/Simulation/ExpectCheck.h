//===- ExpectCheck.h - `expect` clauses against a run -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_EXPECTCHECK_H
#define PIPEC_SIMULATION_EXPECTCHECK_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// One figure that a schedule claims, and what it is.
struct CheckedFigure {
  Expectation expectation;
  Rational measured;
  /// Whether the relation holds between the measured value and the expected.
  bool holds = false;
};

/// Measures every figure that `schedule`, of level compute, claims in its
/// `expect` clauses, in their order: times and rates of a run under free
/// arrival (Simulation/Simulate.h), where `idle` of a rank is the makespan
/// without its work; and the peaks of the live activations. All are exact.
/// Reports an order that cannot run and figures that do not fit 64 bits; a
/// figure that does not hold is not reported. Linear in the steps; a schedule
/// that claims nothing does not run.
llvm::FailureOr<std::vector<CheckedFigure>>
checkExpectations(const Schedule &schedule, DiagEngine &diags);

/// `makespan`, `peak of rank 3`: the figure in a message.
std::string figureName(const Expectation &expectation);

} // namespace pipec

#endif // PIPEC_SIMULATION_EXPECTCHECK_H
