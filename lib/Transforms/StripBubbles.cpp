//===- StripBubbles.cpp - Removing idle slots -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   F s1 m0                  F s1 m0
//   bubble           ->      B s1 m0
//   B s1 m0
//
// Needs: nothing. Ensures: no bubble is left; every other step stays, in its
// order, with its start time. Cost: linear in the steps, in place.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class StripBubbles : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    for (auto [rank, list] : enumerate(schedule.ranks)) {
      if (!schedule.times.empty()) {
        auto &times = schedule.times[rank];
        size_t kept = 0;
        for (size_t i = 0; i != list.size(); ++i)
          if (list[i].kind() != StepKind::Bubble)
            times[kept++] = times[i];
        times.resize(kept);
      }
      erase_if(list, [](Step step) { return step.kind() == StepKind::Bubble; });
    }
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> makeStripBubbles(const StripBubblesOptions &) {
  return std::make_unique<StripBubbles>();
}

} // namespace pipec
