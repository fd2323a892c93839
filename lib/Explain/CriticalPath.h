//===- CriticalPath.h - The chain of causes of a step -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Following the causes leads back in time, without gaps, to a step that starts
// at the beginning of the schedule. The chain of the last end is the critical
// path of the run (Kelley and Walker, "Critical-path planning and scheduling",
// 1959; here for one run in its given order, not for the graph of dependences
// alone).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_CRITICALPATH_H
#define PIPEC_EXPLAIN_CRITICALPATH_H

#include "Explain/Causes.h"

namespace pipec {

/// A chain in chronological order: the start of each link is the end of the
/// previous one plus its latency.
using PathSteps = std::vector<PathStep>;

/// The chain of causes of `step`, back to the first link that starts at or
/// before `since`, or with at most `maxLinks` links (0: no limit).
PathSteps causeChain(const Causes &causes, uint32_t step, int64_t since,
                     size_t maxLinks = 0);

/// The chain from the start of the schedule to the last end; if several ranks
/// end last, to that of the lowest rank. Empty if there are no computes.
PathSteps criticalPath(const Causes &causes);

} // namespace pipec

#endif // PIPEC_EXPLAIN_CRITICALPATH_H
