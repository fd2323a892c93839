//===- ResultTimes.h - When results are made and arrive ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_RESULTTIMES_H
#define PIPEC_SIMULATION_RESULTTIMES_H

#include "Simulation/Simulate.h"
#include "IR/DataFlow.h"

#include <optional>
#include <vector>

namespace pipec {

/// Who makes each result of a run, and when it goes to its user. A result is
/// what a stage gives on for a micro-batch: its activations (F makes them), or
/// the gradient of its input (B or I). The schedule and its simulation must
/// outlive it. Linear memory: 8 bytes for each pair of stage and micro-batch,
/// and 16 more under free arrival with edges that a transfer occupies.
class ResultTimes {
public:
  static constexpr uint32_t none = StepNumbers::none;

  ResultTimes(const Schedule &schedule, const Simulation &run);

  /// The step that makes a result; `none` when there is none.
  uint32_t maker(DataKind data, unsigned stage, unsigned microbatch) const {
    return makers[flow.number(data, stage, microbatch)];
  }
  /// The inputs of a step from other stages.
  llvm::ArrayRef<DataFlow::Port> inputs(Step step) const {
    return flow.inputs(step);
  }
  /// The step that makes an input of `step`; `none` when there is none.
  uint32_t maker(const DataFlow::Port &input, Step step) const {
    return maker(dataKind(input.kind), input.stage, step.microbatch());
  }

  /// When an input of `step` is put on its way, in ticks: under free arrival
  /// not before its edge is free for it.
  int64_t departure(const DataFlow::Port &input, Step step) const;
  /// The step whose result has kept an edge busy, with others behind it, until
  /// an input of `step` was put on it.
  uint32_t firstOfBusyEdge(const DataFlow::Port &input, Step step) const;

  /// When the last input of an F, B or I, which is consumed on `rank`, is made,
  /// when it can be there at the earliest, and when it is there under free
  /// arrival; nothing when it needs none.
  struct Input {
    int64_t made;
    int64_t there;
    int64_t arrived;
  };
  std::optional<Input> input(unsigned rank, Step step) const;

private:
  void findMakers();
  void findDepartures();

  const Schedule &schedule;
  const Simulation &run;
  DataFlow flow;
  /// By the number in the data flow of the step that makes it.
  std::vector<uint32_t> makers;
  /// By datum, when it is put on its edge; empty where that is when it is made.
  std::vector<int64_t> departures;
};

} // namespace pipec

#endif // PIPEC_SIMULATION_RESULTTIMES_H
