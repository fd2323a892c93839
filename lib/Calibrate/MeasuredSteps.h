//===- MeasuredSteps.h - Compute steps and collectives of a run -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Calibrate/MeasuredTransfers.h"
#include "Calibrate/Samples.h"
#include "Cost/Settings.h"

#include <map>
#include <set>

namespace pipec {

/// The durations of the compute steps and collectives of a recording.
struct MeasuredSteps {
  using Key = std::pair<Figure, Place>;
  struct Overlap {
    uint32_t cell;
    unsigned rank;
    /// In nanoseconds.
    int64_t work;
  };

  /// By figure and stage, and by rank.
  std::map<Key, std::map<unsigned, Samples>> steps;
  std::vector<Overlap> overlaps;
  /// Collectives whose spans show only when they start.
  std::set<StepKind> hostCollectives;
};

MeasuredSteps measureSteps(const Recording &recording, const Clocks &clocks);

/// The bytes that steps allocate, by figure and stage, sorted: of forwards,
/// gradients of inputs, and receives. What the other kinds release follows from
/// these. Empty if the traces have no allocations.
std::map<MeasuredSteps::Key, std::vector<int64_t>>
measureMemory(const Recording &recording);

} // namespace pipec
