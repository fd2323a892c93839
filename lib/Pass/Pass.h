//===- Pass.h - A transformation of step IR ---------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass turns one schedule into another, in place. Its table row (name,
// summary, options) lives in Transforms/Passes.def; the manager knows no pass
// by name and is handed the registry.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_PASS_PASS_H
#define PIPEC_PASS_PASS_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// One run of one transformation or check. A pass that fails has reported why
/// and leaves the schedule as it was.
class Pass {
public:
  virtual ~Pass() = default;
  virtual llvm::LogicalResult run(Schedule &schedule, DiagEngine &diags) = 0;
  /// True when the result may depend on the costs of the schedule or on its
  /// memory settings.
  virtual bool usesCosts() const { return false; }
};

} // namespace pipec

#endif // PIPEC_PASS_PASS_H
