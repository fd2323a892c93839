//===- Results.h - Which results of a schedule exist -------------*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TRANSFORMS_RESULTS_H
#define PIPEC_TRANSFORMS_RESULTS_H

#include "IR/Schedule.h"

namespace pipec {

/// What a compute step leaves for others: the activations of a stage (by F) or
/// the gradient of its input (by B or I), for one micro-batch.
struct Result {
  bool gradient;
  unsigned stage;
  unsigned microbatch;
  friend bool operator==(const Result &, const Result &) = default;
};

/// The result that `step` takes from another stage, nothing when it takes none.
inline std::optional<Result> takenResult(const Schedule &schedule, Step step) {
  unsigned stage = step.stage();
  if (step.kind() == StepKind::F && stage != 0)
    return Result{false, stage - 1, step.microbatch()};
  if (makesInputGradient(step.kind()) && !schedule.isLastStage(stage))
    return Result{true, stage + 1, step.microbatch()};
  return std::nullopt;
}

/// A set of results, two bits for each (stage, micro-batch).
class ResultSet {
public:
  explicit ResultSet(const Schedule &schedule)
      : microbatches(schedule.numMicrobatches),
        words((size_t(schedule.numStages) * microbatches + 31) / 32) {}

  bool contains(Result result) const {
    size_t bit = index(result);
    return words[bit / 64] >> (bit % 64) & 1;
  }
  void insert(Result result) {
    size_t bit = index(result);
    words[bit / 64] |= uint64_t(1) << (bit % 64);
  }
  /// Inserts what `step` leaves.
  void insert(Step step) {
    if (step.kind() == StepKind::F || makesInputGradient(step.kind()))
      insert({step.kind() != StepKind::F, step.stage(), step.microbatch()});
  }

private:
  size_t index(Result result) const {
    return (size_t(result.stage) * microbatches + result.microbatch) * 2 +
           result.gradient;
  }

  size_t microbatches;
  std::vector<uint64_t> words;
};

} // namespace pipec

#endif // PIPEC_TRANSFORMS_RESULTS_H
