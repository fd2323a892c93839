//===- Unpair.cpp - Plain steps from overlaps -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   overlap F s0 m2 & B s0 m0     ->     F s0 m2
//                                        B s0 m0
//
// The members follow one another in issue order. An order that can run still
// can, since the inputs of all members were available when the overlap started.
// Batches of P2P steps are kept.
//
// Needs: nothing. Ensures: there are no overlaps. Cost: linear in the steps, in
// place.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

namespace {

class Unpair : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    for (StepList &list : schedule.ranks)
      for (Step &step : list)
        if (isCompute(step.kind()))
          step.setJoined(false);
    schedule.times.clear();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> makeUnpair(const UnpairOptions &) {
  return std::make_unique<Unpair>();
}

} // namespace pipec
