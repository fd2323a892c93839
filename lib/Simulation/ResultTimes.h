//===- ResultTimes.h - When results and transfers are complete --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/DataFlow.h"
#include "Simulation/Simulate.h"

#include <optional>
#include <vector>

namespace pipec {

/// The producer of each result of a run, and when the result is sent. A result
/// is what a stage passes on for a micro-batch: its activations (produced by F)
/// or the gradient of its input (by B or I). The schedule and its simulation
/// must outlive this object. Linear memory: 8 bytes per pair of stage and
/// micro-batch, and 16 more under free arrival with edges that transfers
/// occupy.
class ResultTimes {
public:
  static constexpr uint32_t none = StepNumbers::none;

  ResultTimes(const Schedule &schedule, const Simulation &run);

  /// The step that produces a result; `none` if there is none.
  uint32_t maker(DataKind data, unsigned stage, unsigned microbatch) const {
    return makers[flow.number(data, stage, microbatch)];
  }
  /// The inputs of a step that other stages produce.
  llvm::ArrayRef<DataFlow::Port> inputs(Step step) const {
    return flow.inputs(step);
  }
  /// The step that produces an input of `step`; `none` if there is none.
  uint32_t maker(const DataFlow::Port &input, Step step) const {
    return maker(dataKind(input.kind), input.stage, step.unit());
  }

  /// When an input of `step` is put on its edge, in ticks. Under free arrival,
  /// this is not before the edge and its ports are free.
  int64_t departure(const DataFlow::Port &input, Step step) const;
  /// The step with the first result in the sequence that has kept the edge busy
  /// until an input of `step` was put on it.
  uint32_t firstOfBusyEdge(const DataFlow::Port &input, Step step) const;

  /// When the last input of an F, B or I on `rank` is produced, when it can
  /// arrive at the earliest, and when it arrives under free arrival; empty if
  /// the step has no inputs.
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
  /// Indexed by the number of the producer in the data flow.
  std::vector<uint32_t> makers;
  /// By datum, when it is put on its edge; empty if that is when it is
  /// produced.
  std::vector<int64_t> departures;
};

/// The queues and completion times of P2P steps in a run under a communication
/// model, in ticks. The schedule and its simulation must outlive this object.
/// Linear memory: 4 bytes per step.
class TransferTimes {
public:
  static constexpr uint32_t none = StepNumbers::none;

  TransferTimes(const Schedule &schedule, const Simulation &run);

  /// See `Transfers`.
  uint32_t other(uint32_t step) const { return run.transfers()->other(step); }
  llvm::ArrayRef<uint32_t> receives(uint32_t step) const {
    return run.transfers()->receives(step);
  }

  /// When a P2P step completes for its rank; a buffered send completes
  /// immediately.
  int64_t end(uint32_t step) const;
  /// When a P2P step, or its whole batch, is complete.
  int64_t batchEnd(uint32_t step) const;
  /// When the transfer of a send is put on its edge.
  int64_t edgeStart(uint32_t send) const;
  /// When the edge of a send is free for the next one.
  int64_t edgeEnd(uint32_t send) const;

  /// The step that a P2P step waits for in its queue; `none` for the first one.
  /// Members of one batch do not wait for each other.
  uint32_t before(uint32_t step) const { return behind[step]; }
  /// The previous send on the same edge; `none` for the first one.
  uint32_t sendBefore(uint32_t send) const;

private:
  void chainQueues();
  uint32_t peerOf(Step step) const;

  const Schedule &schedule;
  const Simulation &run;
  std::vector<uint32_t> behind;
};

} // namespace pipec
