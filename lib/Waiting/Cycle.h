//===- Cycle.h - A shortest cycle of steps that wait ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_WAITING_CYCLE_H
#define PIPEC_WAITING_CYCLE_H

#include "Waiting/Waiting.h"

namespace pipec {

/// A shortest cycle in who waits for what: each edge starts where the one
/// before ends, the last one ends where the first starts. It begins with the
/// lowest-numbered step. Empty when there is none: the schedule ends, or it
/// waits for something that never comes.
std::vector<WaitEdge> findShortestCycle(const Waiting &waiting);

/// A chain of waits that ends at a step without an edge: a transfer that has no
/// other side, which is the last element's `step` (with no target). Empty when
/// no chain ends so.
std::vector<WaitEdge> findDeadEnd(const Waiting &waiting);

} // namespace pipec

#endif // PIPEC_WAITING_CYCLE_H
