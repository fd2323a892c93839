//===- RandomSchedules.h - Small schedules for tests ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_UNITTESTS_WAITING_RANDOMSCHEDULES_H
#define PIPEC_UNITTESTS_WAITING_RANDOMSCHEDULES_H

#include "IR/Schedule.h"

#include <random>

namespace pipec::test {

using Rng = std::mt19937;

/// A number in [0, bound).
inline unsigned pick(Rng &rng, unsigned bound) {
  return unsigned(rng() % bound);
}
/// True once in `n` times.
inline bool oneIn(Rng &rng, unsigned n) { return pick(rng, n) == 0; }

struct RandomOptions {
  unsigned ranks = 2;
  unsigned stages = 2;
  unsigned microbatches = 2;
  /// I and W instead of some Bs.
  bool split = false;
  /// Joins some steps that can run together.
  bool overlaps = false;
  /// A second map: the first one with the ranks reversed.
  bool twoWays = false;
  /// Sends and receives, inserted when their producer runs.
  bool transfers = false;
};

/// At most four ranks, sometimes with overlaps and split backwards.
RandomOptions randomOptions(Rng &rng);

/// A schedule whose order can run: steps are drawn among those whose inputs are
/// available until all have run. Stages are placed at random.
Schedule randomSchedule(Rng &rng, const RandomOptions &options);

/// Introduces an error in the P2P steps of `schedule`: exchanges two adjacent
/// steps, moves, removes or duplicates one, or joins adjacent steps into a
/// batch.
void mutate(Rng &rng, Schedule &schedule);

/// A schedule with transfers and up to `maxErrors` errors of `mutate`. There
/// are at most four ranks, `size` micro-batches, and `size` - 1 more stages
/// than ranks.
Schedule randomTransfers(Rng &rng, unsigned size, unsigned maxErrors);

/// Sets random costs of kinds, stages and overlaps: small fractions, some of
/// them zero. Does not change `p2p`.
void randomCosts(Rng &rng, Schedule &schedule);

/// The number of P2P steps of all ranks.
unsigned countP2P(const Schedule &schedule);

/// The lists as text, for messages.
std::string listing(const Schedule &schedule);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_WAITING_RANDOMSCHEDULES_H
