//===- Memory.h - What every rank keeps -------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory model of docs/Simulation.md. Its parts, all in the unit of the
// `memory` settings:
//
//   activations  what the compute steps take and give back: taken at the start
//                of a step, given at its end; an overlap takes for all its
//                members before it gives.
//   receives     one buffer for each receive that its rank has posted; until
//                the end of the F, and of the B or W, that uses it.
//   parameters   of the stages that the rank holds: whole; of a stage that has
//                an UNSHARD or RESHARD on the rank its shard, and the whole of
//                it too from each UNSHARD to the RESHARD behind it.
//
// All of this follows from the order of a rank's list alone. A simulation adds
// the times: the curve.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_MEMORY_H
#define PIPEC_SIMULATION_MEMORY_H

#include "Simulation/Simulate.h"
#include "IR/DataFlow.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>

namespace pipec {

/// The largest values of one rank. `total` is that of the sum, which is at most
/// the sum of the others.
struct MemoryPeaks {
  /// Of the chunk activations alone: `peak` of expectations and closed forms.
  Rational activations;
  Rational receives;
  Rational parameters;
  Rational total;
  /// Receive buffers at once, whatever their sizes.
  uint32_t receiveCount = 0;
};

/// What a rank keeps at one time, in whole numbers of `MemoryModel::perUnit`.
struct MemoryLevel {
  int64_t activations = 0;
  int64_t receives = 0;
  int64_t parameters = 0;
  uint32_t receiveCount = 0;
  int64_t total() const { return activations + receives + parameters; }
};

/// The memory settings of a schedule in whole numbers.
class MemoryModel {
public:
  /// For a schedule of level compute, and placed where it has P2P steps, which
  /// must outlive the model unchanged. Reports figures that do not fit 64 bits.
  static llvm::FailureOr<MemoryModel> make(const Schedule &schedule,
                                           DiagEngine &diags);

  MemoryPeaks peaks(unsigned rank) const;

  /// The largest total of a rank, in whole numbers, and the first step of its
  /// list that takes the rank there; step 0 when it begins with that much.
  struct Highest {
    int64_t total = 0;
    size_t index = 0;
  };
  Highest highest(unsigned rank) const;

  /// Hands over what `rank` keeps from each time on at which that changes, in
  /// the order of its list: times do not fall, and of several levels at one
  /// time the last holds on. The first one is at the rank's time 0. Linear,
  /// without memory of its own.
  void curve(const Simulation &simulation, unsigned rank,
             llvm::function_ref<void(int64_t time, const MemoryLevel &level)>
                 point) const;

  /// What a compute step does to the live activations, in whole numbers.
  int64_t delta(Step step) const {
    return stages[step.stage()].delta[unsigned(step.kind())];
  }

  /// Whole numbers a unit of the settings.
  int64_t perUnit() const { return unit; }
  /// A whole number as a size.
  Rational size(int64_t units) const;

private:
  struct Stage {
    std::array<int64_t, 4> delta;
    int64_t parameters;
    int64_t sharded;
    int64_t receive;
  };

  explicit MemoryModel(const Schedule &schedule)
      : schedule(&schedule), flow(schedule) {}
  bool findUnit();
  bool convert();
  bool findParameters();
  bool sumsFit() const;
  template <typename Visitor> void walk(unsigned rank, Visitor visit) const;

  const Schedule *schedule;
  DataFlow flow;
  int64_t unit = 1;
  std::vector<Stage> stages;
  /// What the parameters of a rank take before its first step.
  std::vector<int64_t> resident;
};

/// `MemoryPeaks::activations` of each rank.
llvm::FailureOr<std::vector<Rational>> peakMemory(const Schedule &schedule,
                                                  DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_SIMULATION_MEMORY_H
