//===- Tuning.h - The tuned constants of the search -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No constant of this file affects correctness, but each affects results: a
// search is a function of the problem, the seed and the effort. The tables of
// benchmarks/README.md ("Search") show the results with these constants, and
// "The constants of the search" the effect of other values.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace pipec::search::tuning {

/// Decode blocks; raise the bound by windows, or by charges; find the block of
/// a steady state, or else, as the rest, anneal at the end; anneal, one round;
/// or prove by cases and, if that pays off, prove until the search ends.
struct Phase {
  enum Kind { Blocks, Bound, Charges, Steady, Anneal, Rest, Cases } kind;
  /// Parts per thousand of the effort: of all runs together, and of windows,
  /// which raise the bound at the same time.
  unsigned share;
  unsigned forBound = 0;
};

/// Problems with at most this many steps have short words. They are cheap to
/// anneal, so that many rounds pay off, and cases may close their gap.
constexpr uint32_t shortSteps = 1200;
constexpr Phase shortPhases[] = {
    {Phase::Blocks, 5},   {Phase::Bound, 20},   {Phase::Blocks, 95},
    {Phase::Bound, 30},   {Phase::Charges, 20}, {Phase::Anneal, 10, 180},
    {Phase::Anneal, 20},  {Phase::Anneal, 30},  {Phase::Anneal, 50},
    {Phase::Anneal, 80},  {Phase::Anneal, 120}, {Phase::Cases, 60},
    {Phase::Anneal, 120}, {Phase::Anneal, 120}, {Phase::Anneal, 120},
};
constexpr Phase longPhases[] = {
    {Phase::Blocks, 5},        {Phase::Bound, 20},   {Phase::Blocks, 95},
    {Phase::Bound, 30},        {Phase::Charges, 30}, {Phase::Steady, 160},
    {Phase::Anneal, 110, 240}, {Phase::Anneal, 160}, {Phase::Anneal, 160},
    {Phase::Rest, 160},
};
/// Cases pay off if their phase closes one of `caseGain` parts of the gap; they
/// then get `caseShare`. `SearchOptions::prove` gets its share beside the
/// effort.
constexpr unsigned caseGain = 20, caseShare = 300, proveShare = 1000;

/// The number of runs, each with a seed and a share of its own: long words need
/// long rounds. With more than `oneRunSteps`, only one run anneals after the
/// first round.
constexpr unsigned maxRuns = 8;
constexpr unsigned runsFor(uint32_t steps) {
  return steps <= shortSteps / 2 ? maxRuns : steps <= shortSteps ? 4 : 2;
}
constexpr uint32_t oneRunSteps = 1600;

/// The heat of annealing, in millionths of the makespan: `heatSteps` divided by
/// the number of steps, within limits. Rounds and runs alternate between these
/// percentages of it.
constexpr uint32_t heatSteps = 600'000, minHeat = 150, maxHeat = 3000;
constexpr unsigned heats[] = {100, 400, 50, 1000, 200};

// Blocks. A sample draws one percentage per group: the period, of the largest
// work of a rank per micro-batch; the distances between the F, and between the
// I, of consecutive stages, of the time of the step and its hop; the time from
// I to W, of the period, where a further choice puts all W at the end; and how
// long a rank waits for a step with a smaller target, of the mean time of a
// step.
constexpr unsigned periods[] = {100, 100, 101, 103, 106, 110, 120, 140, 165};
constexpr unsigned stretchF[] = {100, 100, 160, 250};
constexpr unsigned stretchI[] = {100, 100, 150, 200};
constexpr unsigned lateW[] = {0, 50, 100, 200, 400};
constexpr unsigned patience[] = {0, 30, 70, 120};

/// Steady blocks: only with this many micro-batches per rank, and while the
/// makespan is one of so many parts above the bound; other searches get one
/// more round of annealing.
constexpr unsigned steadyRun = 3, steadyGap = 50;
/// The heat at the beginning, in thousandths of the period, and the moves with
/// one period, between two looks at the budget.
constexpr unsigned steadyHeat = 3, steadyMoves = 64;

/// The share of the budget in which blocks are sampled, in percent; in the rest
/// the best one is changed, by at most `maxChanges` at a time. The kinds of
/// changes have relative frequencies: an offset, all offsets after a step, the
/// patience, the period, the micro-batches in flight, and what is held.
constexpr unsigned samplingShare = 40, maxChanges = 3;
constexpr unsigned changes[] = {9, 5, 1, 2, 2, 1};
/// A changed patience is below this percentage; a changed period is within so
/// many percent. The acceptance of a worse block begins at `blockHeat` percent
/// of the makespan.
constexpr unsigned maxPatience = 200, periodChange = 5, blockHeat = 1;

// Annealing. The chances are percentages: that a move begins at a critical
// step, that it then begins one step earlier, that it is short, which is at
// most `shortMove`, and that another move is limited to about three
// micro-batches.
constexpr unsigned criticalChance = 65, precedingChance = 50;
constexpr unsigned shortMove = 3, shortChance = 50, middleChance = 60;

/// The cost of words: this times the mean makespan of the ranks, and this times
/// the sum of the ends of all ranks, which leads to shorter makespans.
constexpr int64_t makespanWeight = 100, endsWeight = 3;

/// The number of temperature levels of a round, and the number of moves between
/// two checks of the budget. One level divides the temperature by the 64th root
/// of 100.
constexpr unsigned numLevels = 64, movesPerCheck = 64;
constexpr int64_t cooling = 10'000, coolingDivisor = 10'746;
/// The critical steps are found again after every 400th part of the steps has
/// been moved.
constexpr uint32_t renewals = 400;

// Transfers. Each effort is so many exchanges, but at most so many computed
// nodes. Rounds of annealing have this many exchanges per transfer. At most
// `transferRounds` rounds go to and fro, fewer if these would run more than
// `transferNodes` nodes. `transferFinalists` orders are kept to start from;
// bounds consider the last `boundReceives` receives of a queue.
constexpr uint64_t transferExchanges = 20'000, transferWork = 160'000'000;
constexpr uint64_t exchangesPerTransfer = 16;
/// The temperatures at the begin and the end of a round, in thousandths of the
/// mean time of a transfer.
constexpr uint64_t transferHot = 300, transferCold = 30;
constexpr uint64_t transferRounds = 60, transferNodes = 2'000'000;
constexpr size_t transferFinalists = 4, boundReceives = 16;

} // namespace pipec::search::tuning
