//===- P2POrders.h - The orders of insert-p2p --------------------*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TRANSFORMS_P2PORDERS_H
#define PIPEC_TRANSFORMS_P2PORDERS_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"
#include "Transforms/Passes.h"
#include "Transforms/Results.h"

namespace pipec {

/// Where results go, as one flat table: what a loop asks once a step.
class TransferMap {
public:
  static constexpr uint32_t none = ~uint32_t(0);

  explicit TransferMap(const Schedule &schedule)
      : half(schedule.placement.bidirectional() ? schedule.numMicrobatches / 2
                                                : maxMicrobatches),
        neighbours(size_t(schedule.placement.numDirections()) *
                   schedule.numStages) {
    auto neighbour = neighbours.begin();
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d) {
      llvm::ArrayRef<uint32_t> map = schedule.placement.map(d);
      for (size_t stage = 0; stage != map.size(); ++stage, ++neighbour) {
        if (stage + 1 != map.size() && map[stage + 1] != map[stage])
          neighbour->next = map[stage + 1];
        if (stage != 0 && map[stage - 1] != map[stage])
          neighbour->previous = map[stage - 1];
      }
    }
    direction = schedule.numStages;
  }

  /// The rank to which `step` sends what it leaves, `none` when it leaves
  /// nothing or no other rank takes it.
  uint32_t receiverOf(Step step) const {
    const Neighbours &stage = neighboursOf(step);
    switch (step.kind()) {
    case StepKind::F:
      return stage.next;
    case StepKind::B:
    case StepKind::I:
      return stage.previous;
    default:
      return none;
    }
  }
  /// The rank from which comes what `step`, an F, B or I, takes; `none` when it
  /// takes nothing or makes it itself.
  uint32_t giverOf(Step step) const {
    const Neighbours &stage = neighboursOf(step);
    return step.kind() == StepKind::F ? stage.previous : stage.next;
  }

  /// The two ends of the transfer of what `step` leaves, with its source;
  /// `phase` is that of the receive.
  static Step sendOf(Step step) {
    step.setKind(step.kind() == StepKind::F ? StepKind::SendF
                                            : StepKind::SendB);
    step.setJoined(false);
    return step;
  }
  static Step recvOf(Step step, unsigned phase) {
    bool forward = step.kind() == StepKind::F;
    return Step(forward ? StepKind::RecvF : StepKind::RecvB,
                step.stage() + (forward ? 1 : -1), step.microbatch(), phase,
                step.source());
  }
  /// The receive of what `step` takes, or the send of what it leaves, with its
  /// phase and source.
  static Step endOf(Step step, bool receives) {
    static constexpr StepKind kinds[] = {StepKind::SendF, StepKind::RecvF,
                                         StepKind::SendB, StepKind::RecvB};
    step.setKind(kinds[2 * (step.kind() != StepKind::F) + receives]);
    step.setJoined(false);
    return step;
  }

private:
  /// The ranks of the stages behind and before a stage, if they are others.
  struct Neighbours {
    uint32_t next = none;
    uint32_t previous = none;
  };

  const Neighbours &neighboursOf(Step step) const {
    return neighbours[step.stage() +
                      (step.microbatch() >= half ? direction : 0)];
  }

  /// The first micro-batch of direction 1, whose stages stand behind the
  /// others.
  unsigned half;
  size_t direction = 0;
  std::vector<Neighbours> neighbours;
};

/// Lists with room for the steps of `schedule` and for both ends of all its
/// transfers; bubbles count only when `keepBubbles`.
std::vector<StepList> listsForP2P(const Schedule &schedule, bool keepBubbles);

/// The lists of `schedule` with transfers put down in rounds over the ranks
/// (P2PSimulate.cpp). Fails with the blocked heads when the order cannot run.
llvm::FailureOr<std::vector<StepList>>
placeP2PInRounds(const Schedule &schedule, DiagEngine &diags);

/// The lists of `schedule` with transfers put down slot by slot
/// (P2PColumn.cpp). Fails when a step stands no later than what it takes.
llvm::FailureOr<std::vector<StepList>>
placeP2PInColumns(const Schedule &schedule, DiagEngine &diags);

/// What `order=timed` does.
struct P2PTiming {
  /// Which time between the end of its producer and the start of its consumer
  /// a transfer is ordered by.
  P2PAt at = P2PAt::Need;
  /// How often to order again by what happened when the result ran...
  unsigned rounds = 0;
  /// ...under this model.
  WaitModel model = WaitModel::Stream;
};

/// The lists of `schedule` with transfers in one order of time on all ranks
/// (P2PTimed.cpp). Fails when the order cannot run, or the costs do not fit.
llvm::FailureOr<std::vector<StepList>> placeP2PInTime(const Schedule &schedule,
                                                      const P2PTiming &timing,
                                                      DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_TRANSFORMS_P2PORDERS_H
