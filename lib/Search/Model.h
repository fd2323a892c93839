//===- Model.h - Schedules and costs as a problem ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the header of a schedule into a problem in whole numbers, and words
// into a schedule and back. Times and sizes are exact: a tick is the largest
// unit in which all are whole.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Search/Problem.h"
#include "Support/DiagEngine.h"

#include <optional>

namespace pipec::search {

struct Model {
  Problem problem;
  /// The sizes, the placement, the costs and the memory settings.
  ScheduleHeader header;
  /// Transfers occupy edges, and the ports of their ranks, which are always
  /// free in the problem.
  bool leavesOutOccupancy = false;
  bool leavesOutPorts = false;
  /// Micro-batches have costs of their own; all have the least ones in the
  /// problem.
  bool takesCheapestMicrobatch = false;
  /// The size of the parameters of each rank.
  std::vector<Rational> residents;
  /// By stage of the header, whether all units are recomputed: an `R` comes
  /// directly before each B or I, as whose part it counts. The `R` may run
  /// while the gradient is on its way, so schedules are at most as long as
  /// words. Empty if no stage is.
  std::vector<bool> recomputed;
  bool recomputes(unsigned stage) const {
    return !recomputed.empty() && recomputed[stage];
  }
  /// The first stages of the problem are idle: their steps take no time and no
  /// memory, so that all ranks have equally many stages. They precede stage 0
  /// in a chain without hops: their F can run before all others on their rank,
  /// and their I and W after all others.
  unsigned numIdle = 0;
  bool isIdle(unsigned place) const { return place < numIdle; }
  /// Another stage of the problem is a slice of a stage of the header: stage s
  /// n + k, without the idle ones, is slice k of n of stage s. With two
  /// directions, the same stages of direction 1 follow, and each direction has
  /// the micro-batches of the problem. These are the stage, the direction and
  /// the slice of one, and the unit of its step of a micro-batch.
  unsigned stageOf(unsigned place) const {
    return (place - numIdle) / header.numSlices % header.numStages;
  }
  unsigned directionOf(unsigned place) const {
    return (place - numIdle) / header.numSlices / header.numStages;
  }
  /// True if it is the last stage of its direction.
  bool isLast(unsigned place) const {
    return !isIdle(place) &&
           (place - numIdle + 1) % (header.numStages * header.numSlices) == 0;
  }
  unsigned sliceOf(unsigned place) const {
    return (place - numIdle) % header.numSlices;
  }
  unsigned unitOf(unsigned place, unsigned microbatch) const {
    return (directionOf(place) * problem.microbatches + microbatch) *
               header.numSlices +
           sliceOf(place);
  }
  /// The stage of the problem that has a step.
  unsigned placeOf(Step step) const {
    unsigned direction = step.unit() / header.numSlices / problem.microbatches;
    return numIdle +
           (direction * header.numStages + step.stage()) * header.numSlices +
           step.unit() % header.numSlices;
  }
  /// The problem is a relaxation of the model; its bound holds for the model.
  bool isRelaxed() const {
    return leavesOutOccupancy || leavesOutPorts || takesCheapestMicrobatch;
  }

  /// Ticks as a time, and units of memory as a size, in the units of the
  /// header.
  Rational time(Ticks ticks) const;
  Rational size(Ticks units) const;
  /// The least number of ticks that is not below a time; at most
  /// `Problem::maxTicks`.
  Ticks ticksNotBelow(Rational time) const;
  /// The largest number of ticks that is not above a time.
  Ticks ticksNotAbove(Rational time) const;

  /// The unit of time as a multiple of one of `ticksPerUnit`; sizes alike.
  Ticks ticksPerUnit = 1, tickFactor = 1;
  Ticks sizesPerUnit = 1, sizeFactor = 1;
};

/// Makes the problem of a header, in which slices and directions are further
/// chunks; `split` says whether backwards are split. Reports unsupported costs
/// and sizes, and ranks that cannot hold one micro-batch. `recomputed` is that
/// of the model. With two directions, safe states (`Problem::isSafe`) do not
/// exclude deadlocks under a limit of memory.
llvm::FailureOr<Model> makeModel(const ScheduleHeader &header, bool split,
                                 DiagEngine &diags,
                                 std::vector<bool> recomputed = {});

/// The schedule of words.
Schedule makeSchedule(const Model &model, const Words &words);

/// True if a schedule has the placement and the micro-batches of a model, has
/// backwards, and has the edges of a chain or of the model.
bool hasShape(const Model &model, const Schedule &schedule);

/// The words of a verified schedule, with backwards split or joined as in the
/// problem. Returns nothing if the schedule does not have the shape of the
/// model, or exceeds the memory. Only the order of steps counts, not their
/// micro-batches (lemma 1).
std::optional<Words> wordsOf(const Model &model, const Schedule &schedule);

} // namespace pipec::search
