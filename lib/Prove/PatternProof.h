//===- PatternProof.h - Proofs of all schedules of a family -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pattern claims the units and the start times of all schedules of a family.
// The claims are linear, so that finitely many comparisons prove them for every
// x from some x on (docs/Prove.md).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Prove/Pattern.h"

#include <string>

namespace pipec {

/// The claims about a family of schedules.
struct Pattern {
  /// The schedule of one x. All have its placement, stage graph and costs.
  const Schedule *header;
  const TickCosts *costs;
  /// The communication model of lists with transfers.
  std::optional<WaitModel> model;
  /// The number of units.
  Affine units;
  std::vector<RankPattern> ranks;
};

/// The result of a proof, for every x from `least` on.
struct ProvenTimes {
  int64_t least = 0;
  /// In ticks.
  Affine makespan;
  /// False if a step takes no time: then the lists might not complete.
  bool completes = true;
};

/// Why no schedule with these costs can be proven, whatever its lists are;
/// empty if there is no reason.
std::string unprovableCosts(const Schedule &schedule, const TickCosts &costs);

/// Proves that each stage has every unit exactly once. Returns the reason of a
/// failure, or an empty text.
std::string proveCover(const Pattern &pattern);

/// Proves that a run, under free arrival or the model, has these start times.
/// Stores the reason of a failure in `why`.
std::optional<ProvenTimes> proveTimes(const Pattern &pattern, std::string &why);

} // namespace pipec
