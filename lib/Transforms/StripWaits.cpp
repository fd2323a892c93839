//===- StripWaits.cpp - Removing waits ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   SEND_F s0 m0 -> r1          SEND_F s0 m0 -> r1
//   B s0 m0               ->    B s0 m0
//   WAIT_SEND_F s0 m0
//
// Needs: nothing. Ensures: there are no waits; all other steps are kept in
// order, with their start times. Cost: linear in the steps, in place.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

namespace {

class StripWaits : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    removeSteps(schedule, isWait);
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> makeStripWaits(const StripWaitsOptions &) {
  return std::make_unique<StripWaits>();
}

} // namespace pipec
