//===- RandomSchedules.h - Small schedules for tests ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  /// I and W in place of some Bs.
  bool split = false;
  /// Some steps that can run together do.
  bool overlaps = false;
  /// A second map, the first one with the ranks reversed.
  bool twoWays = false;
  /// Sends and receives, each pair inserted when its producer runs.
  bool transfers = false;
};

/// At most four ranks, with overlaps and split backwards at times.
RandomOptions randomOptions(Rng &rng);

/// A schedule whose order can run: steps are drawn among those whose data is
/// there until all have run. Stages lie on ranks at random.
Schedule randomSchedule(Rng &rng, const RandomOptions &options);

/// Spoils the P2P steps of `schedule` in one place: two neighbours change
/// places, one moves, one is dropped or doubled, or neighbours become a batch.
void mutate(Rng &rng, Schedule &schedule);

/// Random costs: small fractions, some of them zero, of kinds, stages and
/// overlaps. `p2p` is left alone.
void randomCosts(Rng &rng, Schedule &schedule);

/// P2P steps of all ranks.
unsigned countP2P(const Schedule &schedule);

/// The lists as text, for messages.
std::string listing(const Schedule &schedule);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_WAITING_RANDOMSCHEDULES_H
