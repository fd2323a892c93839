//===- NaiveVerifier.h - The definitions, literally -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_UNITTESTS_VERIFY_NAIVEVERIFIER_H
#define PIPEC_UNITTESTS_VERIFY_NAIVEVERIFIER_H

#include "IR/Schedule.h"

namespace pipec::test {

/// Checks whether a schedule is well-formed at a level: each sentence of the
/// definition is a loop over all steps, whatever the cost. Shares nothing with
/// the verifier. The levels other than compute require lists that are correct
/// at level compute, except for the order across ranks.
bool naiveCompute(const Schedule &schedule);
bool naivePlaced(const Schedule &schedule);
bool naiveSharded(const Schedule &schedule);
bool naiveTimed(const Schedule &schedule);

/// True if the only error is that the order cannot run.
bool naiveCounts(const Schedule &schedule);

/// The lines of all ranks, as rank and first index, in an order in which they
/// can run; incomplete if there is none.
std::vector<std::pair<unsigned, size_t>> naiveRun(const Schedule &schedule);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_VERIFY_NAIVEVERIFIER_H
