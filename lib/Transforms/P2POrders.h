//===- P2POrders.h - The orders of insert-p2p -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TRANSFORMS_P2PORDERS_H
#define PIPEC_TRANSFORMS_P2PORDERS_H

#include "IR/DataFlow.h"
#include "Support/DiagEngine.h"
#include "Transforms/Passes.h"

namespace pipec {

/// The send of the output number `port` of `producer`, with its phase and
/// source.
inline Step sendOf(Step producer, unsigned port) {
  producer.setKind(sendKind(dataKind(producer.kind())));
  producer.setPort(port);
  producer.setJoined(false);
  return producer;
}
/// The receive that takes what `producer` makes for `output`, with the source
/// of the producer; `phase` is that of the receive.
inline Step recvOf(Step producer, const DataFlow::Port &output,
                   unsigned phase) {
  Step receive(recvKind(dataKind(producer.kind())), output.stage,
               producer.microbatch(), phase, producer.source());
  receive.setPort(output.port);
  return receive;
}
/// The receive of the input number `port` of `consumer`, with its phase;
/// `source` is that of the producer.
inline Step recvFor(Step consumer, unsigned port, SourceLoc source) {
  consumer.setKind(recvKind(dataKind(consumer.kind())));
  consumer.setPort(port);
  consumer.setJoined(false);
  consumer.setSource(source);
  return consumer;
}

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
