//===- Pass.h - A transformation of step IR ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass transforms one schedule in place. Its table row (name, summary,
// options) is in Transforms/Passes.def; the manager has no list of passes of
// its own; the registry is an argument.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// One run of a transformation or check. A pass that fails has reported why,
/// and leaves the schedule unchanged.
class Pass {
public:
  virtual ~Pass() = default;
  virtual llvm::LogicalResult run(Schedule &schedule, DiagEngine &diags) = 0;
  /// True if the result may depend on the costs or the memory settings of the
  /// schedule.
  virtual bool usesCosts() const { return false; }
};

} // namespace pipec
