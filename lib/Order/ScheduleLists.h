//===- ScheduleLists.h - The lists of a schedule as jobs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "pipec/order/Lists.h"

namespace pipec {

/// Makes the lists of include/pipec/order/Lists.h from a schedule of level
/// compute: a replay of them has the times of a simulation under free arrival
/// (Simulate.h), and the peaks of `MemoryModel`. The factors of micro-batches
/// in the costs become factors of the batch. Reports steps whose order depends
/// on times: shared streams, ports, and computes on other streams. Linear.
llvm::FailureOr<order::Lists> makeLists(const Schedule &schedule,
                                        DiagEngine &diags);

} // namespace pipec
