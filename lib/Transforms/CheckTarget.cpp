//===- CheckTarget.cpp - Is a schedule legal for a target -----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check: the schedule stays as it is. Target/Rules.def says what there is to
// refuse, and Target/Targets.def which target refuses what.
//
//===----------------------------------------------------------------------===//

#include "Target/TargetCheck.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

namespace {

class CheckTarget : public Pass {
public:
  explicit CheckTarget(const CheckTargetOptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    return checkTarget(schedule, options.target, diags);
  }

private:
  CheckTargetOptions options;
};

} // namespace

std::unique_ptr<Pass> makeCheckTarget(const CheckTargetOptions &options) {
  return std::make_unique<CheckTarget>(options);
}

} // namespace pipec
