//===- DeadlockReport.h - Reporting a deadlock ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/DiagEngine.h"
#include "Waiting/Waiting.h"

namespace pipec {

/// Reports why a schedule does not finish under its model: a shortest cycle of
/// waits, or a wait for an unmatched transfer, as one diagnostic of the given
/// `severity` with a note per wait. `safe` has the models under which it is
/// known to finish; null if this was not determined. With `heads`, further
/// notes describe where every rank waits.
///
///   a.steps:5:5: error: deadlock under one in-order stream per rank: 4 steps
///                       wait for each other
///   a.steps:5:5: note: rank 0 step 1, `SEND_F s0 m1 -> r1`, waits for rank 1
///                      to reach `RECV_F s1 m1 <- r0`
///   ...
///   a.steps:5:5: note: safe under: edge, buffered
void reportDeadlock(const Waiting &waiting, Severity severity,
                    const WaitOutcomes *safe, DiagEngine &diags,
                    bool heads = false);

/// Runs all models. Reports an error if the schedule does not finish under
/// `require`, and a warning if it only fails under other models that `all`
/// includes, both with those of them that are safe. Returns, by model, whether
/// it finishes.
WaitOutcomes checkDeadlock(const Schedule &schedule, const Transfers &transfers,
                           WaitModel require, DiagEngine &diags);

} // namespace pipec
