//===- Schedule.h - A schedule as lists of steps ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_SCHEDULE_H
#define PIPEC_IR_SCHEDULE_H

#include "Cost/Expectation.h"
#include "Cost/Settings.h"
#include "IR/Step.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// Which rank holds which stage. A bidirectional schedule has two copies of the
/// model, so two maps; every other has one.
class Placement {
public:
  Placement() = default;
  /// One map a direction, each from stage to rank.
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

/// What a schedule says besides its steps.
struct ScheduleHeader : ModelSettings {
  /// Inference or evaluation: no backward steps.
  bool forwardOnly = false;
  Placement placement;
  /// The parameters it was made from, in the order of their definition.
  std::vector<std::pair<std::string, int64_t>> params;
  std::vector<Expectation> expectations;
  /// Names of the phases, indexed by `Step::phase`.
  std::vector<std::string> phases;
};

/// A schedule: a header and `numRanks` ordered lists of steps. Plain data. The
/// verifier decides what is well-formed (Verify/Verifier.h), but every schedule
/// has this: sizes that agree with the map and the number of lists, stages and
/// micro-batches within the sizes, and no list that ends in a joined step.
struct Schedule : ScheduleHeader {
  Schedule() = default;
  /// A schedule with this header and no lists.
  explicit Schedule(const ScheduleHeader &header) : ScheduleHeader(header) {}

  /// One list per rank.
  std::vector<StepList> ranks;
  /// Start times: empty when no step has one, else one list a rank and one
  /// entry a step, nothing for a step without a time. The members of an overlap
  /// or a batch have the same entry.
  std::vector<std::vector<std::optional<Rational>>> times;

  /// The first micro-batch of direction 1, above all micro-batches where there
  /// is one direction: a bidirectional schedule runs the first half of its
  /// micro-batches in direction 0 and the rest in direction 1.
  unsigned directionSplit() const {
    return placement.bidirectional() ? numMicrobatches / 2 : maxMicrobatches;
  }
  /// The direction in which a micro-batch flows.
  unsigned directionOf(unsigned microbatch) const {
    return microbatch >= directionSplit();
  }
  /// The rank that runs `stage` for `microbatch`.
  unsigned rankOf(unsigned stage, unsigned microbatch) const {
    return placement.rankOf(stage, directionOf(microbatch));
  }
  /// The rank at the other end of a P2P step. The stage of the step must have
  /// the neighbour that the step talks to (`hasPeer`).
  unsigned peerOf(const Step &step) const;
  /// False for a P2P step on a stage at the model's end that has no neighbour
  /// in that step's direction.
  bool hasPeer(const Step &step) const;
  /// The stage whose rank `peerOf` gives: the next one for SEND_F and RECV_B,
  /// the one before for RECV_F and SEND_B.
  static int peerStage(const Step &step) {
    bool next = isSend(step.kind()) ==
                (dataKind(step.kind()) == DataKind::Activation);
    return int(step.stage()) + (next ? 1 : -1);
  }
  bool isLastStage(unsigned stage) const { return stage + 1 == numStages; }

  /// Steps of all ranks together.
  size_t numSteps() const;
  /// True when some rank has a P2P step (an FSDP step, a wait for a send, a
  /// wait for a reduction).
  bool hasP2P() const;
  bool hasFsdp() const;
  bool hasSendWaits() const;
  bool hasReduceWaits() const;

  /// The index after the group (overlap, batch or single step) that starts at
  /// `begin` of `list`. A list that ends in a joined step, which only a faulty
  /// pass makes, ends its last group.
  static size_t groupEnd(llvm::ArrayRef<Step> list, size_t begin) {
    size_t end = begin;
    while (list[end].joined() && end + 1 != list.size())
      ++end;
    return end + 1;
  }

  /// The number of the phase called `name`, added when there is none.
  unsigned phaseIndex(llvm::StringRef name);
};

/// Writes a step as messages name it: `F s0 m1`, `SEND_F s0 m1 -> r1`,
/// `UNSHARD s2`, `bubble`.
void printStep(llvm::raw_ostream &os, const Schedule &schedule, Step step);
std::string stepText(const Schedule &schedule, Step step);

} // namespace pipec

#endif // PIPEC_IR_SCHEDULE_H
