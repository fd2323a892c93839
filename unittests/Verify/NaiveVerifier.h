//===- NaiveVerifier.h - The definitions, read literally --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_VERIFY_NAIVEVERIFIER_H
#define PIPEC_UNITTESTS_VERIFY_NAIVEVERIFIER_H

#include "IR/Schedule.h"

namespace pipec::test {

/// Whether a schedule is well-formed at a level: each sentence of the
/// definition as a loop over all steps, with no regard to cost. Shares nothing
/// with the verifier. The levels beside compute expect lists that are good at
/// level compute, up to the order of ranks.
bool naiveCompute(const Schedule &schedule);
bool naivePlaced(const Schedule &schedule);
bool naiveSharded(const Schedule &schedule);
bool naiveTimed(const Schedule &schedule);

/// True when only the order as a whole cannot run.
bool naiveCounts(const Schedule &schedule);

/// The lines of all ranks, as rank and first index, in one order in which they
/// can run; shorter than the lists if they cannot.
std::vector<std::pair<unsigned, size_t>> naiveRun(const Schedule &schedule);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_VERIFY_NAIVEVERIFIER_H
