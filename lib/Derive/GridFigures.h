//===- GridFigures.h - The figures of a schedule at many sizes --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Derive/CostCones.h"
#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"

namespace pipec {

/// The times of a run.
struct RunFigures {
  Rational makespan;
  Rational span;
  /// By rank.
  std::vector<Rational> idle;
  std::vector<Rational> starts;
};

/// The figures at one size.
struct SizeFigures {
  /// All parameters of the schedule, in the order of the program.
  ParamValues params;
  unsigned numRanks = 0;
  /// Under each of the costs that were asked for, then under its own costs.
  std::vector<RunFigures> runs;
  std::vector<Rational> peaks;
};

/// The steps of a schedule at all sizes, as far as its cost is concerned.
struct StepsUsed {
  /// The letters of the steps, without p2p.
  LetterSet letters;
  /// The kinds of overlaps, with their costs.
  std::vector<CostSettings::Overlap> overlaps;
  /// The costs of the schedule; at its last size if they depend on parameters.
  CostVector costs;
  Rational occupancy;
  bool costsVary = false;
  /// True if it has costs or factors of single stages, ranks, micro-batches or
  /// edges, which no clause can name.
  bool hasPlaces = false;
  /// True if all times are those of letters, up to factors: no costs of single
  /// stages or edges, no occupied edges, and at most one kind of overlaps.
  bool onlyLetters = true;
  /// The assumed costs of the schedule.
  AssumedCosts assumed;
};

/// Measures a schedule at the points of a grid without P2P contention.
class GridFigures {
public:
  GridFigures(const ScheduleSource &source, const CheckedSchedule &schedule,
              const LowerOptions &lowering, DiagEngine &diags)
      : source(source), schedule(schedule), lowering(lowering), diags(diags) {}

  /// Finds the steps that the schedule uses. Reports a size that has an error,
  /// but not one that a requirement refuses.
  llvm::LogicalResult inspect(const Grid &grid);
  const StepsUsed &steps() const { return used; }
  /// The sizes that exist, and the number of those that are refused.
  llvm::ArrayRef<ParamValues> sizes() const { return existing; }
  size_t numRefused() const { return refused; }
  /// Some sizes outside the grid, with smaller values and with up to twice the
  /// largest ones, not many more than those of the grid.
  std::vector<ParamValues> sizesOutside() const;

  /// Measures a size under each of `costs`. Reports figures that do not fit 64
  /// bits.
  llvm::FailureOr<SizeFigures> measure(const ParamValues &params,
                                       llvm::ArrayRef<CostVector> costs);

private:
  llvm::FailureOr<Schedule> lowered(const ParamValues &params);
  void noteSteps(const Schedule &lowered);
  void noteCosts(const Schedule &lowered);

  const ScheduleSource &source;
  const CheckedSchedule &schedule;
  const LowerOptions &lowering;
  DiagEngine &diags;

  StepsUsed used;
  std::vector<ParamValues> existing;
  size_t refused = 0;
  bool refusedNow = false;
};

} // namespace pipec
