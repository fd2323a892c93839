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
#include "Transforms/Results.h"

namespace pipec {

/// The placement as flat arrays, for loops that ask it once a step.
class TransferMap {
public:
  explicit TransferMap(const Schedule &schedule)
      : numStages(schedule.numStages),
        half(schedule.placement.bidirectional() ? schedule.numMicrobatches / 2
                                                : maxMicrobatches),
        maps{schedule.placement.map(0).data(),
             schedule.placement.map(schedule.placement.bidirectional() ? 1 : 0)
                 .data()} {}

  unsigned rankOf(unsigned stage, unsigned microbatch) const {
    return maps[microbatch >= half][stage];
  }

  /// A transfer between two ranks: its receiver, and the steps at its ends
  /// with the source of the step that makes what is sent.
  struct Transfer {
    unsigned to;
    Step send;
    Step recv;
  };

  /// The transfer of what `step` leaves, nothing when it stays on its rank.
  std::optional<Transfer> transferOf(Step step) const {
    unsigned stage = step.stage(), taker;
    bool gradient = step.kind() != StepKind::F;
    if (step.kind() == StepKind::F) {
      if (stage + 1 == numStages)
        return std::nullopt;
      taker = stage + 1;
    } else if (makesInputGradient(step.kind())) {
      if (stage == 0)
        return std::nullopt;
      taker = stage - 1;
    } else {
      return std::nullopt;
    }
    unsigned microbatch = step.microbatch();
    unsigned to = rankOf(taker, microbatch);
    if (to == rankOf(stage, microbatch))
      return std::nullopt;
    return Transfer{to,
                    Step(gradient ? StepKind::SendB : StepKind::SendF, stage,
                         microbatch, step.phase(), step.source()),
                    Step(gradient ? StepKind::RecvB : StepKind::RecvF, taker,
                         microbatch, step.phase(), step.source())};
  }

private:
  unsigned numStages;
  /// The first micro-batch of direction 1.
  unsigned half;
  const uint32_t *maps[2];
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

} // namespace pipec

#endif // PIPEC_TRANSFORMS_P2PORDERS_H
