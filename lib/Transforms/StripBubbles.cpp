//===- StripBubbles.cpp - Removing idle slots -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   F s1 m0                  F s1 m0
//   bubble           ->      B s1 m0
//   B s1 m0
//
// Needs: nothing. Ensures: there are no bubbles; all other steps are kept in
// order, with their start times. Cost: linear in the steps, in place.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

namespace {

class StripBubbles : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    removeSteps(schedule,
                [](StepKind kind) { return kind == StepKind::Bubble; });
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> makeStripBubbles(const StripBubblesOptions &) {
  return std::make_unique<StripBubbles>();
}

} // namespace pipec
