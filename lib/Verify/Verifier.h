//===- Verifier.h - The conditions for well-formed step IR ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier checks step IR of any origin and shares no code with the passes.
// Its levels are independent properties:
//
//   compute  (always) every (stage, micro-batch) has exactly one F and one B or
//            I + W, on the rank that holds the stage, F before B/I before W;
//            the order can run without deadlock
//   placed   (with any P2P step) every transfer between ranks has one send and
//            one receive, in the right places, in the same order at both ends
//            of each edge; with any wait for a send, one after each send
//   sharded  (with any FSDP step) computes run on unsharded stages, actions
//            alternate and end sharded, gradients are reduced once, after the
//            last weight gradient; with any wait for a reduction, one after
//            each, before the next reduction of the rank
//   tied     (with any REDUCE_TIED) each rank of a group of tied stages sums
//   its
//            gradients once, after everything that changes them, and the groups
//            are in one order on all ranks
//   timed    (with start times) times respect costs, data and arrivals
//
// Every error names the step, its rank and its position, and points at the
// statement that created the step. The cost is linear in the number of steps.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/PresentRanks.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// The levels of the verifier, as bits.
enum class VerifyLevel : unsigned {
  None = 0,
  Compute = 1,
  Placed = 2,
  Sharded = 4,
  Timed = 8,
  Tied = 16,
};

/// The set of levels above compute that apply to `schedule`. Bit K of `kinds`
/// is set if the lists have a step of the kind with value K.
VerifyLevel levelsAboveCompute(const Schedule &schedule, uint32_t kinds);

/// Checks all levels that apply to `schedule`. Reports every error; succeeds if
/// there are none.
llvm::LogicalResult verify(const Schedule &schedule, DiagEngine &diags);

/// Checks a given set of levels, even if they do not apply. Of a schedule with
/// the lists of some ranks only, checks these lists, and what passes between
/// them; data from other ranks are there when they are needed. Such a
/// schedule must not be bidirectional or have times.
llvm::LogicalResult verify(const Schedule &schedule, VerifyLevel level,
                           DiagEngine &diags, const PresentRanks &present = {});

} // namespace pipec
