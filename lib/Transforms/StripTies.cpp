//===- StripTies.cpp - Removing tied parameters ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   tie 0 2
//   B s0 m1              ->   B s0 m1
//   REDUCE_TIED t0
//
// Needs: nothing. Ensures: no stages are tied; all other steps are kept in
// order, with their start times. Cost: linear in the steps, in place.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

namespace {

class StripTies : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &) override {
    if (!schedule.ties.empty())
      removeSteps(schedule, isTied);
    schedule.ties.clear();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> makeStripTies(const StripTiesOptions &) {
  return std::make_unique<StripTies>();
}

} // namespace pipec
