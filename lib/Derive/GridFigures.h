//===- GridFigures.h - The figures of a schedule at many sizes --*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_GRIDFIGURES_H
#define PIPEC_DERIVE_GRIDFIGURES_H

#include "Derive/CostCones.h"
#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"

namespace pipec {

/// The times of a run under some costs.
struct TimesUnder {
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
  /// Under each of the costs that were asked for, and under its own costs.
  std::vector<TimesUnder> under;
  TimesUnder own;
  std::vector<Rational> peaks;
};

/// The steps of a schedule at all sizes, as far as its cost is concerned.
struct StepsUsed {
  /// The letters in the order of `CostLetter`, with `&` for overlaps: `FIW`,
  /// `FB&`.
  std::string letters;
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
  /// The number of sizes that exist, and that are refused.
  size_t numSizes() const { return existing.size(); }
  size_t numRefused() const { return refused; }

  /// Measures all sizes that exist under each of `costs`; calls `advance` after
  /// each size. Reports figures that do not fit 64 bits.
  llvm::LogicalResult measure(llvm::ArrayRef<CostVector> costs,
                              llvm::function_ref<void()> advance);
  llvm::ArrayRef<SizeFigures> sizes() const { return figures; }
  /// The same for some sizes outside the grid, with smaller values and with up
  /// to twice the largest ones. They are as many as those of the grid at most;
  /// sizes with errors are left out.
  void measureOutside(llvm::ArrayRef<CostVector> costs);
  llvm::ArrayRef<SizeFigures> sizesOutside() const { return outside; }

private:
  std::vector<ParamValues> pointsOutside() const;
  llvm::FailureOr<SizeFigures> measure(Schedule schedule,
                                       llvm::ArrayRef<CostVector> costs);
  llvm::FailureOr<Schedule> lowered(const ParamValues &params);
  llvm::FailureOr<TimesUnder> run(const Schedule &schedule);
  void noteSteps(const Schedule &lowered);
  void noteCosts(const Schedule &lowered);
  /// `own`, in which each letter has the cost of `costs`.
  CostSettings settings(const CostSettings &own, const CostVector &costs) const;

  const ScheduleSource &source;
  const CheckedSchedule &schedule;
  const LowerOptions &lowering;
  DiagEngine &diags;

  StepsUsed used;
  std::array<bool, numCostLetters> has = {};
  std::vector<ParamValues> existing;
  size_t refused = 0;
  bool refusedNow = false;
  std::vector<SizeFigures> figures;
  std::vector<SizeFigures> outside;
};

} // namespace pipec

#endif // PIPEC_DERIVE_GRIDFIGURES_H
