//===- Verifier.h - What makes step IR well-formed --------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifier judges step IR of any origin and shares no code with the passes
// that make it. Its levels are independent properties:
//
//   compute  (always) every (stage, micro-batch) has exactly one F and one B or
//            I + W, on the rank that holds the stage, F before B/I before W;
//            the order as a whole can run
//   placed   (with any P2P step) every transfer between ranks has one send and
//            one receive, in the right places, in one order on each edge; with
//            any wait for a send, one after each send
//   sharded  (with any FSDP step) computes run on unsharded stages, actions
//            alternate and end sharded, gradients are reduced once and in
//            time; with any wait for a reduction, one after each, before the
//            next reduction of the rank
//   timed    (with start times) times respect costs, data and arrivals
//
// Every violation names the step, its rank and its position, and points at the
// statement that made it. Linear in the number of steps.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_VERIFY_VERIFIER_H
#define PIPEC_VERIFY_VERIFIER_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// The levels of the verifier, as bits of a set.
enum class VerifyLevel : unsigned {
  None = 0,
  Compute = 1,
  Placed = 2,
  Sharded = 4,
  Timed = 8,
};

/// The levels above compute that `schedule` calls for, as a set. Bit K of
/// `kinds` tells whether the lists have a step of the kind with value K.
VerifyLevel levelsAboveCompute(const Schedule &schedule, uint32_t kinds);

/// Checks every level that the steps of `schedule` call for. Reports each
/// violation; success when there is none.
llvm::LogicalResult verify(const Schedule &schedule, DiagEngine &diags);

/// Checks the levels of a set, whether the steps call for them or not.
llvm::LogicalResult verify(const Schedule &schedule, VerifyLevel level,
                           DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_VERIFY_VERIFIER_H
