//===- Schedule.h - A schedule as lists of steps ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/CostUse.h"
#include "Cost/Expectation.h"
#include "IR/Sections.h"
#include "IR/StageGraph.h"
#include "IR/Step.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// The rank of each stage. A bidirectional schedule has two copies of the model
/// and therefore two maps; all others have one map.
class Placement {
public:
  Placement() = default;
  /// Takes one map from stage to rank per direction.
  explicit Placement(std::vector<std::vector<uint32_t>> maps)
      : maps(std::move(maps)) {}

  unsigned numDirections() const { return maps.size(); }
  bool bidirectional() const { return maps.size() == 2; }
  unsigned rankOf(unsigned stage, unsigned direction) const {
    return maps[direction][stage];
  }
  llvm::ArrayRef<uint32_t> map(unsigned direction) const {
    return maps[direction];
  }
  friend bool operator==(const Placement &, const Placement &) = default;

private:
  std::vector<std::vector<uint32_t>> maps;
};

/// The steps of one rank, in order.
using StepList = std::vector<Step>;

/// The streams of stages whose computes run beside the others of their rank. A rank
/// posts these and continues (docs/Simulation.md). An UPDATE is not among them.
struct StageStreams {
  /// The names of the streams other than `compute`; stream n has the n-th.
  std::vector<std::string> names;
  /// By stage, the number of its stream, 0 for `compute`; empty if that is all.
  std::vector<uint8_t> ofStage;

  bool empty() const { return ofStage.empty(); }
  unsigned of(unsigned stage) const { return empty() ? 0 : ofStage[stage]; }
  /// The stream of a compute step.
  unsigned of(Step step) const {
    return hasUnit(step.kind()) ? of(step.stage()) : 0;
  }
  friend bool operator==(const StageStreams &, const StageStreams &) = default;
};

/// The part of a schedule other than its steps.
struct ScheduleHeader : ModelSettings {
  /// True for inference or evaluation: no backward steps.
  bool forwardOnly = false;
  Placement placement;
  /// A chain unless the placement has one direction.
  StageGraph graph;
  /// The groups of stages that share parameters: each at least two stages, in
  /// ascending order. There are at most as many groups as stages, and none if
  /// the placement has two directions.
  std::vector<std::vector<unsigned>> ties;
  StageStreams streams;
  Sections sections;
  /// The parameters of the schedule, in the order of their definition.
  std::vector<std::pair<std::string, int64_t>> params;
  std::vector<Expectation> expectations;
  /// Names of the phases, indexed by `Step::phase`.
  std::vector<std::string> phases;
};

/// The figures of a search for the places of transfers. Times are makespans
/// under the model.
struct PlacedTransfers {
  std::string model;
  Rational makespan;
  /// Under free arrival.
  Rational free;
  /// No order of the transfers has a smaller makespan; empty if no bound is
  /// known.
  std::optional<Rational> bound;
  bool isOptimal() const { return bound == makespan; }
  /// The orders that the search started from and that finish under the model,
  /// by the options of `insert-p2p`: `timed,at=mid`.
  std::vector<std::pair<std::string, Rational>> starts;
  /// `Schedule::orderDigest` of the list for which they hold.
  uint64_t digest = 0;
};

/// A schedule: a header and `numRanks` ordered lists of steps. The verifier
/// defines what is well-formed (Verify/Verifier.h), but all schedules have
/// these properties: the sizes agree with the map and the number of lists,
/// stages and units of steps are within the sizes, and no list ends in
/// a joined step.
struct Schedule : ScheduleHeader {
  Schedule() = default;
  /// Creates a schedule with this header and no lists.
  explicit Schedule(const ScheduleHeader &header) : ScheduleHeader(header) {}

  /// One list per rank.
  std::vector<StepList> ranks;
  /// Start times: empty if no step has one; otherwise one list per rank with
  /// one entry per step, which is empty for a step without a time. The
  /// members of an overlap or a batch have equal entries.
  std::vector<std::vector<std::optional<Rational>>> times;
  /// If a search placed the transfers: its result. Use `placed`, since passes
  /// that change the list leave it.
  std::optional<PlacedTransfers> placedTransfers;

  /// The first unit of direction 1; larger than all units if there is only one
  /// direction. A bidirectional schedule runs the first half of its
  /// micro-batches in direction 0 and the rest in direction 1.
  unsigned directionSplit() const {
    return placement.bidirectional() ? numMicrobatches() / 2 * numSlices
                                     : maxUnits;
  }
  /// The direction in which a unit flows.
  unsigned directionOf(unsigned unit) const { return unit >= directionSplit(); }
  /// The rank that runs `stage` for `unit`.
  unsigned rankOf(unsigned stage, unsigned unit) const {
    return placement.rankOf(stage, directionOf(unit));
  }
  /// True if `rank` holds a stage of a group of tied stages.
  bool holdsTied(unsigned rank, unsigned group) const;
  /// The ranks that hold a stage of a group of tied stages, in ascending order.
  std::vector<unsigned> tiedRanks(unsigned group) const;
  bool isLastStage(unsigned stage) const { return stage + 1 == numStages; }

  /// The result of the search that placed the transfers; null if there was
  /// none, or if the order of the compute and P2P steps has changed since.
  const PlacedTransfers *placed() const {
    return placedTransfers && placedTransfers->digest == orderDigest()
               ? &*placedTransfers
               : nullptr;
  }
  /// A hash of the order of the compute and P2P steps of all ranks. Linear.
  uint64_t orderDigest() const;

  /// The number of steps of all ranks.
  size_t numSteps() const;
  /// True if at least one rank has a step of one of `kinds`, a mask as in
  /// Support/StepKind.h.
  bool has(uint32_t kinds) const;
  bool hasP2P() const { return has(step_facts::transfers); }
  bool hasFsdp() const { return has(step_facts::kindsOn(Stream::Gather)); }
  bool hasSendWaits() const { return has(step_facts::sendWaits); }
  bool hasReduceWaits() const {
    return has(step_facts::bit(StepKind::WaitReduceGrad));
  }

  /// The index after the group (overlap, batch or single step) that starts at
  /// `begin` of `list`. If a faulty pass leaves a joined step at the end of the
  /// list, the last group ends there.
  static size_t groupEnd(llvm::ArrayRef<Step> list, size_t begin) {
    size_t end = begin;
    while (list[end].joined() && end + 1 != list.size())
      ++end;
    return end + 1;
  }

  /// The compute kinds of all stages. Linear in the steps.
  CostUse costUse() const;
  /// Those with a cost that was not given.
  AssumedCosts assumedCosts() const { return {costs, costUse()}; }

  /// The index of the phase called `name`; adds it if there is none.
  unsigned phaseIndex(llvm::StringRef name);
};

/// Cuts each micro-batch of a schedule, whose units are set, into this number
/// of slices. Reports at `place` if that does not divide the units.
llvm::LogicalResult setSlices(ModelSettings &schedule, unsigned slices,
                              SourceLoc place, DiagEngine &diags);

/// Warns once of the costs of some schedules that were assumed, and of those
/// that were rounded; for results that depend on them.
void warnOfCosts(llvm::ArrayRef<const Schedule *> schedules, DiagEngine &diags);

} // namespace pipec
