//===- DataFlow.h - What compute steps take and give -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_ANALYSIS_DATAFLOW_H
#define PIPEC_ANALYSIS_DATAFLOW_H

#include "IR/Schedule.h"

#include "llvm/ADT/STLExtras.h"

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
    bool takes = false;
    bool gives = false;
    /// Takes and gives gradients.
    bool gradient = false;
    /// What it takes (gives) comes from (goes to) another rank.
    bool receives = false;
    bool sends = false;
    /// The rank that takes what it gives.
    uint32_t taker = 0;
  };

  explicit DataFlow(const Schedule &schedule)
      : stages(schedule.numStages), microbatches(schedule.numMicrobatches),
        half(schedule.placement.bidirectional() ? microbatches / 2
                                                : maxMicrobatches),
        data((hasGradients(schedule) ? 2 : 1) * stages * microbatches),
        rules(schedule.placement.numDirections() * stages * kinds) {
    auto rule = rules.begin();
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
      for (unsigned stage = 0; stage != stages; ++stage, rule += kinds) {
        for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I})
          rule[unsigned(kind)] =
              makeRule(schedule.placement.map(d), stage, kind != StepKind::F);
      }
  }

  const Rule &of(Step step) const {
    size_t row = step.stage() + (step.microbatch() >= half ? stages : 0);
    return rules[row * kinds + unsigned(step.kind())];
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
  static constexpr unsigned kinds = unsigned(StepKind::Bubble) + 1;

  /// A forward-only schedule has some when it was not verified.
  static bool hasGradients(const Schedule &schedule) {
    auto isBackward = [](Step step) { return makesInputGradient(step.kind()); };
    return !schedule.forwardOnly ||
           llvm::any_of(schedule.ranks, [&](const StepList &list) {
             return llvm::any_of(list, isBackward);
           });
  }
  static Rule makeRule(llvm::ArrayRef<uint32_t> ranks, size_t stage,
                       bool gradient) {
    Rule rule;
    rule.gradient = gradient;
    // At the ends of the model one of them is no stage.
    size_t from = gradient ? stage + 1 : stage - 1;
    size_t to = gradient ? stage - 1 : stage + 1;
    rule.takes = from < ranks.size();
    rule.receives = rule.takes && ranks[from] != ranks[stage];
    rule.gives = to < ranks.size();
    rule.sends = rule.gives && ranks[to] != ranks[stage];
    rule.taker = rule.gives ? ranks[to] : 0;
    return rule;
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
  /// By direction, stage and kind.
  std::vector<Rule> rules;
};

} // namespace pipec

#endif // PIPEC_ANALYSIS_DATAFLOW_H
