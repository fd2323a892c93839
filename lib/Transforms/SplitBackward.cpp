//===- SplitBackward.cpp - Split backwards from full ones -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   B s0 m0                      I s0 m0
//   overlap F s0 m2 & B s0 m1    W s0 m0
//                           ->   overlap F s0 m2 & I s0 m1
//                                W s0 m1
//
// Every B becomes an I in its place, with its W directly after it or after the
// overlap: a W depends on its I, and there is no data flow within an overlap.
//
// Needs: nothing. Ensures: there are no full backwards. Cost: linear in the
// steps.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class SplitBackward : public Pass {
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    for (StepList &list : schedule.ranks)
      split(list);
    schedule.times.clear();
    return success();
  }

  static void split(StepList &list) {
    size_t backwards =
        count_if(list, [](Step step) { return step.kind() == StepKind::B; });
    StepList out;
    out.reserve(list.size() + backwards);
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      for (size_t j = i; j != end; ++j) {
        out.push_back(list[j]);
        if (list[j].kind() == StepKind::B)
          out.back().setKind(StepKind::I);
      }
      for (size_t j = i; j != end; ++j)
        if (list[j].kind() == StepKind::B)
          out.push_back(Step(StepKind::W, list[j].stage(), list[j].microbatch(),
                             list[j].phase(), list[j].source()));
    }
    list = std::move(out);
  }
};

} // namespace

std::unique_ptr<Pass> makeSplitBackward(const SplitBackwardOptions &) {
  return std::make_unique<SplitBackward>();
}

} // namespace pipec
