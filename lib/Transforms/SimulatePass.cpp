//===- SimulatePass.cpp - Start times for every step ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before, after, with F = 1 and p2p = 1/2:
//
//   F s0 m0                  F s0 m0 @0
//   SEND_F s0 m0 -> r1       SEND_F s0 m0 -> r1 @1
//   UNSHARD s2               UNSHARD s2 @1
//   F s0 m1                  F s0 m1 @1
//
// Simulation/Simulate.h defines the two ways in which a list runs.
//
// Needs: level compute, and placed for a list with P2P steps, which must finish
// under the model. Ensures: level timed; the lists are unchanged. Cost: linear.
//
//===----------------------------------------------------------------------===//

#include "Simulation/Simulate.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

namespace {

class Simulate : public Pass {
public:
  explicit Simulate(const SimulateOptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    auto simulation = simulate(schedule, std::optional(options.model), diags);
    if (failed(simulation))
      return failure();
    fillTimes(schedule, *simulation);
    return success();
  }
  bool usesCosts() const override { return true; }

private:
  SimulateOptions options;
};

} // namespace

std::unique_ptr<Pass> makeSimulate(const SimulateOptions &options) {
  return std::make_unique<Simulate>(options);
}

} // namespace pipec
