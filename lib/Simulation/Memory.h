//===- Memory.h - The memory of each rank -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory model of docs/Simulation.md. It has three parts, in the unit of
// the `memory` settings:
//
//   activations  allocated at the start of a compute step and freed at its end;
//                an overlap allocates for all its members before it frees. What
//                a step needs only while it runs is allocated and freed alike.
//                An F of a unit with an R adds its stash alone, and the R the
//                rest. A WAIT_OFFLOAD moves the activations of a unit to the
//                host, and a RELOAD moves them back.
//   receives     one buffer for each receive that the rank has posted, until
//                the end of the F, and of the B or W, that uses it.
//   parameters   of the stages that the rank holds. A stage with an UNSHARD or
//                RESHARD on the rank counts as its shard, plus the whole stage
//                from each UNSHARD to the next RESHARD.
//
// These depend only on the order of a rank's list. A simulation adds the times,
// which gives the curve.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/UnitColumns.h"
#include "IR/DataFlow.h"
#include "Simulation/Simulate.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <array>

namespace pipec {

/// The peaks of one rank. `total` is the peak of the sum, which is at most the
/// sum of the other peaks.
struct MemoryPeaks {
  /// Chunk activations alone: the `peak` of expectations and closed forms.
  Rational activations;
  Rational receives;
  Rational parameters;
  Rational total;
  /// Activations on the host.
  Rational host;
  /// The maximum number of receive buffers at one time, whatever their sizes.
  uint32_t receiveCount = 0;
};

/// The memory of a rank at one time, in integers of `MemoryModel::perUnit`.
struct MemoryLevel {
  int64_t activations = 0;
  int64_t receives = 0;
  int64_t parameters = 0;
  int64_t host = 0;
  uint32_t receiveCount = 0;
  /// On the device.
  int64_t total() const { return activations + receives + parameters; }
};

/// The memory settings of a schedule as integers.
class MemoryModel {
public:
  /// Creates the model of a schedule of level compute, and placed if it has P2P
  /// steps. The schedule must outlive the model unchanged. Reports figures that
  /// do not fit 64 bits.
  static llvm::FailureOr<MemoryModel> make(const Schedule &schedule,
                                           DiagEngine &diags);

  MemoryPeaks peaks(unsigned rank) const;

  /// The peak of the total of a rank, as an integer, and the first step of its
  /// list that reaches it; step 0 if the rank starts with it.
  struct Highest {
    int64_t total = 0;
    size_t index = 0;
  };
  Highest highest(unsigned rank) const;

  /// Calls `point` for each change of the memory of `rank`, in the order of its
  /// list. Times do not decrease; of several levels at one time, the last one
  /// persists. The first call is for the rank's time 0. Linear, without
  /// additional memory.
  void curve(const Simulation &simulation, unsigned rank,
             llvm::function_ref<void(int64_t time, const MemoryLevel &level)>
                 point) const;

  /// The change of the live activations by a step of a unit, as an integer. An
  /// F is one whose activations are kept.
  int64_t delta(Step step) const {
    return of(step).delta[unsigned(step.kind())];
  }
  /// The memory that an F adds if an R of its unit follows.
  int64_t stash(Step step) const { return of(step).stash; }
  /// The size that a compute step holds only while it runs.
  LLVM_ATTRIBUTE_ALWAYS_INLINE int64_t during(Step step) const {
    return of(step).during[unsigned(step.kind())];
  }

  /// The change of the live activations by a compute step, with the gradients
  /// of contexts. Of a stashed F, only the stash is kept.
  int64_t change(Step step, bool isStashed = false) const {
    return (isStashed ? stash(step) : delta(step)) + contextChange(step);
  }
  /// The memory that a compute step allocates when it starts.
  int64_t taken(Step step, bool isStashed = false) const {
    return allocated(step, change(step, isStashed));
  }
  /// By compute group of a rank, the most live activations up to its end, from
  /// the end of the group before it.
  std::vector<int64_t> groupLevels(unsigned rank) const;

  /// Calls `change` for each change of the total of `rank`, in the order of its
  /// list, with the step that makes it; the sum of all changes up to some call,
  /// and `resident`, is a level of the memory. A member of an overlap allocates
  /// and frees on its own.
  void changes(unsigned rank,
               llvm::function_ref<void(size_t index, int64_t by)> change) const;
  /// The total of a rank before its first step.
  int64_t before(unsigned rank) const { return resident[rank]; }

  /// The integer that represents one unit of the settings.
  int64_t perUnit() const { return unit; }
  /// The largest integer of at most this size, capped where sums may not fit.
  int64_t floorOf(Rational size) const;
  /// Converts an integer to a size.
  Rational size(int64_t units) const;

private:
  int64_t allocated(Step step, int64_t change) const {
    return std::max<int64_t>(change, 0) + during(step);
  }

  struct Stage {
    std::array<int64_t, numComputeKinds> delta;
    std::array<int64_t, numComputeKinds> during;
    int64_t parameters;
    int64_t sharded;
    int64_t receive;
    int64_t stash;
    int64_t contextGradient;
  };

  explicit MemoryModel(const Schedule &schedule)
      : schedule(&schedule), flow(schedule) {}
  template <typename Visitor>
  static bool visitFigures(const MemorySettings &memory, unsigned stage,
                           UnitPlace unit, Stage &into, Visitor visit);
  bool findUnit();
  bool convert();
  bool findParameters();
  bool sumsFit() const;
  /// The change of the gradients of contexts by a compute step: the backward of
  /// the last slice makes one for each slice before it, and each further
  /// backward frees one.
  int64_t contextChange(Step step) const {
    int64_t slices = schedule->numSlices;
    if (LLVM_LIKELY(slices == 1) || !makesInputGradient(step.kind()))
      return 0;
    int64_t size = whole(step.stage()).contextGradient;
    return step.unit() % slices + 1 == slices ? size * (slices - 1) : -size;
  }
  template <typename Visitor> void walk(unsigned rank, Visitor visit) const;
  template <bool extras, typename Visitor>
  void walkList(unsigned rank, Visitor visit) const;

  /// The figures of the stage and the unit of a step.
  LLVM_ATTRIBUTE_ALWAYS_INLINE const Stage &of(Step step) const {
    if (LLVM_LIKELY(oneColumn))
      return stages[step.stage()];
    return stages[step.stage() * columns.size() + columns.of(step.unit())];
  }
  /// The figures of a stage that do not depend on the unit.
  const Stage &whole(unsigned stage) const {
    return stages[stage * columns.size()];
  }

  const Schedule *schedule;
  DataFlow flow;
  int64_t unit = 1;
  UnitColumns columns;
  bool oneColumn = true;
  /// True if there is an R or a copy.
  bool hasExtras = false;
  /// By stage and column.
  std::vector<Stage> stages;
  /// The memory of the parameters of each rank before its first step.
  std::vector<int64_t> resident;
};

/// `MemoryPeaks::activations` of each rank.
llvm::FailureOr<std::vector<Rational>> peakMemory(const Schedule &schedule,
                                                  DiagEngine &diags);

} // namespace pipec
