//===- Tuning.h - The tuned constants of the search -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No constant of this file affects correctness, but each affects results: a
// search is a function of the problem, the seed and the effort. The tables of
// benchmarks/README.md ("Search") show the results with these constants, and
// "The constants of the search" the effect of halving and doubling the shares.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace pipec::search::tuning {

//===----------------------------------------------------------------------===//
// Phases of a search
//===----------------------------------------------------------------------===//

struct Phase {
  enum Kind {
    /// Decode blocks.
    Blocks,
    /// Raise the bound by windows.
    Bound,
    /// Anneal, one round.
    Anneal,
    /// Prove by cases; if that pays off, prove until the search ends.
    Cases,
  } kind;
  /// Parts per thousand of the effort: of all runs together, and of windows,
  /// which raise the bound at the same time.
  unsigned share;
  unsigned forBound = 0;
};

/// Problems with at most this many steps have short words. They are cheap to
/// anneal, so that many rounds pay off, and cases may close their gap.
inline constexpr uint32_t shortSteps = 1200;

inline constexpr Phase shortPhases[] = {
    {Phase::Blocks, 5},   {Phase::Bound, 20},       {Phase::Blocks, 95},
    {Phase::Bound, 30},   {Phase::Anneal, 10, 200}, {Phase::Anneal, 20},
    {Phase::Anneal, 30},  {Phase::Anneal, 50},      {Phase::Anneal, 80},
    {Phase::Anneal, 120}, {Phase::Cases, 60},       {Phase::Anneal, 120},
    {Phase::Anneal, 120}, {Phase::Anneal, 120},
};
inline constexpr Phase longPhases[] = {
    {Phase::Blocks, 5},   {Phase::Bound, 20},        {Phase::Blocks, 95},
    {Phase::Bound, 30},   {Phase::Anneal, 110, 270}, {Phase::Anneal, 160},
    {Phase::Anneal, 160}, {Phase::Anneal, 160},
};

/// Cases pay off if their phase closes one of so many parts of the gap; they
/// then get this share.
inline constexpr int64_t caseGain = 20;
inline constexpr unsigned caseShare = 300;

/// The share of `SearchOptions::prove`, in addition to the effort.
inline constexpr unsigned proveShare = 1000;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The number of runs, each with a seed and a share of its own: long words need
/// long rounds.
inline constexpr unsigned maxRuns = 8;
inline constexpr unsigned runsFor(uint32_t steps) {
  return steps <= shortSteps / 2 ? maxRuns : steps <= shortSteps ? 4 : 2;
}
/// With more steps, only one run anneals after the first round.
inline constexpr uint32_t oneRunSteps = 1600;

/// The heat of annealing, in millionths of the makespan: `heatSteps` divided by
/// the number of steps, within limits.
inline constexpr uint32_t heatSteps = 600'000, minHeat = 150, maxHeat = 3000;
/// Rounds and runs alternate between these percentages of it.
inline constexpr unsigned heats[] = {100, 400, 50, 1000, 200};

//===----------------------------------------------------------------------===//
// Blocks. A sample draws one percentage per group
//===----------------------------------------------------------------------===//

/// The period: of the largest work of a rank per micro-batch.
inline constexpr unsigned periods[] = {100, 100, 101, 103, 106,
                                       110, 120, 140, 165};
/// The distances between the F, and between the I, of consecutive stages: of
/// the time of the step and its hop.
inline constexpr unsigned stretchF[] = {100, 100, 160, 250};
inline constexpr unsigned stretchI[] = {100, 100, 150, 200};
/// From I to W: of the period. A further choice puts all W at the end.
inline constexpr unsigned lateW[] = {0, 50, 100, 200, 400};
/// How long a rank waits for a step with a smaller target: of the mean time of
/// a step.
inline constexpr unsigned patience[] = {0, 30, 70, 120};

/// The share of the budget in which blocks are sampled, in percent; in the rest
/// the best one is changed.
inline constexpr unsigned samplingShare = 40;
/// Changes of a block at a time.
inline constexpr unsigned maxChanges = 3;
/// The kinds of changes, with their relative frequencies.
inline constexpr unsigned changeOffset = 9, changeAllAfter = 5,
                          changePatience = 1, changePeriod = 2,
                          changeInFlight = 2, changeHold = 1;
/// A changed patience is below this percentage; a changed period is within so
/// many percent.
inline constexpr unsigned maxPatience = 200, periodChange = 5;
/// The acceptance of a worse block begins at this percentage of the makespan.
inline constexpr unsigned blockHeat = 1;

//===----------------------------------------------------------------------===//
// Annealing
//===----------------------------------------------------------------------===//

/// The chance, in percent, that a move begins at a critical step, and the
/// chance that it then begins one step earlier.
inline constexpr unsigned criticalChance = 65, precedingChance = 50;
/// The largest distance of a short move, the chance of a short move, and the
/// chance that another move is limited to about three micro-batches.
inline constexpr unsigned shortMove = 3, shortChance = 50, middleChance = 60;

/// The cost of words: this times the mean makespan of the ranks, and this times
/// the sum of the ends of all ranks, which leads to shorter makespans.
inline constexpr int64_t makespanWeight = 100, endsWeight = 3;

/// The number of temperature levels of a round, and the number of moves between
/// two checks of the budget.
inline constexpr unsigned numLevels = 64, movesPerCheck = 64;
/// One level divides the temperature by the 64th root of 100.
inline constexpr int64_t cooling = 10'000, coolingDivisor = 10'746;
/// The critical steps are found again after every 400th part of the steps has
/// been moved.
inline constexpr uint32_t renewals = 400;

} // namespace pipec::search::tuning
