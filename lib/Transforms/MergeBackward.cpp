//===- MergeBackward.cpp - Full backwards from split ones -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   which=adjacent               which=all
//   I s0 m0       B s0 m0        I s0 m0       B s0 m0
//   W s0 m0   ->  I s0 m1        F s0 m2   ->  F s0 m2
//   I s0 m1       F s0 m2        I s0 m1       B s0 m1
//   F s0 m2       W s0 m1        W s0 m0
//   W s0 m1                      W s0 m1
//
// `adjacent` merges an I with the W directly after it (PyTorch's `merge_bw`);
// both must be plain steps. `all` replaces every I by a B, also in overlaps,
// and removes its W; an overlap with one remaining member becomes a plain step.
// A W without its I is kept.
//
// Needs: for `all`, no P2P steps. Ensures: for `all`, there are no split
// backwards. Cost: linear in the steps, in place; `all` needs one bit per
// (stage, micro-batch).
//
//===----------------------------------------------------------------------===//

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

namespace {

class MergeBackward : public Pass {
public:
  explicit MergeBackward(const MergeBackwardOptions &options)
      : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (options.which == MergeWhich::All) {
      if (failed(checkNoP2P(schedule, "merge-backward{which=all}", diags)) ||
          failed(checkEnoughSteps(schedule, "merge-backward", diags)))
        return failure();
      mergeAll(schedule);
    } else {
      for (StepList &list : schedule.ranks)
        mergeAdjacent(list);
    }
    schedule.times.clear();
    return success();
  }

private:
  static void mergeAdjacent(StepList &list) {
    size_t kept = 0;
    for (size_t i = 0, end; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      if (end == i + 1 && list[i].kind() == StepKind::I && end != list.size() &&
          isPlainW(list, end, list[i])) {
        list[i].setKind(StepKind::B);
        ++end;
        list[kept++] = list[i];
        continue;
      }
      for (size_t j = i; j != end; ++j)
        list[kept++] = list[j];
    }
    list.resize(kept);
  }

  /// True if list[at] is a plain step, the weight gradient of `input`.
  static bool isPlainW(const StepList &list, size_t at, Step input) {
    Step step = list[at];
    return step.kind() == StepKind::W && !step.joined() &&
           step.stage() == input.stage() &&
           step.microbatch() == input.microbatch();
  }

  static void mergeAll(Schedule &schedule) {
    std::vector<bool> split(size_t(schedule.numStages) *
                            schedule.numMicrobatches);
    auto isSplit = [&](Step step) {
      return split[size_t(step.stage()) * schedule.numMicrobatches +
                   step.microbatch()];
    };
    for (StepList &list : schedule.ranks)
      for (Step &step : list)
        if (step.kind() == StepKind::I) {
          isSplit(step) = true;
          step.setKind(StepKind::B);
        }
    for (StepList &list : schedule.ranks) {
      size_t kept = 0;
      for (size_t i = 0, end; i != list.size(); i = end) {
        end = Schedule::groupEnd(list, i);
        size_t first = kept;
        for (size_t j = i; j != end; ++j) {
          Step step = list[j];
          if (step.kind() == StepKind::W && isSplit(step))
            continue;
          step.setJoined(true);
          list[kept++] = step;
        }
        if (kept != first)
          list[kept - 1].setJoined(false);
      }
      list.resize(kept);
    }
  }

  MergeBackwardOptions options;
};

} // namespace

std::unique_ptr<Pass> makeMergeBackward(const MergeBackwardOptions &options) {
  return std::make_unique<MergeBackward>(options);
}

} // namespace pipec
