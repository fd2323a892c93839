//===- WaitParts.h - What a rank waits for before a step --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_WAITPARTS_H
#define PIPEC_EXPLAIN_WAITPARTS_H

#include "Explain/Causes.h"

namespace pipec {

/// What a rank waited for before a compute step, in ticks. Each part counts
/// from the end of the parts above it, so that the parts add up to the wait.
struct WaitParts {
  /// For the producers of its input on other ranks to end.
  int64_t dependency = 0;
  /// For the input to arrive, without contention.
  int64_t latency = 0;
  /// For transfers in queues, or for the other rank to reach its end of the
  /// transfer.
  int64_t queue = 0;
  /// At waits for its own sends and reductions, and at transfers that hold it.
  int64_t wait = 0;
  /// For parameters to be gathered.
  int64_t gather = 0;

  int64_t exposed() const { return latency + queue + wait + gather; }
  WaitParts &operator+=(const WaitParts &other);
};

/// What the overlap or step that starts at `begin` of the list of `rank` waited
/// for, if the rank was free from `since` on.
WaitParts waitParts(const Causes &causes, unsigned rank, size_t begin,
                    int64_t since);

} // namespace pipec

#endif // PIPEC_EXPLAIN_WAITPARTS_H
