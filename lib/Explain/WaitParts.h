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

/// What a rank waited for before a compute step, in ticks; what comes later in
/// this list starts to count when the earlier is over, so that the parts add up
/// to the wait.
struct WaitParts {
  /// For steps of other ranks that make its input to end.
  int64_t dependency = 0;
  /// For the input to be on its way, as fast as it can be.
  int64_t latency = 0;
  /// For transfers in queues, or for the other rank to come to its side.
  int64_t queue = 0;
  /// At waits for its own sends and reductions.
  int64_t wait = 0;
  /// For parameters that are being gathered.
  int64_t gather = 0;

  int64_t exposed() const { return latency + queue + wait + gather; }
  WaitParts &operator+=(const WaitParts &other);
};

/// What the overlap or step that begins at `begin` of the list of `rank` waited
/// for, when the rank was free from `since` on.
WaitParts waitParts(const Causes &causes, unsigned rank, size_t begin,
                    int64_t since);

} // namespace pipec

#endif // PIPEC_EXPLAIN_WAITPARTS_H
