//===- ScheduleLists.h - The lists of a schedule as jobs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "pipec/order/Lists.h"

namespace pipec {

/// The compute step of a job: its rank, and its number among the compute steps
/// of the rank. Jobs that only wait have none.
struct JobStep {
  unsigned rank = ~0u;
  unsigned number = 0;
};

/// Makes the lists of include/pipec/order/Lists.h from a schedule of level
/// compute: a replay of them has the times of a simulation under free arrival
/// (Simulate.h), and the peaks of `MemoryModel`. The factors of micro-batches
/// in the costs become factors of the batch. Reports steps whose order depends
/// on times: shared streams, ports, and computes on other streams. Fills
/// `steps`, if it is not null, by job. Linear.
llvm::FailureOr<order::Lists> makeLists(const Schedule &schedule,
                                        DiagEngine &diags,
                                        std::vector<JobStep> *steps = nullptr);

} // namespace pipec
