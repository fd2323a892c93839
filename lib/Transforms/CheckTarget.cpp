//===- CheckTarget.cpp - The restrictions of targets ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A check, which does not change the schedule. Frameworks/Rules.def lists what
// can be refused, and Frameworks/Targets.def which target refuses what.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/TargetCheck.h"
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
