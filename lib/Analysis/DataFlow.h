//===- DataFlow.h - What compute steps take and give -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_ANALYSIS_DATAFLOW_H
#define PIPEC_ANALYSIS_DATAFLOW_H

#include "IR/Schedule.h"

#include <vector>

namespace pipec {

/// Which data each compute step takes from another stage and gives to another
/// one, for loops over all steps. A datum is numbered by the step that takes
/// it, so that what a rank looks up lies together, in the order of its lists;
/// who gives it only writes.
class DataFlow {
public:
  /// The steps of one kind, on one stage and in one direction.
  struct Rule {
    /// Takes the activation, or the gradient, of another stage.
    bool takes = false;
    /// Takes and gives gradients.
    bool gradient = false;
    /// From the step's stage to that which takes what it gives: 1, 0 or -1.
    int8_t way = 0;
    /// The rank of that stage, behind all ranks if nobody takes anything.
    uint32_t taker;
  };

  explicit DataFlow(const Schedule &schedule)
      : stages(schedule.numStages), microbatches(schedule.numMicrobatches),
        half(schedule.placement.bidirectional() ? microbatches / 2
                                                : maxMicrobatches),
        data((schedule.forwardOnly ? 1 : 2) * stages * microbatches) {
    unsigned directions = schedule.placement.numDirections();
    rules.reserve(directions * stages * kinds);
    for (unsigned d = 0; d != directions; ++d)
      for (unsigned stage = 0; stage != stages; ++stage)
        for (StepKind kind :
             {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
          rules.push_back(makeRule(schedule, kind, stage, d));
  }

  /// The rule of a compute step.
  const Rule &of(Step step) const {
    size_t row = step.stage() + (step.microbatch() >= half ? stages : 0);
    return rules[row * kinds + unsigned(step.kind())];
  }

  /// How many numbers there are: one for each F, and one for each B or I.
  size_t size() const { return data; }
  /// The number of what `step` takes.
  size_t taken(Step step, const Rule &rule) const {
    return number(rule.gradient, step.stage(), step.microbatch());
  }
  size_t taken(Step step) const { return taken(step, of(step)); }
  /// The number of what `step` gives to `rule.taker`.
  size_t given(Step step, const Rule &rule) const {
    return number(rule.gradient, size_t(step.stage()) + rule.way,
                  step.microbatch());
  }

private:
  static constexpr unsigned kinds = unsigned(StepKind::W) + 1;

  static Rule makeRule(const Schedule &schedule, StepKind kind, unsigned stage,
                       unsigned direction) {
    Rule rule;
    rule.taker = schedule.numRanks;
    if (kind == StepKind::W)
      return rule;
    rule.gradient = kind != StepKind::F;
    bool isFirst = stage == 0, isLast = schedule.isLastStage(stage);
    rule.takes = !(rule.gradient ? isLast : isFirst);
    if (rule.gradient ? isFirst : isLast)
      return rule;
    rule.way = rule.gradient ? -1 : 1;
    rule.taker = schedule.placement.rankOf(stage + rule.way, direction);
    return rule;
  }

  size_t number(bool gradient, size_t stage, unsigned microbatch) const {
    return ((gradient ? stages : 0) + stage) * microbatches + microbatch;
  }

  size_t stages;
  size_t microbatches;
  /// The first micro-batch of direction 1, whose stages stand behind the
  /// others.
  unsigned half;
  size_t data;
  /// By direction, stage and kind.
  std::vector<Rule> rules;
};

} // namespace pipec

#endif // PIPEC_ANALYSIS_DATAFLOW_H
