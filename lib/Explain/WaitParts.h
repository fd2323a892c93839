//===- WaitParts.h - The waits of a rank before a step ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_WAITPARTS_H
#define PIPEC_EXPLAIN_WAITPARTS_H

#include "Explain/Causes.h"

namespace pipec {

/// The time that a rank waits before a compute step, in ticks, by the parts of
/// Bindings.def. Each part counts from the end of the parts before it, so that
/// the parts add up to the wait.
struct WaitParts {
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name) int64_t Name = 0;
#include "Explain/Bindings.def"

  int64_t exposed() const { return latency + queue + wait + gather; }
  WaitParts &operator+=(const WaitParts &other);
};

/// The waits before the overlap or step at `begin` of the list of `rank`, if
/// the rank was free from `since` on.
WaitParts waitParts(const Causes &causes, unsigned rank, size_t begin,
                    int64_t since);

} // namespace pipec

#endif // PIPEC_EXPLAIN_WAITPARTS_H
