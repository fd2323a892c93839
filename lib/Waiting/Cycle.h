//===- Cycle.h - Finding a shortest cycle of waits --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Waiting/Waiting.h"

namespace pipec {

/// A shortest cycle of waits: each edge starts at the end of the previous one,
/// and the last one ends at the start of the first. The first edge starts at
/// the step with the lowest number. Empty if there is no cycle: the schedule
/// finishes, or it waits for an unmatched transfer.
std::vector<WaitEdge> findShortestCycle(const Waiting &waiting);

/// A chain of waits that ends at a step without an edge: an unmatched transfer,
/// which is the `step` of the last element (without a target). Empty if there
/// is no such chain.
std::vector<WaitEdge> findDeadEnd(const Waiting &waiting);

} // namespace pipec
