//===- Pattern.h - Lists that grow by repeated blocks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A family of schedules, one for each x: the list of each rank consists of
// parts, and some parts occur x times in a row. Units and start times are
// values a + b x + c t, where t is the repetition.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Prove/Affine.h"
#include "Prove/SymbolicRun.h"
#include "Simulation/Simulate.h"

namespace pipec {

/// Which rounds of a block are repeated together: all but the first `ramp` and
/// the last `ramp` + `rest`, `period` at a time.
struct Peeling {
  unsigned ramp = 0;
  unsigned period = 1;
  unsigned rest = 0;

  /// The number of rounds for x repetitions.
  uint64_t rounds(uint64_t x) const { return 2 * ramp + rest + period * x; }
};

/// The parts of the list of a rank, by their numbers of steps.
struct PartSize {
  bool repeats = false;
  size_t steps = 0;
  /// Occurs so many times less than the blocks of other parts.
  uint64_t fewer = 0;
  uint64_t times(uint64_t rounds) const { return repeats ? rounds - fewer : 1; }
  friend bool operator==(const PartSize &, const PartSize &) = default;
};
using RankShape = std::vector<PartSize>;

/// The shape of `list`, which a program with the list `word` made for n =
/// `rounds`; nothing if the lists differ.
std::optional<RankShape> matchWord(const Word &word, const StepList &list,
                                   uint64_t rounds);
RankShape peel(const RankShape &shape, Peeling peeling);
/// The shape of a list with transfers, whose compute steps have the shape
/// `computes` for x. Transfers belong to the part of the next compute step.
/// Nothing if the parts of a block have different numbers of them.
std::optional<RankShape> withTransfers(const RankShape &computes,
                                       const StepList &list, uint64_t x);

/// The steps of a rank in the order of the list, without bubbles.
StepList withoutBubbles(const StepList &list);
/// The indices of the compute steps of a list.
std::vector<size_t> computesOf(const StepList &list);

/// A step of a pattern. `step` has its kind, its stage and `joined`.
struct PatternStep {
  Step step;
  Affine unit;
  /// In ticks.
  Affine start;
};

/// The list of a rank.
struct RankPattern {
  struct Part {
    bool repeats;
    /// Its steps are [begin, end).
    size_t begin, end;
  };
  std::vector<Part> parts;
  std::vector<PatternStep> steps;
};

/// One schedule of a family: for x = `x`, simulated. Its lists have no bubbles.
struct Instance {
  uint64_t x;
  const Schedule *schedule;
  const Simulation *run;
};

/// Finds the pattern of a rank from three schedules of a family, in ascending
/// order of x from 2 on; nothing if their units or start times are not linear.
std::optional<RankPattern> fitPattern(const RankShape &shape, unsigned rank,
                                      llvm::ArrayRef<Instance> instances);

/// How a long list settles: the least ramp and period with which the times of
/// the blocks of all ranks repeat in the schedule with n = `rounds`. Empty if
/// the middle of the lists is not periodic. `startOf` has the start of a
/// compute step of a rank.
std::optional<Peeling>
findPeriod(llvm::ArrayRef<RankShape> shapes,
           llvm::function_ref<int64_t(unsigned rank, size_t index)> startOf,
           uint64_t rounds);

} // namespace pipec
