//===- CriticalPath.h - The chain of causes of a step -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From cause to cause the way leads back in time, without a hole, to a step
// that starts with the schedule. The way back from the last end is the critical
// path of the run (Kelley and Walker, "Critical-path planning and scheduling",
// 1959; here of one run in its given order, not of the graph of dependences
// alone).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_CRITICALPATH_H
#define PIPEC_EXPLAIN_CRITICALPATH_H

#include "Explain/Causes.h"

namespace pipec {

/// A chain in the order of time: the end of each link and the latency of the
/// next one make the start of that one.
using PathSteps = std::vector<PathStep>;

/// The chain of causes of `step`, back to the first link that starts at `since`
/// or earlier, or until it has `maxLinks` (0: any number).
PathSteps causeChain(const Causes &causes, uint32_t step, int64_t since,
                     size_t maxLinks = 0);

/// The chain that ends with the last end of all and begins at the start of the
/// schedule; of several last ends that of the lowest rank. Empty when nothing
/// computes.
PathSteps criticalPath(const Causes &causes);

} // namespace pipec

#endif // PIPEC_EXPLAIN_CRITICALPATH_H
