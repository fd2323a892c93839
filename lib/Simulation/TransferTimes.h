//===- TransferTimes.h - When transfers are complete ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Simulation/Simulate.h"

#include <vector>

namespace pipec {

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
