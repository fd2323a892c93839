//===- UnitSpans.h - The lifetimes of activations on a rank -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Simulation/Memory.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace pipec {

/// From the forward of a unit to the first step that uses its activations.
struct UnitSpan {
  Step forward;
  /// The compute groups of the two steps, counted on the rank.
  uint32_t begin = 0;
  uint32_t use = 0;
  /// True if the list has a copy or an R of the unit.
  bool moved = false;
  /// True if it has an R.
  bool recomputed = false;
};

/// The compute groups of a rank and the units whose activations it keeps.
class UnitSpans {
public:
  explicit UnitSpans(const StepList &list) {
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      for (size_t i = begin; i != end; ++i)
        note(list[i]);
      if (isCompute(list[begin].kind()))
        groups.push_back(begin);
    }
  }

  /// The index in the list of the first step of each compute group.
  std::vector<size_t> groups;
  /// In the order of their forwards.
  std::vector<UnitSpan> units;

  /// The index in `units` of the unit of a step.
  uint32_t unitOf(Step step) const { return numbers.lookup(unitKey(step)); }
  /// True for an F whose activations an R of the list makes again.
  bool isStashed(Step step) const {
    return step.kind() == StepKind::F && units[unitOf(step)].recomputed;
  }

private:
  void note(Step step) {
    if (!hasUnit(step.kind()))
      return;
    if (step.kind() == StepKind::F) {
      numbers[unitKey(step)] = units.size();
      units.push_back({step, uint32_t(groups.size()), ~0u});
    } else if (makesInputGradient(step.kind())) {
      units[unitOf(step)].use = groups.size();
    } else if (step_facts::has(step_facts::extras, step.kind())) {
      UnitSpan &unit = units[unitOf(step)];
      unit.moved = true;
      unit.recomputed |= step.kind() == StepKind::R;
    }
  }

  llvm::DenseMap<uint64_t, uint32_t> numbers;
};

/// The most live activations of each rank, as integers of a memory model, by
/// rank: `limit`, or without one the memory limit of the rank minus its
/// parameters. Reports a rank without either.
llvm::FailureOr<std::vector<int64_t>>
activationLimits(const Schedule &schedule, const MemoryModel &memory,
                 std::optional<Rational> limit, llvm::StringRef pass,
                 DiagEngine &diags);

/// Recomputes what `inject-offload` has no time to copy, as `inject-recompute`
/// does; units with copies lose these where nothing else helps. Reports a limit
/// that a rank exceeds even so.
llvm::LogicalResult recomputeRest(Schedule &schedule,
                                  std::optional<Rational> limit,
                                  DiagEngine &diags);

} // namespace pipec
