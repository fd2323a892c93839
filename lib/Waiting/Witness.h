//===- Witness.h - Explaining a deadlock ------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_WAITING_WITNESS_H
#define PIPEC_WAITING_WITNESS_H

#include "Support/DiagEngine.h"
#include "Waiting/Waiting.h"

namespace pipec {

/// Reports why a schedule that does not end under its model does not: a
/// shortest cycle of waits, or a wait for a transfer that has no other side, as
/// one diagnostic of `severity` with a note for each wait. `safe` are the
/// models under which it is known to end; null when that was not looked into.
/// With `heads`, further notes say where every rank waits.
///
///   a.steps:5:5: error: deadlock under one in-order stream a rank: 4 steps
///                       wait for each other
///   a.steps:5:5: note: rank 0 step 1, `SEND_F s0 m1 -> r1`, waits for rank 1
///                      to reach `RECV_F s1 m1 <- r0`
///   ...
///   a.steps:5:5: note: safe under: edge, buffered
void reportDeadlock(const Waiting &waiting, Severity severity,
                    const std::array<bool, 4> *safe, DiagEngine &diags,
                    bool heads = false);

/// Runs every model. A schedule that does not end under `require` is reported
/// as an error, one that does not end only under stricter models as a warning;
/// either with the models that are safe. Returns, by model, whether it ends.
std::array<bool, 4> checkDeadlock(const Schedule &schedule,
                                  const Transfers &transfers, WaitModel require,
                                  DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_WAITING_WITNESS_H
