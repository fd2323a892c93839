//===- DataFlow.h - What compute steps take and give -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_DATAFLOW_H
#define PIPEC_SIMULATION_DATAFLOW_H

#include "IR/Schedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Compiler.h"

#include <vector>

namespace pipec {

/// Which data each step takes from another stage and gives to another one, for
/// loops over all steps. A datum is numbered by the step that takes it, so that
/// what a rank looks up lies together, in the order of its lists; who gives it
/// only writes.
class DataFlow {
public:
  /// The steps of one kind, on one stage and in one direction. An F takes the
  /// activation of the stage before and gives its own to the next one, a B or I
  /// does so with gradients the other way; no other step takes or gives.
  struct Rule {
    bool takes;
    bool gives;
    /// Takes and gives gradients.
    bool gradient;
    /// What it takes (gives) comes from (goes to) another rank.
    bool receives;
    bool sends;
    /// The rank that takes what it gives.
    uint32_t taker;
  };

  explicit DataFlow(const Schedule &schedule)
      : stages(schedule.numStages), microbatches(schedule.numMicrobatches),
        half(schedule.placement.bidirectional() ? microbatches / 2
                                                : maxMicrobatches),
        data((hasGradients(schedule) ? 2 : 1) * stages * microbatches) {
    rows.reserve(schedule.placement.numDirections() * stages);
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d) {
      llvm::ArrayRef<uint32_t> ranks = schedule.placement.map(d);
      for (size_t stage = 0; stage != stages; ++stage)
        rows.push_back({ranks[stage ? stage - 1 : 0], ranks[stage],
                        ranks[std::min(stage + 1, stages - 1)]});
    }
  }

  // All of it is worked out in place, so that a loop pays for what it asks.
  LLVM_ATTRIBUTE_ALWAYS_INLINE Rule of(Step step) const {
    const Row &row =
        rows[step.stage() + (step.microbatch() >= half ? stages : 0)];
    Rule rule;
    rule.gradient = makesInputGradient(step.kind());
    bool flows = rule.gradient || step.kind() == StepKind::F;
    bool isFirst = step.stage() == 0, isLast = step.stage() + 1 == stages;
    rule.takes = flows && !(rule.gradient ? isLast : isFirst);
    rule.gives = flows && !(rule.gradient ? isFirst : isLast);
    rule.receives =
        rule.takes && (rule.gradient ? row.next : row.previous) != row.self;
    rule.taker = rule.gradient ? row.previous : row.next;
    rule.sends = rule.gives && rule.taker != row.self;
    return rule;
  }

  /// How many numbers there are: one for each F, and one for each B or I where
  /// there are some.
  size_t size() const { return data; }
  /// The number of what `step`, an F, B or I, takes.
  size_t taken(Step step, const Rule &rule) const { return at(step, rule, 0); }
  size_t taken(Step step) const { return taken(step, of(step)); }
  /// The number of what it gives, and so of the step that takes that.
  size_t given(Step step, const Rule &rule) const {
    return at(step, rule, rule.gradient ? -1 : 1);
  }
  /// The number of the step that gives what it takes.
  size_t giver(Step step, const Rule &rule) const {
    return at(step, rule, rule.gradient ? 1 : -1);
  }

private:
  /// The ranks of a stage and of its neighbours; its own where there is none.
  struct Row {
    uint32_t previous;
    uint32_t self;
    uint32_t next;
  };

  /// A forward-only schedule has some when it was not verified.
  static bool hasGradients(const Schedule &schedule) {
    auto isBackward = [](Step step) { return makesInputGradient(step.kind()); };
    return !schedule.forwardOnly ||
           llvm::any_of(schedule.ranks, [&](const StepList &list) {
             return llvm::any_of(list, isBackward);
           });
  }
  size_t at(Step step, const Rule &rule, ptrdiff_t stagesOn) const {
    return ((rule.gradient ? stages : 0) + step.stage() + stagesOn) *
               microbatches +
           step.microbatch();
  }

  size_t stages;
  size_t microbatches;
  /// The first micro-batch of direction 1, whose stages stand behind the
  /// others.
  unsigned half;
  size_t data;
  /// By direction and stage.
  std::vector<Row> rows;
};

} // namespace pipec

#endif // PIPEC_SIMULATION_DATAFLOW_H
