//===- RandomProblems.h - Small random problems of a search -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_UNITTESTS_SEARCH_RANDOMPROBLEMS_H
#define PIPEC_UNITTESTS_SEARCH_RANDOMPROBLEMS_H

#include "IR/Schedule.h"
#include "Search/Problem.h"
#include "Search/Random.h"

namespace pipec::test {

/// What `randomProblem` may make.
struct ProblemLimits {
  unsigned ranks = 3;
  unsigned chunks = 2;
  unsigned microbatches = 4;
  /// Of all steps.
  unsigned steps = 24;
  /// Sizes and durations.
  unsigned figures = 5;
  /// How far a cap may be above the least that has any schedule.
  unsigned spare = 4;
  /// How many of a hundred have other edges than those of a chain.
  unsigned graphs = 50;
  /// How many have letters that take memory while they run, and I that take
  /// more for their W.
  unsigned moreTakers = 0;
};

search::Problem randomProblem(search::Random &random,
                              const ProblemLimits &limits);

/// A multiple of 1/4, from `from` quarters to `to` quarters.
inline Rational quarters(search::Random &random, unsigned from, unsigned to) {
  return *Rational::make(from + random.below(to - from + 1), 4);
}

/// A header of 2 or 3 ranks with 1 or 2 chunks each, and 2 to 4 micro-batches,
/// without costs.
ScheduleHeader randomSizes(search::Random &random);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_SEARCH_RANDOMPROBLEMS_H
